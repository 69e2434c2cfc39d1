package rates

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hpcbill/rates/money"
	"hpcbill/rates/nearest"

	"go.yaml.in/yaml/v3"
)

// maxFundPatternBytes bounds the regular expression of fund_pattern:.
const maxFundPatternBytes = 1024

// fundPattern reads the form that every fund must have, from its first letter
// to its last.
func (l *rosterLoader) fundPattern(n *yaml.Node) {
	text, ok := l.Text(n, "fund_pattern")
	if !ok {
		return
	}
	pattern, err := regexp.Compile("^(?:" + text + ")$")
	if err != nil || len(text) > maxFundPatternBytes {
		l.Fault(n, "fund_pattern", fmt.Sprintf("%q is not a regular expression", text), `write one in single quotes, such as '\d{4}-\d{3}'`)
		return
	}
	l.fundForm, l.roster.FundPattern = pattern, text
}

// fundCodes reads the funds that there are, and when they may be charged.
func (l *rosterLoader) fundCodes(n *yaml.Node) {
	for i, item := range l.ItemsOrNone(n, "fund_codes") {
		path := fmt.Sprintf("fund_codes[%d]", i)
		c := &FundCode{Line: item.Line}
		for _, f := range l.Fields(item, path, "code", "name", "from", "until") {
			at := path + "." + f.Key
			switch f.Key {
			case "code":
				c.Code = l.fundText(f.Value, at)
				if other := l.roster.FundCode(c.Code); other != nil && c.Code != "" {
					l.Fault(f.Value, at, fmt.Sprintf("fund %q is already listed on line %d", c.Code, other.Line), "keep one of the two")
				}
			case "name":
				c.Name = l.line(f.Value, at)
			case "from":
				c.From = l.date(f.Value, at)
			case "until":
				c.Until = l.date(f.Value, at)
			}
		}
		if c.Code == "" && item.Kind == yaml.MappingNode {
			l.Fault(item, path, "needs a code", `write  {code: "0012-345", from: 2025-07-01, until: 2026-07-01}`)
		}
		l.checkSpan(item, path, c.From, c.Until)
		l.roster.FundCodes = append(l.roster.FundCodes, c)
	}
}

// fundText reads a fund's code and holds it against the pattern.
func (l *rosterLoader) fundText(n *yaml.Node, path string) string {
	fund := l.line(n, path)
	if fund != "" && l.fundForm != nil && !l.fundForm.MatchString(fund) {
		l.Fault(n, path, fmt.Sprintf("%q has not the form that fund_pattern: asks for (%s)", fund, l.roster.FundPattern), "")
	}
	return fund
}

// fund reads the code of a fund that a group charges, and finds it among the
// codes where they are listed.
func (l *rosterLoader) fund(n *yaml.Node, path string) string {
	fund := l.fundText(n, path)
	if fund != "" && l.roster.FundCodes != nil && l.roster.FundCode(fund) == nil {
		var known []string
		for _, c := range l.roster.FundCodes {
			known = append(known, c.Code)
		}
		l.Fault(n, path, fmt.Sprintf("fund %q is not under fund_codes:", fund), nearest.Remedy(fund, known))
	}
	return fund
}

var fundSplitFields = []string{"fund", "percent", "amount", "remainder", "users", "meters", "from", "until"}

func (l *rosterLoader) fundSplit(n *yaml.Node, path string) *FundSplit {
	s := &FundSplit{Line: n.Line, Column: n.Column}
	shares := 0
	for _, f := range l.Fields(n, path, fundSplitFields...) {
		at := path + "." + f.Key
		switch f.Key {
		case "fund":
			s.Fund = l.fund(f.Value, at)
		case "percent":
			shares++
			s.Percent = l.percent(f.Value, at)
		case "amount":
			shares++
			s.Amount = l.fixedAmount(f.Value, at)
		case "remainder":
			shares++
			s.Remainder = true
			if text, ok := l.Text(f.Value, at); ok && text != "true" {
				l.Fault(f.Value, at, fmt.Sprintf("%q is not true", text), "remainder: true marks the fund that takes the rest")
			}
		case "users":
			s.Users = l.patterns(f.Value, at)
		case "meters":
			s.Meters = l.patterns(f.Value, at)
		case "from":
			s.From = l.date(f.Value, at)
		case "until":
			s.Until = l.date(f.Value, at)
		}
	}
	if n.Kind == yaml.MappingNode {
		if s.Fund == "" {
			l.Fault(n, path, "names no fund", `write  {fund: "0012-345", percent: "60"}`)
		}
		if shares != 1 {
			l.Fault(n, path, "needs one of percent, amount and remainder", `write  percent: "60"  or  amount: "500.00"  or  remainder: true`)
		}
	}
	l.checkSpan(n, path, s.From, s.Until)
	l.checkValidity(n, path, s)
	return s
}

// percent reads "60", "33.4" or "100/3", within 0 and 100.
func (l *rosterLoader) percent(n *yaml.Node, path string) money.Exact {
	text, ok := l.Text(n, path)
	if !ok {
		return money.Exact{}
	}
	percent, err := ParsePercent(text)
	if err != nil {
		l.Fault(n, path, err.Error(), `write a number such as "60", "12.5" or "100/3"`)
	}
	return percent
}

// ParsePercent reads a percentage above 0 and up to 100: a plain decimal, or a
// fraction such as 100/3.
func ParsePercent(text string) (money.Exact, error) {
	numerator, denominator, fraction := strings.Cut(strings.TrimSpace(strings.TrimSuffix(text, "%")), "/")
	percent, err := money.ParseDecimal(strings.TrimSpace(numerator))
	if err == nil && fraction {
		var over money.Exact
		over, err = money.ParseDecimal(strings.TrimSpace(denominator))
		percent, ok := percent.Quo(over)
		if err == nil && ok {
			return inHundred(text, percent)
		}
		err = fmt.Errorf("%q is not a fraction", text)
	}
	if err != nil {
		return money.Exact{}, err
	}
	return inHundred(text, percent)
}

func inHundred(text string, percent money.Exact) (money.Exact, error) {
	if percent.Sign() <= 0 || percent.Cmp(money.Int(100)) > 0 {
		return money.Exact{}, fmt.Errorf("%s is not above 0 and up to 100", text)
	}
	return percent, nil
}

func (l *rosterLoader) fixedAmount(n *yaml.Node, path string) money.Exact {
	amount, text, ok := decimalAt(l.File, n, path, `"500.00"`)
	if ok && amount.Sign() <= 0 {
		l.Fault(n, path, fmt.Sprintf("an amount of %s pays nothing", text), "write what the fund pays a month at most")
	}
	return amount
}

// checkValidity sees to it that a split ends with its fund.
func (l *rosterLoader) checkValidity(n *yaml.Node, path string, s *FundSplit) {
	c := l.roster.FundCode(s.Fund)
	if c == nil || s.Fund == "" {
		return
	}
	if !c.From.IsZero() && (s.From.IsZero() || s.From.Before(c.From)) {
		l.Fault(n, path, fmt.Sprintf("fund %s may be charged from %s on (line %d), the split begins before", s.Fund, c.From, c.Line),
			"give the split  from: "+c.From.String())
	}
	if !c.Until.IsZero() && (s.Until.IsZero() || c.Until.Before(s.Until)) {
		l.Fault(n, path, fmt.Sprintf("fund %s may be charged until %s (line %d), the split goes on after", s.Fund, c.Until, c.Line),
			"give the split  until: "+c.Until.String()+"  and another fund from that day on")
	}
}

// checkFunds sees to it that a group's splits total 100 % on every day between
// the first and the last of them, for each thing that is split.
func (l *rosterLoader) checkFunds(g *Group, path string) {
	if len(g.Funds) == 0 {
		return
	}
	if g.Fund != "" {
		l.fundFault(g.Funds[0], path, "the group has a fund: too", "keep fund: for one code, funds: for splits")
	}
	var keys []string
	byKey := map[string][]*FundSplit{}
	for _, s := range g.Funds {
		key := s.key()
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = append(byKey[key], s)
	}
	rest := (&FundSplit{}).key()
	if byKey[rest] == nil {
		l.fundFault(g.Funds[0], path, "all splits name users or meters, and nothing pays the rest", `add splits without users: and meters: for it`)
		return
	}
	span := envelope(byKey[rest])
	for _, key := range keys {
		splits := byKey[key]
		own := envelope(splits)
		if key != rest && (!span.From.IsZero() && (own.From.IsZero() || own.From.Before(span.From)) ||
			!span.Until.IsZero() && (own.Until.IsZero() || span.Until.Before(own.Until))) {
			l.fundFault(splits[0], path, "holds on days on which nothing pays the rest", "let the splits without users: and meters: hold at least as long")
			continue
		}
		l.checkTotals(splits, path, own, key == rest)
	}
}

// checkTotals looks at each segment of days in which the same splits hold.
func (l *rosterLoader) checkTotals(splits []*FundSplit, path string, span Days, rest bool) {
	var bounds []Date
	for _, s := range splits {
		bounds = append(bounds, s.From, s.Until)
	}
	for _, days := range segments(bounds, span.From, span.Until) {
		var held []*FundSplit
		for _, s := range splits {
			if days.From.within(s.From, s.Until) {
				held = append(held, s)
			}
		}
		if len(held) == 0 {
			if rest {
				l.fundFault(splits[0], path, "no fund pays on "+days.String(), "let the splits meet: until: of one is from: of the next")
			}
			continue
		}
		l.checkHeld(held, path, days)
	}
}

// checkHeld checks the splits that hold on the same days.
func (l *rosterLoader) checkHeld(held []*FundSplit, path string, days Days) {
	remainders := 0
	for i, s := range held {
		if s.Remainder {
			remainders++
		}
		if j := slices.IndexFunc(held[:i], func(o *FundSplit) bool { return o.Fund == s.Fund }); j >= 0 && s.Fund != "" {
			l.fundFault(s, path, fmt.Sprintf("fund %s has a share by line %d already on %s", s.Fund, held[j].Line, days), "add the two up")
		}
	}
	total := percentOf(held)
	switch full := total.Cmp(money.Int(100)); {
	case remainders > 1:
		l.fundFault(held[len(held)-1], path, fmt.Sprintf("%d funds take the remainder on %s", remainders, days), "mark one")
	case remainders == 1 && full >= 0:
		l.fundFault(held[0], path, fmt.Sprintf("the percentages total %s on %s and leave nothing for the remainder", total, days), "")
	case remainders == 0 && full != 0:
		l.fundFault(held[0], path, fmt.Sprintf("the percentages total %s, not 100, on %s", total, days), "make them total 100, or mark the fund that takes the rest  remainder: true")
	}
}

func (l *rosterLoader) fundFault(s *FundSplit, path, message, remedy string) {
	l.Faults = append(l.Faults, Fault{File: l.Name, Line: s.Line, Column: s.Column, Field: path + ".funds", Message: message, Remedy: remedy})
}

// envelope is from the first day on which one of the splits holds until the
// last.
func envelope(splits []*FundSplit) Days {
	span := Days{splits[0].From, splits[0].Until}
	for _, s := range splits[1:] {
		if s.From.IsZero() || !span.From.IsZero() && s.From.Before(span.From) {
			span.From = s.From
		}
		if s.Until.IsZero() || !span.Until.IsZero() && span.Until.Before(s.Until) {
			span.Until = s.Until
		}
	}
	return span
}
