package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"hpcbill/ingest"
	"hpcbill/invoice/history"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// lateStorage is storage of an issued month of which something else is said
// today than when the last month was issued. No invoice has it: quotas are what
// people write down, so that a person decides.
type lateStorage struct {
	month, group, place string
	by                  money.Exact // at list price; 0 where tiers decide it
}

// storageSince compares what is said today of the storage of the months before
// p with then, what was said when the last of them was issued. Of listings the
// last month alone is compared: the history keeps no others with it.
func (s *site) storageSince(ctx context.Context, p rates.Period, then *inputs) ([]lateStorage, error) {
	last := p.Previous()
	if same, err := then.sameStorage(s.inputs, last); err != nil || same {
		return nil, err
	}
	first := s.config.FirstPeriod
	if len(then.storage.listings)+len(s.storage.listings) > 0 {
		first = last
	}
	var all []lateStorage
	for q := first; q.Start.Before(p.Start); q = q.Next() {
		changed, err := s.storageOtherwise(ctx, q, then)
		if err != nil {
			return nil, fmt.Errorf("%s, as it was issued: %w", q, err)
		}
		all = append(all, changed...)
	}
	return all, nil
}

// sameStorageTexts reports whether storage was written down to the byte as it is
// today. What listings say hangs on the configuration and the roster, too.
func (s *site) sameStorageTexts(then []history.Text) bool {
	if len(s.config.StorageSources) > 0 {
		return false
	}
	was := slices.IndexFunc(then, func(t history.Text) bool { return t.Kind == storageText || t.Kind == listingText })
	is := slices.IndexFunc(s.texts, func(t inputText) bool { return s.storage.kinds[t.name] == storageText })
	if was < 0 || is < 0 {
		return was == is
	}
	return then[was].Kind == storageText && bytes.Equal(then[was].Body, s.texts[is].text)
}

// sameStorage reports whether two inputs say the same of the storage of p.
func (in *inputs) sameStorage(other *inputs, p rates.Period) (bool, error) {
	a, _, err := in.storageOf(p)
	if err != nil {
		return false, err
	}
	b, _, err := other.storageOf(p)
	return slices.EqualFunc(a.Holdings, b.Holdings, func(x, y ingest.Holding) bool {
		x.Source, y.Source = ingest.Source{}, ingest.Source{}
		samples := slices.Equal(x.Samples, y.Samples)
		x.Samples, y.Samples = nil, nil
		return samples && fmt.Sprint(x) == fmt.Sprint(y)
	}), err
}

// storageOtherwise gives the storage of an issued month that would be charged
// otherwise today, under the card that billed it, than it was then.
func (s *site) storageOtherwise(ctx context.Context, q rates.Period, then *inputs) ([]lateStorage, error) {
	recorded, err := s.history.Evidence(ctx, q.String())
	if err != nil {
		return nil, err
	}
	in, err := recordedInputs(recorded)
	if err != nil {
		return nil, err
	}
	rater := rating.NewRater(in.tariff())
	before, err := chargedStorage(rater, then, q)
	if err != nil {
		return nil, err
	}
	after, err := chargedStorage(rater, s.inputs, q)
	if err != nil {
		return nil, err
	}
	held := maps.Clone(before)
	maps.Copy(held, after)
	places := slices.SortedFunc(maps.Keys(held), func(a, b heldPlace) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.place, b.place))
	})
	var all []lateStorage
	for _, at := range places {
		if a, b := before[at], after[at]; a.says != b.says {
			all = append(all, lateStorage{q.String(), at.group, at.place, b.amount.Sub(a.amount)})
		}
	}
	return all, nil
}

// heldPlace is a file system, or a tier of one, on which a group holds storage.
type heldPlace struct{ group, place string }

// placeCharge is what a month charges of storage at a place.
type placeCharge struct {
	says   string // all that it charges, or why it does not
	amount money.Exact
}

func chargedStorage(rater *rating.Rater, of *inputs, q rates.Period) (map[heldPlace]placeCharge, error) {
	held, _, err := of.storageOf(q)
	if err != nil {
		return nil, err
	}
	outcomes, err := rater.Storage(held.Holdings, q)
	if err != nil {
		return nil, err
	}
	charged := map[heldPlace]placeCharge{}
	for i := range outcomes {
		o := &outcomes[i]
		at := heldPlace{o.Holding.Group, o.Holding.Place()}
		sum := charged[at]
		sum.says += fmt.Sprint(o.Verdict, o.Cause.Code, o.Holding.Holder)
		for _, c := range o.Charges {
			sum.says += fmt.Sprint(" ", c.Meter, c.Quantity, c.Amount)
			if o.Verdict == rating.Charged {
				sum.amount = sum.amount.Add(c.Amount)
			}
		}
		charged[at] = sum
	}
	return charged, nil
}

// printLateStorage says what no invoice has of the storage of issued months.
func (a *app) printLateStorage(s *site, p rates.Period, all []lateStorage) {
	for _, l := range all {
		by := "otherwise"
		if amount, err := s.config.Currency.Amount(l.by, s.config.Invoice.Rounding); err == nil && amount != 0 {
			by = "by " + s.signed(amount) + " at list price"
		}
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s is issued, and what is said since of %s on %s would charge it %s: no bill has that\n",
			l.month, oneLine(cmp.Or(l.group, "nobody's storage")), oneLine(l.place), by)
	}
	if len(all) > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: hint: write what is due into adjustments.csv, for %s; once that is issued this is not said again\n", p)
	}
}

// refuseSaidLate keeps the scheduler from issuing what a person must see.
func (l *late) refuseSaidLate() error {
	if len(l.storage) > 0 {
		return fmt.Errorf("what is said of the storage of %s, which is issued, was changed", l.storage[0].month)
	}
	if len(l.backdated) > 0 {
		return fmt.Errorf("%s:%d is about days of a month that was issued without it", l.backdated[0].file, l.backdated[0].line)
	}
	return nil
}
