package html

import (
	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/templates"
)

// balance is the statement of one prepaid allocation, or of an allowance. The bar is a thousand
// wide: what is left, then what this period drew, then what was gone before.
type balance struct {
	Name, Until, Summary        string
	Warning                     string // that it is overdrawn
	LeftPerMille, DrawnPerMille int64
	Figures                     []fact
}

func balancesOf(balances []invoice.Balance, words templates.Words) []balance {
	var all []balance
	for _, b := range balances {
		all = append(all, balanceOf(b, words))
	}
	return all
}

// allowancesOf states the allowances.
func allowancesOf(pools []invoice.Pool, words templates.Words) []balance {
	var all []balance
	for i := range pools {
		p := &pools[i]
		s := balanceOf(p.Balance(), words)
		s.Name = templates.Visible(p.Title())
		for _, more := range []struct {
			key string
			of  money.Exact
		}{{"balance.carried", p.Carried}, {"balance.others", p.Others}} {
			if more.of.Sign() != 0 {
				s.Figures = append(s.Figures, fact{Label: words.Say(more.key), Text: words.Number(shortest(more.of, 0, maxQuantityPlaces))})
			}
		}
		all = append(all, s)
	}
	return all
}

func balanceOf(b invoice.Balance, words templates.Words) balance {
	set := func(x money.Exact) string { return words.Number(shortest(x, 0, maxQuantityPlaces)) }
	s := balance{
		Name: templates.Visible(b.Allocation),
		Summary: templates.Visible(words.Say("balance.of",
			"left", set(b.Left), "units", set(b.Units), "unit", words.Unit(b.Unit))),
		Figures: []fact{
			{Label: words.Say("balance.units"), Text: set(b.Units)},
			{Label: words.Say("balance.opening"), Text: set(b.Opening)},
		},
	}
	for _, moved := range []struct {
		key string
		of  money.Exact
	}{{"balance.deposits", b.Deposits}, {"balance.refunds", b.Refunds}} {
		if moved.of.Sign() != 0 {
			s.Figures = append(s.Figures, fact{Label: words.Say(moved.key), Text: set(moved.of)})
		}
	}
	s.Figures = append(s.Figures,
		fact{Label: words.Say("balance.drawn"), Text: set(b.Drawn)},
		fact{Label: words.Say("balance.left"), Text: set(b.Left), Alarm: b.Left.Sign() <= 0})
	if !b.Until.IsZero() {
		s.Until = words.Say("balance.until", "date", words.Date(b.Until.Year, b.Until.Month, b.Until.Day))
	}
	if b.Beyond.Sign() != 0 {
		s.Figures = append(s.Figures, fact{Label: words.Say(beyondKey(b)), Text: set(b.Beyond), Alarm: true})
		if b.Overdraft == rates.OverdraftWarn {
			s.Warning = templates.Visible(words.Say("balance.overdrawn", "beyond", set(b.Beyond), "unit", words.Unit(b.Unit)))
		}
	}
	s.LeftPerMille = perMille(b.Left, b.Units)
	s.DrawnPerMille = min(perMille(b.Drawn, b.Units), 1000-s.LeftPerMille)
	return s
}

// counted says what tiers count over the fiscal year.
func counted(c invoice.Counter, words templates.Words) string {
	set := func(x money.Exact) string { return words.Number(shortest(x, 0, maxQuantityPlaces)) }
	return templates.Visible(words.Say("tiers.counted", "unit", words.Unit(c.Unit), "meter", c.Meter,
		"date", words.Date(c.From.Year, c.From.Month, c.From.Day), "opening", set(c.Opening), "counted", set(c.Counted)))
}

// limited says what a rule took or charged of its limit, and who shares it.
func limited(p *invoice.Pool, words templates.Words) string {
	set := func(x money.Exact) string { return words.Number(shortest(x, 2, maxQuantityPlaces)) }
	key := "limit.gives"
	if p.Kind == invoice.Cap {
		key = "limit.charges"
	}
	text := words.Say(key, "rule", p.Rule, "limit", set(p.Limit), "unit", words.Unit(p.Unit),
		"per", words.Say("per."+p.Per.String()), "opening", set(p.Opening), "counted", set(p.Counted), "left", set(p.Left()))
	switch {
	case p.SharedBy == rates.ByGroup:
	case p.Of == "":
		text += " " + words.Say("limit.shared.all", "others", set(p.Others))
	default:
		text += " " + words.Say("limit.shared", "of", p.Of, "others", set(p.Others))
	}
	return templates.Visible(text)
}

// beyondKey tells what became of the use beyond an allocation.
func beyondKey(b invoice.Balance) string {
	if b.Overdraft == rates.OverdraftWaive {
		return "balance.beyond.waived"
	}
	return "balance.beyond.billed"
}

// perMille is part ÷ whole in thousandths, within 0 and 1000.
func perMille(part, whole money.Exact) int64 {
	share, ok := part.Mul(money.Int(1000)).Quo(whole)
	if !ok || share.Sign() <= 0 {
		return 0
	}
	if share.Cmp(money.Int(1000)) >= 0 {
		return 1000
	}
	n, _ := share.Round(0, money.HalfEven).Int64()
	return n
}
