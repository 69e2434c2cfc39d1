package rates

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"hpcbill/rates/formula"
	"hpcbill/rates/nearest"
)

// tresWeight is one entry of a TRESBillingWeights text.
type tresWeight struct {
	tres    string // as Slurm names it: "cpu", "mem", "gres/gpu:a100"; small letters but for the name
	text    string // the weight as written: "0.102G"
	number  string // without its suffix: "0.102"
	divisor int64  // what the suffix divides the number by
	at      int    // where the entry begins, in bytes of the text
}

// The suffixes of weights, each 1024 times the one before it.
const weightSuffixes = "KMGTP"

// tresTypes are the types of TRES, each with the place of Slurm's own ids in
// the order in which slurmctld adds: 1 cpu to 8 pages. The other TRES have
// ids that the site's database gave them, which no dump tells.
var tresTypes = []struct {
	name    string
	id      int
	named   bool // it is a family, and weights name one of it: gres/gpu
	example string
}{
	{"cpu", 1, false, ""}, {"mem", 2, false, ""}, {"energy", 3, false, ""}, {"node", 4, false, ""}, {"billing", 5, false, ""},
	{"fs", 6, true, "fs/disk"}, {"vmem", 7, false, ""}, {"pages", 8, false, ""},
	{"gres", 9, true, "GRES/gpu"}, {"license", 9, true, "license/matlab"}, {"bb", 9, true, "bb/cray"}, {"ic", 9, true, "ic/ofed"},
}

// tresOrder gives the place of a TRES among Slurm's own ids; those that the
// database numbered come after them.
func tresOrder(tres string) int {
	kind, _, _ := strings.Cut(tres, "/")
	for _, t := range tresTypes {
		if t.name == kind {
			return t.id
		}
	}
	return len(tresTypes)
}

// readWeights reads TRESBillingWeights as slurmctld does:
// TYPE[/NAME]=NUMBER[SUFFIX], parted by commas, type and name in any case. Of
// a TRES that is listed twice the later weight holds. Warnings are what Slurm
// accepts and a person hardly means.
func readWeights(text string) (weights []tresWeight, faults, warnings []formula.Fault) {
	r := &weightReader{text: text}
	at := 0
	for _, item := range strings.Split(text, ",") {
		if item != "" {
			r.item(item, at)
		}
		at += len(item) + 1
	}
	if len(r.weights) == 0 && len(r.faults) == 0 && text != "" {
		r.fault(0, "lists no weight", `write TYPE=WEIGHT, such as CPU=1.0,Mem=0.25G, or "" for Slurm's default: allocated CPUs`)
	}
	return r.weights, r.faults, r.warnings
}

type weightReader struct {
	text             string
	weights          []tresWeight
	faults, warnings []formula.Fault
}

func (r *weightReader) place(at int, message, remedy string) formula.Fault {
	return formula.Fault{Column: utf8.RuneCountInString(r.text[:at]) + 1, Message: message, Remedy: remedy}
}

func (r *weightReader) fault(at int, message, remedy string) {
	r.faults = append(r.faults, r.place(at, message, remedy))
}

func (r *weightReader) warn(at int, message, remedy string) {
	r.warnings = append(r.warnings, r.place(at, message, remedy))
}

// item reads one entry.
func (r *weightReader) item(item string, at int) {
	if i := strings.IndexAny(item, " \t\r\n"); i >= 0 {
		r.fault(at+i, "has a blank, which Slurm refuses", "write the weights without blanks: CPU=1.0,Mem=0.25G")
		return
	}
	name, value, found := strings.Cut(item, "=")
	if !found || value == "" {
		r.fault(at, fmt.Sprintf("%s has no weight", item), "write TYPE=WEIGHT, such as CPU=1.0 or Mem=0.25G")
		return
	}
	w := tresWeight{text: value, at: at}
	var ok bool
	if w.tres, ok = r.tres(name, at); !ok || !r.value(&w, at+len(name)+1) {
		return
	}
	same := func(v tresWeight) bool { return strings.EqualFold(v.tres, w.tres) }
	if i := slices.IndexFunc(r.weights, same); i >= 0 {
		r.warn(at, fmt.Sprintf("%s is listed twice: of %s and %s Slurm takes the later", name, r.weights[i].text, w.text), "keep one of the two")
		r.weights[i] = w
		return
	}
	r.weights = append(r.weights, w)
}

// tres reads the name of a TRES.
func (r *weightReader) tres(written string, at int) (tres string, ok bool) {
	kind, name, _ := strings.Cut(written, "/")
	kind = strings.ToLower(kind)
	for _, t := range tresTypes {
		switch {
		case t.name != kind:
			continue
		case t.named && (name == "" || strings.Contains(name, "/")):
			r.fault(at, fmt.Sprintf("%s names none of its kind", written), "write one, such as "+t.example)
			return "", false
		case !t.named && kind != strings.ToLower(written):
			r.fault(at, fmt.Sprintf("%s has no kinds", t.name), "write "+t.name)
			return "", false
		case t.named:
			return kind + "/" + name, true
		}
		return kind, true
	}
	r.fault(at, fmt.Sprintf("%s is not the type of a TRES", written), nearestTRES(kind))
	return "", false
}

func nearestTRES(kind string) string {
	if kind == "gpu" || kind == "gpus" {
		return "did you mean GRES/gpu?"
	}
	var names []string
	for _, t := range tresTypes {
		names = append(names, t.name)
	}
	return nearest.Remedy(kind, names)
}

// weightNumber is what Slurm's strtod and ours read alike.
var weightNumber = regexp.MustCompile(`^\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?`)

// value reads the weight with its suffix, of which the first letter counts.
// The suffix divides by 1024 for each step above the unit in which Slurm
// counts the TRES: MiB for mem and bb, one for all others. A suffix at or
// below that unit does nothing; nor do T and P where Slurm counts by one,
// because its divisor is a C int, and 0 after 32 bits.
func (r *weightReader) value(w *tresWeight, at int) bool {
	if strings.HasPrefix(w.text, "-") {
		r.fault(at, fmt.Sprintf("the weight %s is negative: Slurm's billing would be no count", w.text), "write 0 or more")
		return false
	}
	w.number = weightNumber.FindString(w.text)
	suffix := w.text[len(w.number):]
	if w.number == "" {
		r.fault(at, fmt.Sprintf("the weight %s is not a decimal number", w.text), "write a number such as 1.0 or 0.25G")
		return false
	}
	w.divisor = 1
	if suffix == "" {
		return true
	}
	steps := strings.Index(weightSuffixes, strings.ToUpper(suffix[:1])) + 1
	if steps == 0 || strings.TrimLeft(suffix, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		r.fault(at+len(w.number), fmt.Sprintf("the suffix %s is not known", suffix), "write K, M, G, T or P: the weight is then of 1024, 1024², … units, for memory of KiB, MiB, GiB, …")
		return false
	}
	base, widest := 0, 3
	if w.tres == "mem" || strings.HasPrefix(w.tres, "bb/") {
		base, widest = 2, 5
	}
	if steps > widest {
		r.warn(at+len(w.number), fmt.Sprintf("Slurm's own arithmetic overflows at the suffix %s of %s, which then does nothing", suffix, w.tres), "leave it out")
		return true
	}
	for range steps - base {
		w.divisor *= 1024
	}
	return true
}
