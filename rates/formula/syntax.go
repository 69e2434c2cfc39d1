package formula

import (
	"errors"
	"fmt"
	"go/scanner"
	"strings"
	"unicode"
	"unicode/utf8"
)

// foreign are signs that people write and this language spells otherwise.
var foreign = []struct{ sign, spelled string }{
	{"//", "/ (with floor(…) for a whole quotient)"},
	{"/*", "a comment in the YAML, after #"},
	{"**", "a product"},
	{"×", "*"}, {"·", "*"}, {"÷", "/"}, {"−", "-"}, {"–", "-"},
	{"≥", ">="}, {"≤", "<="}, {"≠", "!="}, {"<>", "!="},
	{"“", `"`}, {"”", `"`}, {"‘", `"`}, {"’", `"`},
	{"'", `names in double quotes, as in gpu("a100"), and the formula in single ones`},
	{"?", "choose(condition, a, b)"},
	{"%", "a quotient such as /100"}, {"^", "a product"},
}

// words are names that people write for an operator.
var words = map[string]string{"and": "&&", "or": "||", "not": "!", "if": "choose(condition, a, b)", "x": "*", "mod": "a - b*floor(a/b)", "div": "floor(a/b)"}

// likeFunctions are functions of spreadsheets and other languages.
var likeFunctions = map[string]string{
	"roundup": "ceil(x), or round(x, digits, up)", "rounddown": "floor(x), or trunc(x, digits)", "int": "floor(x)", "mround": "step(x, quantum)",
	"iif": "choose(condition, a, b)", "where": "choose(condition, a, b)", "ifelse": "choose(condition, a, b)", "coalesce": "first(a, b)",
	"pow": "a product", "power": "a product", "average": "(a + b)/2", "mean": "(a + b)/2", "sum": "a + b",
}

// synonyms are names that people try for a figure.
var synonyms = map[string]string{
	"cores": "cpus", "ncores": "cpus", "ncpus": "cpus", "cpu_count": "cpus", "processors": "cpus", "nnodes": "nodes", "ngpus": "gpus",
	"mem": "mem_gib", "memory": "mem_gib", "ram": "mem_gib", "gib": "mem_gib", "gb": "mem_gib",
	"hours": "elapsed_h", "time": "elapsed_h", "elapsed": "elapsed_h", "walltime": "elapsed_h", "runtime": "elapsed_h", "duration_h": "elapsed_h",
	"timelimit": "timelimit_h", "quota": "quota_tb", "used": "used_tb", "usage": "used_tb",
}

// spelled are names that people try for what has to be written otherwise.
var spelled = map[string]string{
	"energy": `tres("energy"), joules of the whole job`, "energy_kwh": `tres("energy")/3600000, in units: or with per: job`,
	"elapsed_s": "elapsed_h*3600", "elapsed_min": "elapsed_h*60", "elapsed_d": "elapsed_h/24",
	"quota_gb": "quota_tb*1000", "used_gb": "used_tb*1000", "mean_gb": "mean_tb*1000", "max_gb": "max_tb*1000",
	"quota_gib": "quota_tib*1024", "used_gib": "used_tib*1024", "mean_gib": "mean_tib*1024", "max_gib": "max_tib*1024",
	"mem_tib": "mem_gib/1024", "mem_tb": "mem_gb/1000", "mem_mb": "mem_mib, of 2^20 bytes, or mem_gb*1000",
}

// syntax reports the first of Go's complaints, in this language's words.
func (p *parser) syntax(err error) {
	var list scanner.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		p.fault(0, err.Error(), "")
		return
	}
	at, message := list[0].Pos.Offset, list[0].Msg
	opened, closed := strings.Count(p.text, "("), strings.Count(p.text, ")")
	word := wordAt(p.text, at)
	found := strings.TrimSpace(message[strings.LastIndex(message, "found ")+1:])
	_, found, _ = strings.Cut(found, " ")
	switch {
	case opened > closed:
		p.fault(at, "a parenthesis is not closed", "close it; in YAML, quote a formula that has a comma: \"max(a, b)\"")
	case opened < closed:
		p.fault(at, "a parenthesis closes that was not opened", "remove it, or open it")
	case words[word] != "":
		p.fault(at, word+" is not part of a formula", "write "+words[word])
	case strings.HasPrefix(message, "illegal character U+") && unseen(p.text[at:]):
		p.fault(at, "a blank here is not a plain one", "write a plain space")
	case strings.HasPrefix(message, "illegal character U+"):
		p.fault(at, message, "remove it")
	case strings.Contains(message, "'='"):
		p.fault(at, message, "compare with ==")
	case strings.HasSuffix(message, "found ','"):
		p.fault(at, "a comma stands outside the parentheses of a function", "a decimal has a point: 0.8; operands stand in parentheses: max(a, b)")
	case strings.HasPrefix(message, "expected operand, found 'EOF'"):
		p.fault(at, "ends where a number or a name belongs", "")
	case strings.HasPrefix(message, "expected operand"):
		p.fault(at, "a number or a name is missing before "+found, "")
	case strings.HasPrefix(message, "missing ','"), strings.HasPrefix(message, "expected 'EOF'"):
		p.fault(at, fmt.Sprintf("an operator or a comma is missing before %q", p.text[at:min(at+max(1, len(word)), len(p.text))]), "write * for a product")
	default:
		p.fault(at, message, "")
	}
}

// unseen reports whether a text begins with a character that looks like a blank,
// or like nothing.
func unseen(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Cf, r)
}

// wordAt is the word that begins at a byte of the text.
func wordAt(text string, at int) string {
	end := at
	for end < len(text) && (text[end] == '_' || 'a' <= text[end]|0x20 && text[end]|0x20 <= 'z') {
		end++
	}
	return text[min(at, len(text)):end]
}
