package rates

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// MaxPriceDecimals is how many digits after the point a price, a factor or a
// figure of the hardware may have; more are refused, never rounded.
const MaxPriceDecimals = 13

// identifierForm is the form of a name that formulas use.
var identifierForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// scope is what a formula of the version may use at a stage.
func (v *versionLoader) scope(subject formula.Subject, stage formula.Stage) formula.Scope {
	s := formula.NewScope(subject, stage)
	s = v.explained(s)
	for name, h := range v.hidden {
		s = s.Hide(name, h.why, h.remedy)
	}
	for i, let := range v.version.Lets {
		if _, constant := let.Formula.Constant(); subject == formula.OfHolding && !constant && !v.constantLet(let) {
			s = s.Hide(let.Name, "is a figure of jobs", "storage formulas use let: figures that are plain numbers")
			continue
		}
		if let.Clock != nil {
			s = s.Clock(i, let.Name, "hours run in "+let.Clock.Text)
			continue
		}
		s = s.Let(i, let.Name, let.Formula)
	}
	if subject == formula.OfJob {
		s = v.boundHardware(s)
	}
	return s
}

// explained tells of names that mean something elsewhere in a card why they are
// no figures.
func (v *versionLoader) explained(s formula.Scope) formula.Scope {
	s = s.Explain(v.meterOrder, "is a meter, and no figure", "charge it by a formula of its own; a formula for several meters is a figure of let:")
	var fields []string
	for _, f := range matchFields() {
		if f.kind != numberKind {
			fields = append(fields, f.name)
		}
	}
	return s.Explain(fields, "is matched, and is no number", "write a rule with a match:, or a factor by it")
}

// constantLet reports whether a figure is made of constant figures only.
func (v *versionLoader) constantLet(let *Let) bool {
	for _, name := range let.Formula.Figures() {
		found := false
		for _, other := range v.version.Lets {
			if other == let {
				break
			}
			found = found || other.Name == name && v.constantLet(other)
		}
		if !found {
			return false
		}
	}
	return true
}

// formula reads a formula; nil after a fault.
func (l *cardLoader) formula(n *yaml.Node, path string, scope formula.Scope) *formula.Formula {
	text, ok := l.Text(n, path)
	if !ok {
		return nil
	}
	f, faults := formula.Parse(text, scope)
	for _, fault := range faults {
		l.Faults = append(l.Faults, l.inFormula(n, path, text, fault))
	}
	return f
}

// inFormula places a fault of a formula in the file. In a text over several
// lines the column within the formula is said in words.
func (l *cardLoader) inFormula(n *yaml.Node, path, text string, fault formula.Fault) Fault {
	placed := Fault{File: l.Name, Line: n.Line, Column: n.Column, Field: path, Message: fault.Message, Remedy: fault.Remedy}
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.Contains(text, "\n") {
		placed.Message = fmt.Sprintf("%s (at character %d of the formula)", fault.Message, fault.Column)
		return placed
	}
	placed.Column += fault.Column - 1
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		placed.Column++
	}
	return placed
}

// decimal reads a number that is not negative and has few enough digits.
func (l *cardLoader) decimal(n *yaml.Node, path string) (money.Exact, bool) {
	text, ok := l.Text(n, path)
	if !ok {
		return money.Exact{}, false
	}
	x, err := money.ParseDecimal(text)
	switch {
	case err != nil:
		l.Fault(n, path, err.Error(), numberRemedy(text))
	case len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9':
		l.Fault(n, path, fmt.Sprintf("%s begins with a 0", text), "write the number without it")
	case x.Sign() < 0:
		l.Fault(n, path, fmt.Sprintf("%s is negative", text), negativeRemedy(path))
	case !x.Round(MaxPriceDecimals, money.Down).Equal(x):
		l.Fault(n, path, fmt.Sprintf("%s has more than %d digits after the point", text, MaxPriceDecimals), "shorten it, or write the division into the formula: 1/7")
	default:
		return x, true
	}
	return x, false
}

// negativeRemedy is what to do about a number below 0.
func negativeRemedy(path string) string {
	if strings.Contains(path, ".price") {
		return "a credit is an adjustment, not a price"
	}
	return "write 0 or more"
}

// numberRemedy is what to do about a text that is no decimal.
func numberRemedy(text string) string {
	digits := strings.TrimRight(text, " %")
	grouped := strings.NewReplacer("_", "", " ", "", "\u00a0", "", "\u202f", "", "'", "").Replace(text)
	switch {
	case strings.HasPrefix(text, ".") && isDecimal("0"+text):
		return "write 0" + text
	case strings.HasSuffix(text, ".") && isDecimal(text+"0"):
		return "write " + strings.TrimSuffix(text, ".")
	case strings.HasPrefix(text, "+") && isDecimal(text[1:]):
		return "write " + text[1:]
	case grouped != text && isDecimal(grouped):
		return "write " + grouped
	case isQuotient(text):
		return "only factors are quotients: write its first 13 digits, or the division into the formula"
	case strings.ContainsAny(text, "“”‘’"):
		return "write straight quotes, or none"
	case strings.HasSuffix(text, "%") && isDecimal(digits):
		percent, _ := money.ParseDecimal(digits)
		return fmt.Sprintf("write it as a fraction of one: %s", percent.Mul(money.Ratio(1, 100)))
	case twoThousands.MatchString(text):
		return "write " + strings.ReplaceAll(text, ",", "")
	case thousandOrPoint.MatchString(text):
		return fmt.Sprintf("write %s, or with a point %s, whichever is meant", strings.Replace(text, ",", "", 1), strings.Replace(text, ",", ".", 1))
	case pointedThousands.MatchString(text):
		return "write " + strings.Replace(strings.ReplaceAll(text, ".", ""), ",", ".", 1)
	case strings.Count(text, ",") == 1 && isDecimal(strings.Replace(text, ",", ".", 1)):
		return "write it with a point: " + strings.Replace(text, ",", ".", 1)
	case strings.HasSuffix(strings.ToLower(text), "k") && isDecimal(text[:len(text)-1]):
		number, _ := money.ParseDecimal(text[:len(text)-1])
		return fmt.Sprintf("write %s", number.Mul(money.Int(1000)))
	}
	if number := strings.TrimLeft(text, " €$£¥"); number != text && isDecimal(number) {
		return fmt.Sprintf("write the number alone, without its unit: %s", number)
	}
	if number := strings.TrimRight(text, " ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz€$£¥"); isDecimal(number) {
		return fmt.Sprintf("write the number alone, without its unit: %s", number)
	}
	return "write a plain decimal such as 0.012"
}

// What a comma may be between digits: thousands as 1,000.00 and 1,000,000 have
// them, a thousand or a decimal in 1,000, and a decimal after points in 1.000,50.
var (
	twoThousands     = regexp.MustCompile(`^[1-9]\d{0,2}(,\d{3})+(\.\d+|,\d{3})$`)
	thousandOrPoint  = regexp.MustCompile(`^[1-9]\d{0,2},\d{3}$`)
	pointedThousands = regexp.MustCompile(`^[1-9]\d{0,2}(\.\d{3})+,\d+$`)
)

func isQuotient(text string) bool {
	over, under, ok := strings.Cut(text, "/")
	return ok && isDecimal(strings.TrimSpace(over)) && isDecimal(strings.TrimSpace(under))
}

func isDecimal(text string) bool {
	_, err := money.ParseDecimal(text)
	return err == nil
}

// factorNumber reads a factor: a decimal, or a division of decimals.
func (l *cardLoader) factorNumber(n *yaml.Node, path string) (money.Exact, bool) {
	text, ok := l.Text(n, path)
	if !ok {
		return money.Exact{}, false
	}
	if !strings.Contains(text, "/") {
		return l.decimal(n, path)
	}
	f, faults := formula.Parse(text, formula.Scope{})
	for _, fault := range faults {
		l.Faults = append(l.Faults, l.inFormula(n, path, text, fault))
	}
	if f == nil {
		return money.Exact{}, false
	}
	x, _ := f.Constant()
	if x.Sign() < 0 {
		l.Fault(n, path, fmt.Sprintf("%s is negative", text), "a factor is 0 or more")
		return x, false
	}
	return x, true
}
