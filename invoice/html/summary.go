package html

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"hpcbill/invoice"
	"hpcbill/rates/money"
	"hpcbill/templates"
)

// summary is the overview of a period as the template sets it.
type summary struct {
	templates.Words
	Lang   string
	CSS    template.CSS
	Title  string
	Issuer string
	Period string
	Added  bool // some invoice has more than list price and reductions
	Rows   []summaryRow
	Totals []summaryRow // by currency
}

type summaryRow struct {
	ID, Name, Department, Number, Link string
	Draft                              bool
	Jobs, List, Reductions, Additions  string
	Total, Currency                    string
}

// WriteSummary writes the overview of a period: a row for each invoice, and
// the totals of each currency. link gives the address of an invoice's own
// document, relative to the overview; it may be nil. An invoice that does not
// add up or is of another period, and an unknown language, are errors, and
// then nothing is written.
func WriteSummary(w io.Writer, period, language string, invoices []invoice.Invoice, link func(invoice.Invoice) string) error {
	page, err := newSummary(period, language, invoices, link)
	if err != nil {
		return fmt.Errorf("draw the summary of %s: %w", period, err)
	}
	return execute(w, "summary.html.tmpl", page)
}

func newSummary(period, language string, invoices []invoice.Invoice, link func(invoice.Invoice) string) (*summary, error) {
	words, err := templates.In(language)
	if err != nil {
		return nil, err
	}
	month, err := time.Parse("2006-01", period)
	if err != nil {
		return nil, fmt.Errorf("%q is not a period such as 2026-03", period)
	}
	s := &summary{
		Words: words, Lang: words.Language, CSS: template.CSS(templates.Page("invoice.css")),
		Period: words.Month(month.Year(), int(month.Month())),
	}
	s.Title = words.Say("summary") + " · " + s.Period
	sums := map[money.Currency]*invoice.Invoice{}
	for i := range invoices {
		inv := &invoices[i]
		if inv.Period != period {
			return nil, fmt.Errorf("the invoice of %q is for %s", inv.Group.ID, inv.Period)
		}
		if err := inv.Check(); err != nil {
			return nil, err
		}
		s.Issuer = templates.Visible(inv.Issuer.Name)
		s.Rows = append(s.Rows, s.row(inv, link))
		s.Added = s.Added || inv.Additions() != 0
		if sums[inv.Currency] == nil {
			sums[inv.Currency] = &invoice.Invoice{Currency: inv.Currency}
		}
		sum := sums[inv.Currency]
		sum.Jobs, sum.List, sum.Reductions, sum.Total = sum.Jobs+inv.Jobs, sum.List+inv.List, sum.Reductions+inv.Reductions, sum.Total+inv.Total
	}
	for _, sum := range sums {
		s.Totals = append(s.Totals, s.row(sum, nil))
	}
	slices.SortFunc(s.Totals, func(a, b summaryRow) int { return strings.Compare(a.Currency, b.Currency) })
	return s, nil
}

func (s *summary) row(inv *invoice.Invoice, link func(invoice.Invoice) string) summaryRow {
	format := func(a money.Amount) string { return s.Number(inv.Currency.Plain(a)) }
	r := summaryRow{
		ID: templates.Visible(inv.Group.ID), Name: templates.Visible(inv.Group.Name), Department: templates.Visible(inv.Group.Department),
		Number: templates.Visible(inv.Number), Draft: inv.Number == "",
		Jobs: s.Number(strconv.FormatInt(inv.Jobs, 10)), List: format(inv.List), Reductions: format(inv.Reductions),
		Additions: format(inv.Additions()), Total: format(inv.Total),
		Currency: inv.Currency.Code,
	}
	if r.Name == "" {
		r.Name = r.ID
	}
	if link != nil {
		r.Link = link(*inv)
	}
	return r
}
