package invoice

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"hpcbill/rates/money"
)

// Canonical is the invoice as text from which its digest is taken, one field
// after the other in the order below and all of them, written as
//
//	NAME=LENGTH:VALUE\n
//
// where LENGTH is the number of bytes of VALUE, so that no value can pass for
// another field. Numbers are in decimal; exact numbers as a decimal where they
// have a finite one, else as numerator/denominator in lowest terms; amounts in
// minor units; days as 2026-03-31. A list is its length under its name, then
// its items. What came later than the format is written only where there is
// some. The first field is "hpcbill invoice=1:1", the format's version.
func (inv *Invoice) Canonical() []byte {
	var w canonicalWriter
	w.text("hpcbill invoice", "1")
	w.text("number", inv.Number)
	w.text("issued", inv.Issued)
	inv.content(&w, true)
	return w.Bytes()
}

// Digest is the SHA-256 of the canonical text, in hexadecimal.
func (inv *Invoice) Digest() string { return digest(inv.Canonical()) }

// ContentDigest tells whether two invoices say the same: it is the digest of
// the canonical text without number, issue date and the digests of the cards.
// (A card's file gains versions for later months; what this month was billed
// by is named by card and version, and shows in the prices.)
func (inv *Invoice) ContentDigest() string {
	var w canonicalWriter
	w.text("hpcbill invoice content", "1")
	inv.content(&w, false)
	return digest(w.Bytes())
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (inv *Invoice) content(w *canonicalWriter, cardDigests bool) {
	w.text("period", inv.Period)
	w.text("zone", inv.Zone)
	w.text("issuer.name", inv.Issuer.Name)
	w.text("issuer.address", inv.Issuer.Address)
	w.text("issuer.email", inv.Issuer.Email)
	w.text("issuer.tax_id", inv.Issuer.TaxID)
	w.text("issuer.footer", inv.Issuer.Footer)
	inv.Group.content(w)
	w.text("currency", inv.Currency.Code)
	w.int("currency.digits", int64(inv.Currency.Digits))
	w.text("rounding", inv.Rounding.String())
	w.int("lines", int64(len(inv.Lines)))
	for i := range inv.Lines {
		inv.Lines[i].content(w, cardDigests)
	}
	w.int("list", int64(inv.List))
	w.int("reductions", int64(inv.Reductions))
	w.int("total", int64(inv.Total))
	for _, later := range []struct {
		name string
		sum  money.Amount
	}{{"manual", inv.Manual}, {"prior", inv.Prior}, {"overhead", inv.Overhead}, {"tax", inv.Tax}} {
		if later.sum != 0 {
			w.int(later.name, int64(later.sum))
		}
	}
	w.int("balances", int64(len(inv.Balances)))
	for i := range inv.Balances {
		inv.Balances[i].content(w)
	}
	if len(inv.Counters) > 0 { // an invoice without them reads as it did before there were any
		w.int("counters", int64(len(inv.Counters)))
		for i := range inv.Counters {
			inv.Counters[i].content(w)
		}
	}
	if len(inv.Late) > 0 {
		w.int("late", int64(len(inv.Late)))
		for i := range inv.Late {
			inv.Late[i].content(w)
		}
	}
	if len(inv.Pools) > 0 {
		w.int("pools", int64(len(inv.Pools)))
		for i := range inv.Pools {
			inv.Pools[i].content(w)
		}
	}
	w.int("jobs", inv.Jobs)
	if len(inv.Taxes) > 0 {
		w.int("taxes", int64(len(inv.Taxes)))
		for i := range inv.Taxes {
			inv.Taxes[i].content(w)
		}
	}
	if len(inv.Funds) > 0 {
		w.int("funds", int64(len(inv.Funds)))
		for i := range inv.Funds {
			inv.Funds[i].content(w)
		}
	}
}

func (r *Recipient) content(w *canonicalWriter) {
	w.text("group.id", r.ID)
	w.text("group.name", r.Name)
	w.text("group.pi", r.PI)
	w.text("group.department", r.Department)
	w.text("group.class", r.Class)
	w.text("group.address", r.Address)
	w.text("group.po", r.PO)
	w.text("group.fund", r.Fund)
	if r.TaxID != "" {
		w.text("group.tax_id", r.TaxID)
	}
	w.text("group.language", r.Language)
	w.int("group.contacts", int64(len(r.Contacts)))
	for _, contact := range r.Contacts {
		w.text("group.contact", contact)
	}
}

func (l *Line) content(w *canonicalWriter, cardDigests bool) {
	w.int("line.position", int64(l.Position))
	w.text("line.kind", string(l.Kind))
	w.text("line.cluster", l.Cluster)
	w.text("line.meter", l.Meter)
	w.text("line.unit", l.Unit)
	w.text("line.description", l.Description)
	w.text("line.price_label", l.PriceLabel)
	w.text("line.quantity", l.Quantity.String())
	w.text("line.price", l.Price.String())
	w.text("line.exact", l.Exact.String())
	w.int("line.amount", int64(l.Amount))
	w.int("line.jobs", l.Jobs)
	w.text("line.code", l.Code)
	w.text("line.reason", l.Reason)
	w.int("line.of", int64(l.Of))
	w.text("line.card", l.Card)
	if cardDigests {
		w.text("line.card_digest", l.CardDigest)
	}
	w.text("line.version", l.Version.String())
	if l.Reference != "" {
		w.text("line.reference", l.Reference)
		w.text("line.author", l.Author)
	}
}

func (b *Balance) content(w *canonicalWriter) {
	w.text("balance.allocation", b.Allocation)
	w.text("balance.meter", b.Meter)
	w.text("balance.unit", b.Unit)
	w.text("balance.units", b.Units.String())
	w.text("balance.from", b.From.String())
	w.text("balance.until", b.Until.String())
	w.text("balance.overdraft", b.Overdraft.String())
	w.text("balance.opening", b.Opening.String())
	if b.Deposits.Sign() != 0 {
		w.text("balance.deposits", b.Deposits.String())
	}
	if b.Refunds.Sign() != 0 {
		w.text("balance.refunds", b.Refunds.String())
	}
	w.text("balance.drawn", b.Drawn.String())
	w.text("balance.left", b.Left.String())
	w.text("balance.beyond", b.Beyond.String())
}

func (c *Counter) content(w *canonicalWriter) {
	w.text("counter.card", c.Card)
	w.text("counter.meter", c.Meter)
	w.text("counter.of", string(c.kind()))
	w.text("counter.unit", c.Unit)
	w.text("counter.from", c.From.String())
	w.text("counter.opening", c.Opening.String())
	w.text("counter.counted", c.Counted.String())
}

// canonicalWriter writes fields that cannot be mistaken for one another.
type canonicalWriter struct{ bytes.Buffer }

func (w *canonicalWriter) text(name, value string) {
	w.WriteString(name)
	w.WriteByte('=')
	w.WriteString(strconv.Itoa(len(value)))
	w.WriteByte(':')
	w.WriteString(value)
	w.WriteByte('\n')
}

func (w *canonicalWriter) int(name string, value int64) {
	w.text(name, strconv.FormatInt(value, 10))
}
