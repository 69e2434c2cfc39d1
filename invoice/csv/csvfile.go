// Package csvfile writes the invoices of a period as one table of lines, for
// people and for programs that read CSV.
//
// The form is RFC 4180 but for the end of a line: UTF-8 without a byte order
// mark, comma, a first row of names, quotes where a cell needs them, and LF,
// since a CR would stick to the last cell of every other tool. A line of the
// file is a line of an invoice: a control character within a text becomes its
// picture (␊). Numbers have a point, no thousands separator and no exponent.
//
// A spreadsheet takes a cell that begins with = + - @ for a formula, even in
// quotes. A text that begins so (or with a tab, a line end, or the wide form
// of one of them) gets an apostrophe before it; numbers and all other texts
// stand as they are.
package csvfile

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"hpcbill/invoice"
	"hpcbill/rates/money"
	"hpcbill/templates"
)

// places are the decimals of a quantity that has no finite decimal, rounded
// half to even. All others are written in full.
const places = 15

// Columns are the names of the first row, in order. New ones are added at the
// end.
func Columns() []string {
	return []string{
		"period", "zone", "invoice", "status", "issued", "group_id", "group_name", "department", "class", "fund", "po",
		"line", "kind", "cluster", "meter", "unit", "price_class", "description",
		"quantity", "unit_price", "amount_unrounded", "amount", "currency", "jobs", "code", "reason", "reduces_line",
		"card", "card_version", "card_sha256", "reference", "author",
	}
}

// WriteLines writes one row for each line of each invoice, in the order given.
// An invoice that does not add up is an error, and then nothing is written.
func WriteLines(w io.Writer, invoices []invoice.Invoice) error {
	for i := range invoices {
		if err := invoices[i].Check(); err != nil {
			return fmt.Errorf("write the lines of %q for %s: %w", invoices[i].Group.ID, invoices[i].Period, err)
		}
	}
	out := csv.NewWriter(w)
	if err := out.Write(Columns()); err != nil {
		return err
	}
	for i := range invoices {
		for j := range invoices[i].Lines {
			if err := out.Write(row(&invoices[i], &invoices[i].Lines[j])); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func row(inv *invoice.Invoice, l *invoice.Line) []string {
	status := "issued"
	if inv.Number == "" {
		status = "draft"
	}
	g := inv.Group
	return []string{
		text(inv.Period), text(inv.Zone), text(inv.Number), status, text(inv.Issued),
		text(g.ID), text(g.Name), text(g.Department), text(g.Class), text(g.Fund), text(g.PO),
		strconv.Itoa(l.Position), text(string(l.Kind)), text(l.Cluster), text(l.Meter), text(l.Unit), text(l.PriceLabel), text(l.Description),
		priced(!l.OfMoney(), l.Quantity), priced(l.Priced(), l.Price), decimal(l.Exact), inv.Currency.Plain(l.Amount), text(inv.Currency.Code),
		jobs(inv, l), text(l.Code), text(l.Reason), positive(l.Of),
		text(l.Card), l.Version.String(), text(l.CardDigest), text(l.Reference), text(l.Author),
	}
}

// text makes a cell of a text that no spreadsheet takes for a formula.
func text(s string) string {
	if strings.HasPrefix(s, "\t") || strings.HasPrefix(s, "\r") || strings.HasPrefix(s, "\n") {
		return "'" + templates.Visible(s)
	}
	s = templates.Visible(s)
	if first, _ := utf8.DecodeRuneInString(s); strings.ContainsRune("=+-@＝＋－＠", first) {
		return "'" + s
	}
	return s
}

// decimal writes a number in full where it has an end, "44.461944444444444"
// where it has none.
func decimal(x money.Exact) string {
	s := x.String()
	if strings.Contains(s, "/") {
		return x.Decimal(places, money.HalfEven)
	}
	return s
}

// priced writes a quantity or a price, and leaves the cell of a line that has
// none empty.
func priced(has bool, x money.Exact) string {
	if !has {
		return ""
	}
	return decimal(x)
}

// jobs is the number of jobs in a line of use or a reduction of one; on other
// lines the cell stays empty.
func jobs(inv *invoice.Invoice, l *invoice.Line) string {
	charged := l
	if l.Of > 0 {
		charged = &inv.Lines[l.Of-1]
	}
	if charged.Kind != invoice.Usage {
		return ""
	}
	return strconv.FormatInt(l.Jobs, 10)
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
