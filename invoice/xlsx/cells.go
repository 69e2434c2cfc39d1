package xlsx

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"

	"hpcbill/ingest"
	"hpcbill/rates/money"
	"hpcbill/templates"
)

const (
	// maxCellUnits is how many UTF-16 units a cell holds.
	maxCellUnits = 32767
	// maxAmount is the largest number of minor units that 15 digits hold.
	maxAmount = 999_999_999_999_999
	// epochDays is 1970-01-01 as a spreadsheet counts days.
	epochDays     = 25569
	secondsPerDay = 86400
	// dayPlaces are the decimals of a day that 15 digits hold, less than 9 µs.
	// Moments are rounded up to them: a program that cuts off what is below a
	// second must not show the second before.
	dayPlaces = 10
)

// text makes a cell of a text: printable, never a formula (a cell of type
// string is none), and cut with a mark where a cell ends.
func text(s string) string { return cut(templates.Visible(s)) }

func cut(s string) string {
	if len(s) <= maxCellUnits { // bytes, of which there are no fewer than units
		return s
	}
	if units := utf16.Encode([]rune(s)); len(units) > maxCellUnits {
		end := maxCellUnits - 1
		if utf16.IsSurrogate(rune(units[end-1])) && units[end-1] < 0xdc00 {
			end--
		}
		return string(utf16.Decode(units[:end])) + "…"
	}
	return s
}

// number gives the float nearest to x. It is what the cell shows, and nothing
// is computed from it.
func number(x money.Exact) float64 {
	f, _ := x.Rat().Float64()
	return f
}

// amount gives the cell's value of an amount of money, which a spreadsheet
// must hold to the last minor unit.
func amount(c money.Currency, a money.Amount) (float64, error) {
	if a > maxAmount || a < -maxAmount {
		return 0, fmt.Errorf("%s %s has more than the 15 digits that a spreadsheet holds", c.Plain(a), c.Code)
	}
	return number(c.Exact(a)), nil
}

// count gives nil, an empty cell, for a count that is not known.
func count(n int64) any {
	if n < 0 {
		return nil
	}
	return n
}

// moment gives the wall clock of the zone at an instant, as a spreadsheet
// counts days; nil for no instant. In the hour that a clock change repeats, two
// instants give one moment: the elapsed hours stand beside them.
func moment(at ingest.Instant, zone *time.Location) any {
	if at == ingest.None {
		return nil
	}
	_, offset := time.Unix(int64(at), 0).In(zone).Zone()
	days := money.Ratio(int64(at)+int64(offset)+epochDays*secondsPerDay, secondsPerDay)
	return number(days.Round(dayPlaces, money.Ceil))
}

// day gives the date as a spreadsheet counts it, nil for no date.
func day(d ingest.Date) any {
	if d.IsZero() {
		return nil
	}
	return time.Date(d.Year, time.Month(d.Month), d.Day, 0, 0, 0, 0, time.UTC).Unix()/secondsPerDay + epochDays
}

// cellName is the name of a cell: cellName(3, 7) is "C7".
func cellName(column, row int) string {
	name, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return name
}

// columnRange names the cells of a column in the rows first to last:
// "Lines!N2:N9", with the sheet's name in quotes where it has a blank, or
// "N2:N9" on the same sheet, for which sheet is "".
func columnRange(sheet string, column, first, last int) string {
	cells := cellName(column, first) + ":" + cellName(column, last)
	if sheet == "" {
		return cells
	}
	if strings.Contains(sheet, " ") {
		sheet = "'" + sheet + "'"
	}
	return sheet + "!" + cells
}

// sumOf is the formula for the sum of ranges: "SUM(A2:A9,C4)", "0" for none.
func sumOf(ranges ...string) string {
	if len(ranges) == 0 {
		return "0"
	}
	return "SUM(" + strings.Join(ranges, ",") + ")"
}

// rounded makes a formula give a whole number of minor units, as the value
// beside it is: a sum of binary floats is off by less than that.
func rounded(c money.Currency, formula string) string {
	return fmt.Sprintf("ROUND(%s,%d)", formula, c.Digits)
}
