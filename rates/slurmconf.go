package rates

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"hpcbill/rates/money"
	"hpcbill/rates/nearest"
)

// ImportFile is what Slurm printed about its configuration: the answer of
// scontrol show partition (blocks, -o or --json) or of sacctmgr show qos -P.
type ImportFile struct {
	Name string // as faults call it
	Text []byte
}

// ImportOptions is what Slurm's answers do not tell.
type ImportOptions struct {
	Currency      string   // ISO 4217; "" leaves USD and a line to decide
	From          Date     // the first day of the card's version
	PriorityFlags []string // of slurm.conf; nil is Slurm's default, the sum, with a line to decide
}

// DecideMark begins the comment of every line of an imported card where a
// person must decide.
const DecideMark = "# decide: "

// ImportCard makes a rate card of what Slurm shows of partitions and QoS: a
// rule and the node facts of each partition, the formula that its
// TRESBillingWeights mean, the UsageFactors of QoS as factors. The card
// passes LoadCard and is not finished: prices are no one's, and what only a
// person can know is marked with DecideMark. Notes say what came of it.
//
// The error is Faults where the files have them, each with its line: then
// there is no card. The same files and options give the same bytes.
func ImportCard(name string, files []ImportFile, options ImportOptions) (text []byte, notes []string, err error) {
	c := &cardImport{name: name, options: options}
	if err := c.checkOptions(); err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		c.read(f)
	}
	if len(c.partitions) == 0 && len(c.faults) == 0 {
		c.faults = append(c.faults, Fault{
			Message: "no partition is shown: there is nothing to charge", Remedy: "add what  scontrol show partition  prints",
		})
	}
	if len(c.faults) > 0 {
		return nil, nil, c.faults
	}
	return c.write()
}

// cardImport is one import: what was read, and what is wrong with it.
type cardImport struct {
	name       string
	options    ImportOptions
	partitions []*slurmPartition // in the order of the files
	qos        []slurmQoS
	flagless   string // a JSON answer of a release before 26.05, which shows no flags
	faults     Faults
}

func (c *cardImport) checkOptions() error {
	if !wordForm.MatchString(c.name) {
		return fmt.Errorf("%q is not a card's name: begin with a letter; then letters, digits, _ and -", c.name)
	}
	if c.options.Currency != "" {
		if _, err := money.ParseCurrency(c.options.Currency); err != nil {
			return err
		}
	}
	if c.options.From.IsZero() {
		return fmt.Errorf("the first day of the card is missing")
	}
	for _, flag := range c.options.PriorityFlags {
		if !slices.Contains(priorityFlagNames, flag) {
			return fmt.Errorf("%q is not a flag of PriorityFlags: %s", flag, nearest.Remedy(flag, priorityFlagNames))
		}
	}
	return nil
}

// slurmRecord is one partition as Slurm's keys and values, of whichever form.
type slurmRecord struct {
	file   string
	line   int
	fields map[string]slurmField
}

// slurmField is a value with its line.
type slurmField struct {
	value string
	line  int
}

// value gives the value of a key, "" for none: Slurm writes (null) and N/A
// where there is none.
func (r *slurmRecord) value(key string) string {
	switch v := r.fields[key].value; v {
	case "(null)", "N/A":
		return ""
	default:
		return v
	}
}

func (c *cardImport) fault(file string, line int, field, message, remedy string) {
	c.faults = append(c.faults, Fault{File: file, Line: line, Field: field, Message: message, Remedy: remedy})
}

// errorLine is how Slurm's commands begin what went wrong.
var errorLine = regexp.MustCompile(`^(scontrol|sacctmgr|slurmdbd|slurm_[a-z_]+|sinfo)(: | error: )|^(Partition \S+ not found|No partitions in the system|Invalid entity:|Unable to contact)`)

const howToImport = "write what  scontrol show partition,  scontrol show partition --json  or  sacctmgr show qos -P  prints into the file"

// read reads one file, by what it holds.
func (c *cardImport) read(f ImportFile) {
	text := bytes.TrimPrefix(f.Text, []byte("\xef\xbb\xbf"))
	first := ""
	for line := range bytes.Lines(text) {
		if s := strings.TrimSpace(string(line)); s != "" {
			first = s
			break
		}
	}
	switch {
	case !utf8.Valid(text):
		c.fault(f.Name, validLines(text)+1, "", "is not UTF-8", "print it again under a UTF-8 locale")
	case first == "":
		c.fault(f.Name, 0, "", "is empty", howToImport)
	case errorLine.MatchString(first):
		c.fault(f.Name, 1, "", fmt.Sprintf("is an error message: %s", shortened(first)), "run the command again where it can reach the cluster")
	case first[0] == '{':
		c.readJSON(f.Name, text)
	case strings.HasPrefix(first, "PartitionName=") || strings.HasPrefix(first, "CLUSTER: "):
		c.readScontrol(f.Name, string(text))
	case strings.Contains(first, "|"):
		c.readQoS(f.Name, string(text))
	case strings.HasPrefix(first, "Name ") && strings.Contains(first, "UsageFactor"):
		c.fault(f.Name, 1, "", "is cut to columns of fixed width", "print it with  sacctmgr show qos -P")
	default:
		c.fault(f.Name, 1, "", fmt.Sprintf("is nothing that can be imported: it begins with %q", shortened(first)), howToImport)
	}
}

// validLines counts the lines before the one with the first invalid byte.
func validLines(text []byte) int {
	lines := 0
	for line := range bytes.Lines(text) {
		if !utf8.Valid(line) {
			break
		}
		lines++
	}
	return lines
}

// shortened is a hostile text for a message or a comment: printable, on one
// line and not long.
func shortened(text string) string {
	const longest = 120
	text = strings.Map(printable, text)
	if utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest]) + "…"
	}
	return text
}
