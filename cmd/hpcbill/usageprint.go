package main

import (
	"fmt"
	"io"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

func (u *usageReport) write(w io.Writer, format string) error {
	switch format {
	case "json":
		text, err := jsonText(u.json())
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", text)
		}
		return err
	case "csv":
		return u.rows().write(w, format)
	}
	return u.writeText(w)
}

func (u *usageReport) writeText(w io.Writer) error {
	c := u.currency
	t := table{columns: columns("group", "meter", "unit", ">"+u.period.String(), ">list", ">due", ">"+u.yearName(), ">list", ">due")}
	balances := table{columns: columns("group", "balance", "unit", ">granted", ">drawn", ">left", "until", "used", ">a_day", "outlook")}
	for _, g := range u.groups {
		for _, m := range g.meters {
			t.add(g.id, m.meter, m.unit, quantity(m.periodQuantity), c.Format(m.period.list), c.Format(m.period.total),
				quantity(m.yearQuantity), c.Format(m.year.list), c.Format(m.year.total))
		}
		t.add(g.id, "total "+c.Code, "", "", c.Format(g.period.list), c.Format(g.period.total), "", c.Format(g.year.list), c.Format(g.year.total))
		for _, b := range g.balances {
			part := b.UsedAfter()
			balances.add(g.id, oneLine(b.title), b.Unit, quantity(b.Units), quantity(b.Drawn), quantity(b.Left), b.Until.String(),
				bar(part)+" "+percentOf(part)+" %", quantity(b.perDay), b.outlookText())
		}
	}
	head := fmt.Sprintf("%s, as of %s; fiscal year %d from %s", u.period, u.asOf, u.year, u.yearFrom)
	text := head + "\n\n" + t.text()
	for _, more := range []table{balances, u.limitsTable()} {
		if len(more.rows) > 0 {
			text += "\n" + more.text()
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

// yearName heads the columns of the fiscal year.
func (u *usageReport) yearName() string { return fmt.Sprintf("fiscal_year_%d", u.year) }

func (b *balanceUsage) outlookText() string {
	if b.outlook == runsOut {
		return "runs out on " + b.runsOut.String()
	}
	return string(b.outlook)
}

// rows is the report as one table: a row a meter, a balance, a limit, and the
// total of a group.
func (u *usageReport) rows() *table {
	c := u.currency
	t := &table{columns: columns("group", "name", "row", "meter", "unit", "allocation", "shared_by",
		"period_quantity", "period_list", "period_reductions", "period_added", "period_total", "year_quantity", "year_list", "year_reductions", "year_added", "year_total",
		"units", "opening", "deposits", "refunds", "drawn", "others", "left", "beyond", "overdraft", "from", "until", "percent_used", "units_per_day", "outlook", "runs_out", "per", "year_drawn")}
	amounts := func(x charged) []any {
		return []any{c.Plain(x.list), c.Plain(x.reductions), c.Plain(x.added()), c.Plain(x.total)}
	}
	blank := func(n int) []any { return make([]any, n) }
	for _, g := range u.groups {
		row := func(parts ...[]any) {
			var cells []any
			for _, p := range parts {
				cells = append(cells, p...)
			}
			t.add(cells...)
		}
		for _, m := range g.meters {
			row([]any{g.id, g.name, "meter", m.meter, m.unit, nil, nil, m.periodQuantity.String()}, amounts(m.period), []any{m.yearQuantity.String()}, amounts(m.year), blank(17))
		}
		row([]any{g.id, g.name, "total"}, blank(5), amounts(g.period), blank(1), amounts(g.year), blank(17))
		for _, b := range g.balances {
			row([]any{g.id, g.name, b.row(), b.Meter, b.Unit, b.Allocation, orNil(b.holder)}, blank(10), []any{b.Units.String(), b.Opening.String(), b.Deposits.String(), b.Refunds.String(), b.Drawn.String(), b.others.String(),
				b.Left.String(), b.Beyond.String(), b.Overdraft.String(), b.From.String(), b.Until.String(), percentOf(b.UsedAfter()), decimal(b.perDay), string(b.outlook), b.runsOut.String()}, blank(2))
		}
		for _, l := range g.limits {
			row([]any{g.id, g.name, l.kind(), nil, l.Unit, l.Rule, orNil(l.holder())}, blank(10), []any{u.amount(l.Limit), u.amount(l.Balance().Opening)}, blank(2),
				[]any{u.amount(l.Counted), u.amount(l.Others), u.amount(l.Left())}, blank(2), []any{l.From.String(), nil, percentOf(l.Used())}, blank(3), []any{l.Per.String(), u.amount(l.year)})
		}
	}
	return t
}

// row is what the table calls the row of a balance.
func (b *balanceUsage) row() string {
	if b.kind == "prepaid" {
		return "balance"
	}
	return b.kind
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// decimal prints a rate to six places: 1/31 has no end.
func decimal(x money.Exact) string { return x.Decimal(6, money.HalfEven) }

type usageJSON struct {
	Period         string           `json:"period"`
	AsOf           string           `json:"as_of"`
	DaysPassed     int              `json:"days_passed"`
	FiscalYear     int              `json:"fiscal_year"`
	FiscalYearFrom string           `json:"fiscal_year_from"`
	Currency       string           `json:"currency"`
	Groups         []groupUsageJSON `json:"groups"`
}

type groupUsageJSON struct {
	Group            string             `json:"group"`
	Name             string             `json:"name"`
	PeriodList       string             `json:"period_list"`
	PeriodReductions string             `json:"period_reductions"`
	PeriodAdded      string             `json:"period_added"`
	PeriodTotal      string             `json:"period_total"`
	YearList         string             `json:"year_list"`
	YearReductions   string             `json:"year_reductions"`
	YearAdded        string             `json:"year_added"`
	YearTotal        string             `json:"year_total"`
	Meters           []meterUsageJSON   `json:"meters"`
	Balances         []balanceUsageJSON `json:"balances"`
	Limits           []limitUsageJSON   `json:"limits"`
}

type meterUsageJSON struct {
	Meter            string `json:"meter"`
	Unit             string `json:"unit"`
	PeriodQuantity   string `json:"period_quantity"`
	PeriodList       string `json:"period_list"`
	PeriodReductions string `json:"period_reductions"`
	YearQuantity     string `json:"year_quantity"`
	YearList         string `json:"year_list"`
	YearReductions   string `json:"year_reductions"`
}

type balanceUsageJSON struct {
	Kind        string  `json:"kind"`
	Allocation  string  `json:"allocation"`
	SharedBy    *string `json:"shared_by"`
	Meter       string  `json:"meter"`
	Unit        string  `json:"unit"`
	Units       string  `json:"units"`
	Opening     string  `json:"opening"`
	Deposits    string  `json:"deposits"`
	Refunds     string  `json:"refunds"`
	Drawn       string  `json:"drawn"`
	Others      string  `json:"others"`
	Left        string  `json:"left"`
	Beyond      string  `json:"beyond"`
	Overdraft   string  `json:"overdraft"`
	From        *string `json:"from"`
	Until       *string `json:"until"`
	PercentUsed string  `json:"percent_used"`
	UnitsPerDay string  `json:"units_per_day"`
	Outlook     outlook `json:"outlook"`
	RunsOut     *string `json:"runs_out"`
}

func (u *usageReport) json() usageJSON {
	c := u.currency
	out := usageJSON{
		Period: u.period.String(), AsOf: u.asOf.String(), DaysPassed: u.daysPassed, FiscalYear: u.year,
		FiscalYearFrom: u.yearFrom.String(), Currency: c.Code, Groups: []groupUsageJSON{},
	}
	for _, g := range u.groups {
		group := groupUsageJSON{
			Group: g.id, Name: g.name, Meters: []meterUsageJSON{}, Balances: []balanceUsageJSON{}, Limits: []limitUsageJSON{},
			PeriodList: c.Plain(g.period.list), PeriodReductions: c.Plain(g.period.reductions), PeriodAdded: c.Plain(g.period.added()), PeriodTotal: c.Plain(g.period.total),
			YearList: c.Plain(g.year.list), YearReductions: c.Plain(g.year.reductions), YearAdded: c.Plain(g.year.added()), YearTotal: c.Plain(g.year.total),
		}
		for _, m := range g.meters {
			group.Meters = append(group.Meters, meterUsageJSON{
				Meter: m.meter, Unit: m.unit,
				PeriodQuantity: m.periodQuantity.String(), PeriodList: c.Plain(m.period.list), PeriodReductions: c.Plain(m.period.reductions),
				YearQuantity: m.yearQuantity.String(), YearList: c.Plain(m.year.list), YearReductions: c.Plain(m.year.reductions),
			})
		}
		for _, b := range g.balances {
			group.Balances = append(group.Balances, balanceUsageJSON{
				Kind: b.kind, Allocation: b.Allocation, SharedBy: textOrNull(b.holder), Meter: b.Meter, Unit: b.Unit, Units: b.Units.String(), Opening: b.Opening.String(),
				Deposits: b.Deposits.String(), Refunds: b.Refunds.String(), Drawn: b.Drawn.String(), Others: b.others.String(), Left: b.Left.String(),
				Beyond: b.Beyond.String(), Overdraft: b.Overdraft.String(), From: dateOrNull(b.From), Until: dateOrNull(b.Until),
				PercentUsed: percentOf(b.UsedAfter()), UnitsPerDay: decimal(b.perDay), Outlook: b.outlook, RunsOut: dateOrNull(b.runsOut),
			})
		}
		for i := range g.limits {
			group.Limits = append(group.Limits, u.limitJSON(&g.limits[i]))
		}
		out.Groups = append(out.Groups, group)
	}
	return out
}

func dateOrNull(d rates.Date) *string { return textOrNull(d.String()) }

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
