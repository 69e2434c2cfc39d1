// Package html writes an invoice as one self-contained, print-ready page: no
// script, no font and no picture is loaded from anywhere.
//
// It owns what stands where on the page. The words and the look are in package
// templates; the figures are the invoice's own and are only set, never
// computed anew.
package html

import (
	"fmt"
	"html/template"
	"io"

	"hpcbill/invoice"
	"hpcbill/templates"
)

// Extras is what a page shows besides the invoice. The zero value shows
// nothing more.
type Extras struct {
	// ChainHead is the digest of the history's entry that issued the invoice.
	ChainHead string
	// Storage is what the group held in the period.
	Storage []Holding
	// Meanings says for a meter what one of its units is, in place of the
	// words that package templates has for the usual units.
	Meanings map[string]string
}

// Write writes the page of one invoice, in its group's language. An invoice
// whose total is not the sum of its lines, an unknown language, zone or period
// are errors, and then nothing is written.
func Write(w io.Writer, inv invoice.Invoice, extras Extras) error {
	page, err := newPage(inv, extras)
	if err != nil {
		return fmt.Errorf("draw the invoice of %q for %s: %w", inv.Group.ID, inv.Period, err)
	}
	return execute(w, "invoice.html.tmpl", page)
}

func execute(w io.Writer, name string, page any) error {
	t, err := template.New(name).Parse(templates.Page(name))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return t.Execute(w, page)
}
