package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rates/nearest"

	"go.yaml.in/yaml/v3"
)

// overheads reads invoice.overhead: percentages that are added to the bills of
// some classes.
func (l *configLoader) overheads(n *yaml.Node) {
	for i, item := range l.ItemsOrNone(n, "invoice.overhead") {
		path := fmt.Sprintf("invoice.overhead[%d]", i)
		r := invoice.OverheadRule{Name: "Overhead", Line: item.Line}
		for _, f := range l.Fields(item, path, "name", "percent", "class", "from", "until") {
			at := path + "." + f.Key
			text, _ := l.scalar(f.Value, at)
			switch f.Key {
			case "name":
				r.Name = text
			case "percent":
				r.Percent = l.percent(f.Value, at, text)
			case "class":
				r.Classes = l.words(f.Value, at)
			case "from":
				r.From = l.day(f.Value, at, text)
			case "until":
				r.Until = l.day(f.Value, at, text)
			}
		}
		if r.Percent.Sign() == 0 {
			l.Fault(item, path, "needs a percentage", `write  {class: external, percent: "15"}`)
		}
		l.checkDays(item, path, r.From, r.Until)
		l.Invoice.Overhead = append(l.Invoice.Overhead, r)
	}
}

// taxes reads invoice.tax.
func (l *configLoader) taxes(n *yaml.Node) {
	var nodes []*yaml.Node
	for i, item := range l.ItemsOrNone(n, "invoice.tax") {
		path := fmt.Sprintf("invoice.tax[%d]", i)
		r := l.tax(item, path)
		if r.Name == "" {
			l.Fault(item, path, "needs a name", `write  {name: VAT, percent: "19", class: external}`)
		}
		if r.Percent.Sign() == 0 && r.Mode != invoice.TaxReverseCharge {
			l.Fault(item, path, "needs a percentage", `write  {name: VAT, percent: "19", class: external}`)
		}
		if r.Mode == invoice.TaxReverseCharge && (r.Percent.Sign() != 0 || r.Note == "") {
			l.Fault(item, path, "a reverse charge has a note and no percentage", "the note is what the law asks to be printed")
		}
		l.checkDays(item, path, r.From, r.Until)
		for j, other := range l.Invoice.Tax {
			switch {
			case !clash(&r, &other):
			case r.Mode == invoice.TaxExclusive && other.Mode == invoice.TaxExclusive:
				l.Fault(item, path, fmt.Sprintf("%s is on the same lines by line %d already, and would be added twice", r.Name, nodes[j].Line),
					"part them by class:, kinds:, from: or until:")
			default:
				l.Fault(item, path, fmt.Sprintf("%s and %s (line %d) are on the same lines, and one of them is not exclusive", r.Name, other.Name, nodes[j].Line),
					"part them by class:, kinds:, from: or until:")
			}
		}
		l.Invoice.Tax = append(l.Invoice.Tax, r)
		nodes = append(nodes, item)
	}
}

func (l *configLoader) tax(item *yaml.Node, path string) invoice.TaxRule {
	r := invoice.TaxRule{Line: item.Line, Of: invoice.Taxable()}
	for _, f := range l.Fields(item, path, "name", "percent", "class", "kinds", "mode", "note", "from", "until") {
		at := path + "." + f.Key
		text, _ := l.scalar(f.Value, at)
		switch f.Key {
		case "name":
			r.Name = text
		case "percent":
			r.Percent = l.percent(f.Value, at, text)
		case "class":
			r.Classes = l.words(f.Value, at)
		case "kinds":
			r.Of = l.kinds(f.Value, at)
		case "mode":
			mode, err := invoice.ParseTaxMode(text)
			l.check(f.Value, at, err, "exclusive: added to the bill; inclusive: contained in the prices; reverse_charge: owed by the recipient")
			r.Mode = mode
		case "note":
			r.Note = text
		case "from":
			r.From = l.day(f.Value, at, text)
		case "until":
			r.Until = l.day(f.Value, at, text)
		}
	}
	return r
}

// kinds reads what a tax is on.
func (l *configLoader) kinds(n *yaml.Node, path string) []invoice.Kind {
	var known []string
	for _, k := range invoice.Taxable() {
		known = append(known, string(k))
	}
	var kinds []invoice.Kind
	for _, word := range l.words(n, path) {
		if !slices.Contains(known, word) {
			l.Fault(n, path, fmt.Sprintf("%q is no kind of line that is taxed", word), nearest.Remedy(word, known))
		}
		kinds = append(kinds, invoice.Kind(word))
	}
	return kinds
}

// words reads a word or a list of them.
func (l *configLoader) words(n *yaml.Node, path string) []string {
	var words []string
	for _, item := range l.OneOrMany(n, path) {
		word, ok := l.Text(item, path)
		if ok && slices.Contains(words, word) {
			l.Fault(item, path, fmt.Sprintf("%q is listed twice", word), "")
		}
		words = append(words, word)
	}
	return words
}

// scalar reads a single value where there is one: class: and kinds: may be
// lists.
func (l *configLoader) scalar(n *yaml.Node, path string) (string, bool) {
	if n.Kind == yaml.SequenceNode {
		return "", false
	}
	return l.Text(n, path)
}

// percent reads a percentage; a faulty one is not nothing, so that it is not
// missing as well.
func (l *configLoader) percent(n *yaml.Node, path, text string) money.Exact {
	percent, err := rates.ParsePercent(text)
	if err != nil {
		l.Fault(n, path, err.Error(), `write a number such as "19" or "7.7"`)
		return money.Int(100)
	}
	return percent
}

func (l *configLoader) day(n *yaml.Node, path, text string) rates.Date {
	d, err := rates.ParseDate(text)
	l.check(n, path, err, "write year-month-day, a day that exists")
	return d
}

func (l *configLoader) checkDays(n *yaml.Node, path string, from, until rates.Date) {
	if !from.IsZero() && !until.IsZero() && !from.Before(until) {
		l.Fault(n, path, fmt.Sprintf("holds from %s until %s, which is no day", from, until), "until is the first day on which it no longer holds")
	}
}

// clash reports whether two taxes are on one line at one time and cannot be
// added up: only exclusive ones can, and none twice.
func clash(a, b *invoice.TaxRule) bool {
	if a.Mode == invoice.TaxExclusive && b.Mode == invoice.TaxExclusive && a.Name != b.Name {
		return false
	}
	if !a.Until.IsZero() && !b.From.IsZero() && !b.From.Before(a.Until) ||
		!b.Until.IsZero() && !a.From.IsZero() && !a.From.Before(b.Until) {
		return false
	}
	classes := len(a.Classes) == 0 || len(b.Classes) == 0 ||
		slices.ContainsFunc(a.Classes, func(c string) bool { return slices.Contains(b.Classes, c) })
	return classes && slices.ContainsFunc(a.Of, func(k invoice.Kind) bool { return slices.Contains(b.Of, k) })
}

// checkClasses finds overhead and taxes of classes that no group has: a
// misspelt one would be added to no bill.
func (in *inputs) checkClasses() error {
	var known []string
	for _, g := range in.roster.Groups {
		known = append(known, g.Class)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	var errs []error
	check := func(line int, field string, classes []string) {
		for _, c := range classes {
			if !slices.Contains(known, c) {
				errs = append(errs, rates.Fault{File: configFile, Line: line, Field: field,
					Message: fmt.Sprintf("no group of %s is of class %q", in.config.RosterFile, c),
					Remedy:  "its groups are of class " + strings.Join(known, ", ") + "; leave the rule out until one is of this class"})
			}
		}
	}
	for _, r := range in.config.Invoice.Overhead {
		check(r.Line, "invoice.overhead.class", r.Classes)
	}
	for _, r := range in.config.Invoice.Tax {
		check(r.Line, "invoice.tax.class", r.Classes)
	}
	return errors.Join(errs...)
}
