package html

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"hpcbill/invoice"
	"hpcbill/rates/money"
	"hpcbill/templates"
)

// page is the invoice as the template sets it: every text made visible, every
// number in the language's manner.
type page struct {
	templates.Words
	Lang      string
	CSS       template.CSS
	Title     string
	Draft     bool
	Number    string
	Currency  string
	Issuer    invoice.Party
	Recipient recipient
	Facts     []fact

	Sections   []section
	Remarks    []string
	Totals     []fact
	TotalLabel string
	Total      string
	TotalNote  string
	Notes      []string // on taxes

	Funds    []fundRow
	ByPart   bool // some fund pays of a part alone
	Balances []balance
	Free     []balance // allowances
	Storage  []storageRow
	Meanings []fact
	Basis    []fact

	StorageHolders bool // a listing names who holds some of it
}

// fact is a label and what stands beside it.
type fact struct {
	Label, Text string
	Alarm       bool
}

type recipient struct {
	Name, Address string
	Under         []string // department and principal investigator
	Facts         []fact
}

func newPage(inv invoice.Invoice, extras Extras) (*page, error) {
	words, err := templates.In(inv.Group.Language)
	if err != nil {
		return nil, err
	}
	if err := inv.Check(); err != nil {
		return nil, err
	}
	dates, err := datesOf(inv, words)
	if err != nil {
		return nil, err
	}
	p := &page{
		Words: words, Lang: words.Language, CSS: template.CSS(templates.Page("invoice.css")),
		Draft: inv.Number == "", Number: templates.Visible(inv.Number), Currency: inv.Currency.Code,
		Issuer: invoice.Party{
			Name: templates.Visible(inv.Issuer.Name), Address: templates.VisibleLines(inv.Issuer.Address),
			Email: templates.Visible(inv.Issuer.Email), TaxID: templates.Visible(inv.Issuer.TaxID),
			Footer: templates.VisibleLines(inv.Issuer.Footer),
		},
		Recipient: recipientOf(inv.Group, words),
		Facts:     factsOf(inv, dates, words),
		Sections:  sectionsOf(inv, words),
		Funds:     fundsOf(inv, words),
		Balances:  balancesOf(inv.Balances, words),
		Free:      allowancesOf(inv.Allowances(), words),
		Meanings:  meaningsOf(inv, extras, words),
		Basis:     basisOf(inv, extras, words),
	}
	p.ByPart = partly(p.Funds)
	p.Storage, p.StorageHolders = storageOf(extras.Storage, words)
	p.Title = titleOf(inv, words)
	if len(inv.Lines) > 0 {
		p.Remarks = append(p.Remarks, words.Say("rounded.note", "places", strconv.Itoa(linePlaces(inv.Lines))))
	}
	for _, c := range inv.Counters {
		p.Remarks = append(p.Remarks, counted(c, words))
	}
	limits := inv.Limits()
	for i := range limits {
		p.Remarks = append(p.Remarks, limited(&limits[i], words))
	}
	if inv.Jobs > 0 {
		p.Remarks = append(p.Remarks, words.Say("jobs.where"))
	}
	p.setTotals(inv)
	return p, nil
}

func titleOf(inv invoice.Invoice, words templates.Words) string {
	number := inv.Number
	if number == "" {
		number = words.Say("draft")
	}
	return templates.Visible(fmt.Sprintf("%s %s · %s · %s", words.Say("invoice"), number, inv.Group.Name, inv.Period))
}

func recipientOf(g invoice.Recipient, words templates.Words) recipient {
	r := recipient{Name: templates.Visible(g.Name), Address: templates.VisibleLines(g.Address)}
	if r.Name == "" {
		r.Name = templates.Visible(g.ID)
	}
	for _, text := range []string{g.Department, g.PI} {
		if text != "" {
			r.Under = append(r.Under, templates.Visible(text))
		}
	}
	for _, f := range []fact{
		{Label: words.Say("contacts"), Text: strings.Join(g.Contacts, ", ")},
		{Label: words.Say("po"), Text: g.PO},
		{Label: words.Say("fund"), Text: g.Fund},
		{Label: words.Say("tax.id"), Text: g.TaxID},
	} {
		if f.Text != "" {
			f.Text = templates.Visible(f.Text)
			r.Facts = append(r.Facts, f)
		}
	}
	return r
}

// dates are the days that an invoice speaks of.
type dates struct{ issued, span string }

// datesOf sets them in the zone of the period: an invoice issued at two in the
// morning UTC on the 1st is of the 31st in New York.
func datesOf(inv invoice.Invoice, words templates.Words) (dates, error) {
	zone, err := time.LoadLocation(inv.Zone)
	if err != nil {
		return dates{}, fmt.Errorf("time zone %q: %w", inv.Zone, err)
	}
	first, err := time.Parse("2006-01", inv.Period)
	if err != nil {
		return dates{}, fmt.Errorf("%q is not a period such as 2026-03", inv.Period)
	}
	day := func(t time.Time) string { return words.Date(t.Year(), int(t.Month()), t.Day()) }
	d := dates{
		issued: words.Say("issued.none"),
		span:   words.Say("period.range", "last", day(first.AddDate(0, 1, -1))),
	}
	if inv.Issued != "" {
		issued, err := time.Parse(time.RFC3339, inv.Issued)
		if err != nil {
			return dates{}, fmt.Errorf("issue date %q: %w", inv.Issued, err)
		}
		d.issued = day(issued.In(zone))
	}
	return d, nil
}

func factsOf(inv invoice.Invoice, d dates, words templates.Words) []fact {
	facts := []fact{
		{Label: words.Say("issued"), Text: d.issued},
		{Label: words.Say("period"), Text: d.span},
		{Label: words.Say("zone"), Text: inv.Zone},
		{Label: words.Say("group"), Text: inv.Group.ID},
	}
	if inv.Group.Class != "" {
		facts = append(facts, fact{Label: words.Say("class"), Text: inv.Group.Class})
	}
	if inv.Jobs > 0 {
		facts = append(facts, fact{Label: words.Say("jobs.charged"), Text: words.Number(strconv.FormatInt(inv.Jobs, 10))})
	}
	for i := range facts {
		facts[i].Text = templates.Visible(facts[i].Text)
	}
	return facts
}

// setTotals gives the block under the lines.
func (p *page) setTotals(inv invoice.Invoice) {
	format := func(a money.Amount) string { return p.Words.Number(inv.Currency.Plain(a)) }
	add := func(label string, a money.Amount) {
		p.Totals = append(p.Totals, fact{Label: label, Text: format(a)})
	}
	if inv.Total != inv.List {
		add(p.Say("list"), inv.List)
	}
	for _, sum := range []struct {
		key string
		of  money.Amount
	}{{"reductions", inv.Reductions}, {"section.manual", inv.Manual}, {"section.prior", inv.Prior}, {"overhead", inv.Overhead}} {
		if sum.of != 0 {
			add(p.Say(sum.key), sum.of)
		}
	}
	if len(inv.Taxes) > 0 {
		add(p.Say("net"), inv.Net())
	}
	for i := range inv.Taxes {
		t := &inv.Taxes[i]
		add(taxLabel(t, inv.Currency, p.Words), t.Amount)
		if t.Note != "" {
			p.Notes = append(p.Notes, templates.Visible(t.Note))
		}
	}
	p.Total = format(inv.Total)
	switch {
	case p.Draft:
		p.TotalLabel = p.Say("due.draft")
	case inv.Total < 0:
		p.TotalLabel = p.Say("due.credit")
	default:
		p.TotalLabel = p.Say("due")
	}
	if inv.Total == 0 {
		p.TotalNote = p.Say("nothing.due")
	}
}

// taxLabel names a tax with its rate and what it is on.
func taxLabel(t *invoice.TaxSum, c money.Currency, words templates.Words) string {
	name, base := templates.Visible(t.Name), words.Number(c.Plain(t.Base))
	if t.Mode == invoice.TaxReverseCharge {
		return words.Say("tax.reverse", "name", name, "base", base)
	}
	return words.Say("tax.rate", "name", name, "percent", words.Number(shortest(t.Percent, 0, maxPercentPlaces)), "base", base)
}

// basisOf names what the figures were computed from: each rate card with its
// version once, in the order of the lines, and the history's entry.
func basisOf(inv invoice.Invoice, extras Extras, words templates.Words) []fact {
	type source struct{ name, version, digest string }
	seen := map[source]bool{}
	var facts []fact
	for _, l := range inv.Lines {
		s := source{name: l.Card, digest: l.CardDigest}
		if !l.Version.IsZero() {
			s.version = words.Date(l.Version.Year, l.Version.Month, l.Version.Day)
		}
		if l.Card == "" || seen[s] {
			continue
		}
		seen[s] = true
		f := fact{Label: words.Say("basis.card", "card", templates.Visible(s.name), "version", s.version)}
		if s.digest != "" {
			f.Text = words.Say("basis.digest") + " " + templates.Visible(s.digest)
		}
		facts = append(facts, f)
	}
	if extras.ChainHead != "" {
		facts = append(facts, fact{Label: words.Say("basis.chain"), Text: words.Say("basis.digest") + " " + templates.Visible(extras.ChainHead)})
	}
	return facts
}
