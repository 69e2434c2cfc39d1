package invoice

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"hpcbill/rates"
	"hpcbill/rates/csvdoc"
	"hpcbill/rates/money"
)

var adjustmentColumns = []string{
	"id", "period", "date", "group", "description", "amount", "quantity", "unit", "price", "code", "reason", "author",
	"repeat", "until", "reverses",
}

// adjustmentIDForm is that of an ID that a person gives. "@" parts the month
// from the ID of what is repeated.
var adjustmentIDForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$`)

var adjustmentCodeForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)

// repeats are the words of the column repeat, in months.
var repeats = map[string]int{"": 0, "monthly": 1, "quarterly": 3, "yearly": 12}

// ReadAdjustments reads adjustments.csv: dated charges and credits that people
// decided on. Its first line names the columns, in any order; the others may
// be left out:
//
//	id,period,group,description,amount,reason,author,repeat,until,reverses
//	,2026-03,chem,Consulting on GROMACS,450.00,order 7,jd,,,
//	rack-4,2026-01,bio,Co-location of rack 4,80.00,contract 12,jd,monthly,2027-01,
//	,2026-03,bio,,,billed twice,jd,,,rack-4@2026-02
//
// A row is billed in its period, or in the month of its date. It gives an
// amount, negative for a credit, or a quantity with a price; the amount has no
// more digits than the currency, the product is rounded once as every line is.
// Reason and author are asked for. repeat is monthly, quarterly or yearly from
// the period on, until: the first month that it is no longer billed in.
//
// A row that reverses another names its ID, and the month behind an @ where
// that one is repeated. It is of the same group, not billed before it, and of
// the opposite amount, which may be left out; nothing is reversed twice.
//
// The error is rates.Faults: everything that is wrong with the file.
func ReadAdjustments(name string, text []byte, currency money.Currency) ([]Adjustment, error) {
	f := &adjustmentFile{File: csvdoc.File{
		Name: name, Columns: adjustmentColumns,
		Needed: [][]string{{"period", "date"}, {"group"}, {"description"}, {"amount", "price"}, {"reason"}, {"author"}},
		Begin:  "period,group,description,amount,reason,author",
	}, currency: currency, line: map[string]int{}}
	for _, row := range f.Read(text) {
		f.row(row)
	}
	f.pair()
	if len(f.Faults) > 0 {
		slices.SortStableFunc(f.Faults, func(a, b rates.Fault) int { return a.Line - b.Line })
		return nil, f.Faults
	}
	return f.rows, nil
}

type adjustmentFile struct {
	csvdoc.File
	currency money.Currency
	rows     []Adjustment
	line     map[string]int // of each ID
}

func (f *adjustmentFile) fault(line int, field, message, remedy string) {
	f.Fault(line, 0, field, message, remedy)
}

// row reads one row after the header.
func (f *adjustmentFile) row(row *csvdoc.Row) {
	before, line, cell := len(f.Faults), row.Line(), row.Cell
	row.OneLine()
	a := Adjustment{Line: line, Group: cell("group"), Description: cell("description"), Unit: cell("unit"),
		Reason: cell("reason"), Author: cell("author"), Reverses: cell("reverses")}
	a.Period = f.period(line, cell)
	for _, needed := range []string{"group", "description", "reason", "author"} {
		if cell(needed) == "" && !(needed == "description" && a.Reverses != "") {
			f.fault(line, needed, "is empty", "every adjustment says what it is, why, and who decided on it")
		}
	}
	f.figures(&a, cell)
	f.repetition(&a, cell)
	f.code(&a, cell("code"))
	f.identity(&a, cell)
	if len(f.Faults) == before {
		f.rows = append(f.rows, a)
	}
}

// period reads the month, or the day, of a row.
func (f *adjustmentFile) period(line int, cell func(string) string) string {
	period, day := cell("period"), cell("date")
	switch {
	case period != "" && day != "":
		f.fault(line, "date", "there is a period already", "fill one of them")
	case day != "":
		d, err := rates.ParseDate(day)
		if err != nil {
			f.fault(line, "date", err.Error(), "write year-month-day, a day that exists")
			return ""
		}
		return monthOf(d)
	case period == "":
		f.fault(line, "period", "is empty", "write the month in which it is billed, such as 2026-03")
	default:
		f.month(line, "period", period)
	}
	return period
}

func (f *adjustmentFile) month(line int, field, text string) {
	if _, err := time.Parse("2006-01", text); err != nil {
		f.fault(line, field, fmt.Sprintf("%q is not a month such as 2026-03", text), "")
	}
}

// figures reads the amount, or the quantity and the price.
func (f *adjustmentFile) figures(a *Adjustment, cell func(string) string) {
	amount, quantity, price := cell("amount"), cell("quantity"), cell("price")
	switch {
	case amount != "" && quantity+price+a.Unit != "":
		f.fault(a.Line, "amount", "there is a quantity, a unit or a price too", "fill the amount, or the quantity, unit and price")
		return
	case amount != "":
		x := f.decimal(a.Line, "amount", amount)
		if places := f.currency.Digits; !x.Round(places, money.Down).Equal(x) {
			f.fault(a.Line, "amount", fmt.Sprintf("%s has more digits than %s", amount, f.currency.Code), "")
		}
		a.Quantity, a.Price = money.Int(1), x
		if x.Sign() < 0 {
			a.Quantity, a.Price = money.Int(-1), x.Neg()
		}
	case quantity != "" && price != "":
		a.Quantity, a.Price = f.decimal(a.Line, "quantity", quantity), f.decimal(a.Line, "price", price)
		if a.Price.Sign() < 0 {
			f.fault(a.Line, "price", price+" is negative", "a credit has a negative quantity")
		}
	case a.Reverses != "" && quantity+price+a.Unit == "":
		return // the opposite of what it reverses
	default:
		f.fault(a.Line, "amount", "is empty", "write an amount, negative for a credit, or a quantity and a price")
		return
	}
	if a.Quantity.Sign() == 0 || a.Price.Sign() == 0 {
		f.fault(a.Line, "amount", "comes to nothing", "remove the row")
	}
}

func (f *adjustmentFile) decimal(line int, field, text string) money.Exact {
	x, err := money.ParseDecimal(text)
	if err != nil {
		f.fault(line, field, err.Error(), `write a plain decimal with a point, such as "1200.50" or "-80"`)
		return money.Int(1)
	}
	return x
}

func (f *adjustmentFile) repetition(a *Adjustment, cell func(string) string) {
	word, known := cell("repeat"), false
	if a.EveryMonths, known = repeats[strings.ToLower(word)]; !known {
		f.fault(a.Line, "repeat", fmt.Sprintf("%q is not monthly, quarterly or yearly", word), "leave it empty for what is billed once")
	}
	a.Until = cell("until")
	switch {
	case a.Until == "":
	case a.EveryMonths == 0:
		f.fault(a.Line, "until", "is for what repeats", "fill repeat, or empty until")
	default:
		f.month(a.Line, "until", a.Until)
		if a.Until <= a.Period {
			f.fault(a.Line, "until", fmt.Sprintf("%s is not after %s", a.Until, a.Period), "until is the first month that it is no longer billed in")
		}
	}
	if a.EveryMonths > 0 && a.Reverses != "" {
		f.fault(a.Line, "repeat", "a reversal is billed once", "reverse each month in a row of its own")
	}
}

func (f *adjustmentFile) code(a *Adjustment, code string) {
	if a.Code = code; code != "" {
		if !adjustmentCodeForm.MatchString(code) {
			f.fault(a.Line, "code", fmt.Sprintf("%q is no code", code), "use up to 32 letters, digits and . _ -")
		}
		return
	}
	switch {
	case a.Reverses != "":
		a.Code = CodeReversal
	case a.Quantity.Sign() < 0:
		a.Code = CodeCredit
	default:
		a.Code = CodeCharge
	}
}

// identity gives the row its ID: its own, or a digest of what it says.
func (f *adjustmentFile) identity(a *Adjustment, cell func(string) string) {
	a.ID = cell("id")
	if a.ID == "" {
		h := sha256.New()
		for _, name := range adjustmentColumns {
			fmt.Fprintf(h, "%d:%s", len(cell(name)), cell(name))
		}
		a.ID = "adj-" + hex.EncodeToString(h.Sum(nil))[:12]
	} else if !adjustmentIDForm.MatchString(a.ID) {
		f.fault(a.Line, "id", fmt.Sprintf("%q cannot be an id", a.ID), "use up to 64 letters, digits and . _ / -")
	}
	if first, taken := f.line[a.ID]; taken {
		message, remedy := fmt.Sprintf("%q is the id of line %d already", a.ID, first), "give each its own"
		if cell("id") == "" {
			message, remedy = fmt.Sprintf("says the same as line %d", first), "remove it, or, where both are meant, give each an id"
		}
		f.fault(a.Line, "id", message, remedy)
		return
	}
	f.line[a.ID] = a.Line
}

// pair finds what each reversal reverses.
func (f *adjustmentFile) pair() {
	byID := map[string]*Adjustment{}
	for i := range f.rows {
		byID[f.rows[i].ID] = &f.rows[i]
	}
	reversed := map[string]int{}
	for i := range f.rows {
		a := &f.rows[i]
		if a.Reverses == "" {
			continue
		}
		id, month, repeated := strings.Cut(a.Reverses, "@")
		of := byID[id]
		if of == nil {
			if _, faulty := f.line[id]; !faulty {
				f.fault(a.Line, "reverses", fmt.Sprintf("there is no row with the id %q", id), "an invoice names the id of each adjustment on it")
			}
			continue
		}
		if !repeated {
			month = of.Period
		}
		f.reverse(a, of, month)
		if first, twice := reversed[of.Reference(month)]; twice {
			f.fault(a.Line, "reverses", fmt.Sprintf("%s is reversed on line %d already", a.Reverses, first), "remove one of the two")
		}
		reversed[of.Reference(month)] = a.Line
	}
}

// reverse checks a reversal against what it takes back in a month, and fills
// in what it leaves out.
func (f *adjustmentFile) reverse(a, of *Adjustment, month string) {
	switch {
	case of.Reverses != "":
		f.fault(a.Line, "reverses", a.Reverses+" is a reversal itself", "write a row of its own for it")
	case of.EveryMonths > 0 && !strings.Contains(a.Reverses, "@"):
		f.fault(a.Line, "reverses", a.Reverses+" is billed more than once", "name the month, as in "+of.Reference(of.Period))
	case !of.In(month):
		f.fault(a.Line, "reverses", fmt.Sprintf("%s is not billed in %s", of.ID, month), "")
	case a.Group != of.Group:
		f.fault(a.Line, "group", fmt.Sprintf("%s is of group %s", of.ID, of.Group), "a reversal is of the same group")
	case a.Period < month:
		f.fault(a.Line, "period", fmt.Sprintf("%s is billed in %s, after the reversal", of.ID, month), "")
	case a.Quantity.Sign() == 0:
		a.Quantity, a.Price, a.Unit = of.Quantity.Neg(), of.Price, of.Unit
	case !a.Exact().Equal(of.Exact().Neg()):
		f.fault(a.Line, "amount", fmt.Sprintf("%s is not the opposite of %s, %s", a.Exact(), of.ID, of.Exact()), "leave the amount out")
	}
	if a.Description == "" {
		a.Description = of.Description
	}
	a.Reverses = of.Reference(month)
}
