package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rating"
)

// mostStorageLines bounds what one message says of storage.
const mostStorageLines = 20

// printStorageSite says what check read of storage, and what of it a person
// may not have meant.
func (a *app) printStorageSite(in *inputs) {
	all := &in.storage.all
	written, unassigned := map[string]int64{}, int64(0)
	for _, h := range all.Holdings {
		if !h.Listed {
			written[h.Source.File]++
		} else if h.Group == "" && h.Ignored == "" {
			unassigned++
		}
	}
	for _, t := range in.texts {
		if in.storage.kinds[t.name] == storageText {
			fmt.Fprintf(a.stdout, "%s: %s\n", t.name, count(written[t.name], "quota"))
		}
	}
	for _, l := range all.Listed {
		fmt.Fprintf(a.stdout, "storage of %s: listed on %s from %s to %s, %s\n", placeOfListed(&l), count(int64(len(l.Days)), "day"),
			l.Days[0], l.Days[len(l.Days)-1], count(int64(l.Holders), "holder"))
	}
	if unassigned > 0 {
		a.warn("listings show %s of nobody: bill holds what reaches no group, by name", count(unassigned, "holding"))
	}
	var lines []string
	for _, g := range ingest.Gaps(all.Holdings) {
		lines = append(lines, gapText(&g))
	}
	for i := range all.Lost {
		lines = append(lines, lostText(&all.Lost[i]))
	}
	a.warnStorage(lines)
}

func (a *app) warn(format string, args ...any) {
	fmt.Fprintf(a.stderr, "hpcbill: warning: %s\n", oneLine(fmt.Sprintf(format, args...)))
}

func (a *app) warnStorage(lines []string) {
	for i, line := range lines {
		if i == mostStorageLines {
			a.warn("… and %d more of this kind", len(lines)-i)
			return
		}
		a.warn("%s", line)
	}
}

// printStorage says what a bill took for granted of storage: units that were
// converted, days between two quotas, days without a listing, holders that are
// listed no more.
func (a *app) printStorage(s *site, b *billing) error {
	p := b.period
	held, _, err := s.storageOf(p)
	if err != nil {
		return err
	}
	from, until := daysOfPeriod(p)
	lines := convertedText(b.storage)
	for _, g := range ingest.Gaps(held.Holdings) {
		if part, ok := g.Within(from, until); ok {
			lines = append(lines, gapText(&part))
		}
	}
	today := ingest.Date(rates.DateOf(a.now(), p.Start.Location()))
	for i := range held.Listed {
		line := unlistedText(&held.Listed[i], from, until, today)
		if line != "" && isHeld(held.Holdings, &held.Listed[i], from, until) {
			lines = append(lines, line)
		}
	}
	for i := range held.Lost {
		if l := &held.Lost[i]; !l.Day.Before(from) && l.Day.Before(until) {
			lines = append(lines, lostText(l))
		}
	}
	if len(lines) > mostStorageLines {
		lines = append(lines[:mostStorageLines], fmt.Sprintf("… and %d more; hpcbill check", len(lines)-mostStorageLines))
	}
	for _, line := range lines {
		fmt.Fprintf(a.stdout, "storage      %s\n", oneLine(line))
	}
	return nil
}

// convertedText says where quotas are in TB and counted in TiB, or the other
// way round, and where a meter's unit names the other than is counted.
func convertedText(outcomes []rating.StorageOutcome) []string {
	type conversion struct {
		place             string
		declared, counted ingest.StorageUnit
		unit              string // of the meter
	}
	quotas := map[conversion]int64{}
	var order []conversion
	for i := range outcomes {
		o := &outcomes[i]
		for _, c := range o.Charges {
			k := conversion{o.Holding.Place(), o.Holding.Unit, c.StorageUnit, c.Unit}
			if o.Holding.QuotaBytes < 0 || k.counted == "" || k.declared == k.counted && !namesOther(k.counted, k.unit) {
				continue
			}
			if quotas[k] == 0 {
				order = append(order, k)
			}
			quotas[k]++
		}
	}
	var lines []string
	for _, k := range order {
		rate := map[ingest.StorageUnit]string{ingest.TB: "1 TB = 0.909495 TiB", ingest.TiB: "1 TiB = 1.099512 TB"}[k.declared]
		line := fmt.Sprintf("%s: %s in %s, counted in %s", k.place, count(quotas[k], "quota"), k.declared, k.counted)
		if k.declared != k.counted {
			line += ", converted exactly (" + rate + ")"
		}
		if namesOther(k.counted, k.unit) {
			line += "; but the card calls them " + k.unit
		}
		lines = append(lines, line)
	}
	return lines
}

// namesOther reports whether a meter's unit names the other of TB and TiB than
// is counted.
func namesOther(counted ingest.StorageUnit, unit string) bool {
	other := "TiB"
	if counted == ingest.TiB {
		other = "TB"
	}
	return slices.Contains(strings.FieldsFunc(unit, func(r rune) bool { return !unicode.IsLetter(r) }), other)
}

// unlistedPlaces are the file systems that no listing of a month shows, with
// the day of the last before it: what they hold is charged as it was then.
func (s *site) unlistedPlaces(p rates.Period) ([]string, error) {
	held, _, err := s.storageOf(p)
	if err != nil {
		return nil, err
	}
	from, until := daysOfPeriod(p)
	var places []string
	for _, l := range held.Listed {
		if last := l.Days[len(l.Days)-1]; last.Before(from) && isHeld(held.Holdings, &l, from, until) {
			places = append(places, fmt.Sprintf("%s, listed last on %s", placeOfListed(&l), last))
		}
	}
	return places, nil
}

// isHeld reports whether anything that is not ignored is held on a listed file
// system in [from, until).
func isHeld(holdings []ingest.Holding, l *ingest.ListedFilesystem, from, until ingest.Date) bool {
	return slices.ContainsFunc(holdings, func(h ingest.Holding) bool {
		return h.Filesystem == l.Filesystem && h.Tier == l.Tier && h.Ignored == "" && h.From.Before(until) && (h.Until.IsZero() || from.Before(h.Until))
	})
}

func placeOfListed(l *ingest.ListedFilesystem) string {
	return (&ingest.Holding{Filesystem: l.Filesystem, Tier: l.Tier}).Place()
}

// whoHolds names a holding: "bio on /data", "project p1 (bio) on /data".
func whoHolds(h *ingest.Holding) string {
	who := h.Group
	if h.Holder != "" {
		who = h.Holder
		if h.Group != "" {
			who += " (" + h.Group + ")"
		}
	}
	return who + " on " + h.Place()
}

func gapText(g *ingest.Gap) string {
	return fmt.Sprintf("%s holds nothing from %s to %s (%s), between %s line %d and %s line %d", whoHolds(&g.Before), g.From, g.Until.Previous(),
		count(int64(g.Days()), "day"), g.Before.Source.File, g.Before.Source.Line, g.After.Source.File, g.After.Source.Line)
}

func lostText(l *ingest.LostHolder) string {
	then := "what it held ends with the day before"
	if l.Back {
		then = "it is again in a later one, and taken to have gone on"
	}
	return fmt.Sprintf("%s is in %s and not in %s of %s: %s", whoHolds(&l.Holding), l.Holding.Source.File, l.File, l.Day, then)
}

// unlistedText says on which days of a month a file system was not listed,
// "" where it was on all.
func unlistedText(l *ingest.ListedFilesystem, from, until, today ingest.Date) string {
	if today.Before(until) {
		until = today
	}
	listed := map[ingest.Date]bool{}
	for _, day := range l.Days {
		listed[day] = true
	}
	place := placeOfListed(l)
	var parts []string
	if first := l.Days[0]; from.Before(first) && first.Before(until) {
		parts = append(parts, fmt.Sprintf("%s is not listed before %s: nothing is charged for the %s before", place, first, count(int64(ingest.DaysBetween(from, first)), "day")))
		from = first
	}
	missing, span := 0, ingest.Date{}
	for day := from; day.Before(until); day = day.Next() {
		if !listed[day] {
			if missing++; span.IsZero() {
				span = day
			}
		}
	}
	if missing > 0 {
		parts = append(parts, fmt.Sprintf("%s is not listed on %s, the first %s: the quotas and uses of the listing before are taken", place, count(int64(missing), "day"), span))
	}
	return strings.Join(parts, "; ")
}
