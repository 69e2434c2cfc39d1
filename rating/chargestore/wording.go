package chargestore

// wording is the texts of a lexicon as they were when rows were done. The
// lexicon goes on in another goroutine, and appends to them alone.
type wording struct {
	translation *translation
	bundles     [bundleCount]combinations
	commons     []common
	odds        []odd
	spans       []span
	shapes      []shape
}

// tell notes in the wording of some rows what was added for the last of them.
func (l *Lexicon) tell(w *wording) {
	if w.translation != l.translation {
		if w.translation != nil {
			panic("BUG: rows whose texts were forgotten while they were made")
		}
		w.translation = l.translation
	} else if len(w.commons) == len(l.commons.list) && len(w.odds) == len(l.odds.list) && len(w.shapes) == len(l.shapes.list) &&
		len(w.bundles[inName].texts) == len(l.bundles[inName].texts) {
		return // the other bundles grow with the commons and the odds
	}
	for i := range w.bundles {
		w.bundles[i] = l.bundles[i].combinations
	}
	w.commons, w.odds, w.spans, w.shapes = l.commons.list, l.odds.list, l.spans.list, l.shapes.list
}

// translation is what an intake knows of the texts of a lexicon. It belongs to
// the goroutine that takes rows in.
type translation struct {
	intake  *intake
	resets  int                   // that it had
	bundles [bundleCount][]uint32 // by the number here: the number there + 1, or 0
	codes   [codeCount][]uint32   // likewise
}

// meet prepares the translation of rows for their being taken by an intake.
func (w *wording) meet(in *intake) {
	t := w.translation
	if t.intake != in || t.resets != in.resets {
		*t = translation{intake: in, resets: in.resets}
	}
	for k := range t.bundles {
		t.bundles[k] = lengthenedTo(t.bundles[k], w.bundles[k].count())
	}
	for code, n := range [codeCount]int{
		codeCommon: len(w.commons), codeName: w.bundles[inName].count(), codeOdd: len(w.odds), codeShape: len(w.shapes),
	} {
		t.codes[code] = lengthenedTo(t.codes[code], n)
	}
}

// lengthenedTo appends zeros until there are n numbers.
func lengthenedTo(s []uint32, n int) []uint32 {
	return append(s, make([]uint32, max(0, n-len(s)))...)
}

// numberIn gives the number that a combination has in the intake.
func (w *wording) numberIn(in *intake, bundle int, number uint32) uint32 {
	known := &w.translation.bundles[bundle][number]
	if *known == 0 {
		*known = in.numberOf(bundle, w.bundles[bundle].of(number)) + 1
	}
	return *known - 1
}

// translate turns codes of the rows' into those of the intake.
func (w *wording) translate(in *intake, records []record) {
	for i := range records {
		codes := &records[i].codes
		for code := range codes {
			known := &w.translation.codes[code][codes[code]]
			if *known == 0 {
				*known = w.codeIn(in, code, codes[code]) + 1
			}
			codes[code] = *known - 1
		}
	}
}

// codeIn gives the number that what a code is of has in the intake.
func (w *wording) codeIn(in *intake, code int, number uint32) uint32 {
	switch code {
	case codeCommon:
		c := w.commons[number]
		for place := range c.bundled {
			c.bundled[place] = w.numberIn(in, inGroup+place, c.bundled[place])
		}
		return in.commons.number(c)
	case codeOdd:
		o := w.odds[number]
		for place := range o.bundled {
			o.bundled[place] = w.numberIn(in, inExact+place, o.bundled[place])
		}
		o.span = in.spans.number(w.spans[o.span])
		return in.odds.number(o)
	case codeShape:
		return in.shapes.number(w.shapes[number])
	}
	return w.numberIn(in, inName, number)
}
