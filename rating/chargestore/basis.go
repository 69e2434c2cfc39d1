package chargestore

import (
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// basis is a combination of inBasis as rating gives it, with its number: to
// find it again without printing its price.
type basis struct {
	verdict            rating.Verdict
	code, detail       string
	meter, unit, label string
	price              money.Exact
	reason             rating.Reason
	known              bool
	number             uint32
}

// how many bases are remembered; a power of two.
const rememberedBases = 1 << 10

// basis gives the number of what the row was charged by.
func (l *Lexicon) basis(o *rating.Outcome, c *rating.Charge, charged bool) uint32 {
	h := uint64(c.Reason.Line)<<8 ^ uint64(len(c.Meter))<<4 ^ uint64(len(o.Cause.Detail)) ^ uint64(o.Verdict)<<20
	h = (h ^ uint64(len(c.PriceLabel))<<24) * 0x9E3779B97F4A7C15
	e := &l.bases[h>>54&(rememberedBases-1)]
	if e.known && e.price == c.Price && e.verdict == o.Verdict && e.meter == c.Meter && e.label == c.PriceLabel &&
		e.reason == c.Reason && e.unit == c.Unit && e.code == o.Cause.Code && e.detail == o.Cause.Detail {
		return e.number
	}
	price := ""
	if charged {
		price = c.Price.String()
	}
	r := &c.Reason
	n := l.bundles[inBasis].number([]string{o.Verdict.String(), o.Cause.Code, o.Cause.Detail, c.Meter, c.Unit, price,
		c.PriceLabel, r.Card, r.CardDigest, r.Version.String(), r.Rule, r.File})
	*e = basis{o.Verdict, o.Cause.Code, o.Cause.Detail, c.Meter, c.Unit, c.PriceLabel, c.Price, *r, true, n}
	return n
}
