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
	known   [bundleCount][]uint32 // by the number here: the number there + 1, or 0
	commons []uint32              // likewise
	odds    []uint32              // likewise
	shapes  []uint32              // likewise
}

// meet prepares the translation of rows for their being taken by an intake.
func (w *wording) meet(in *intake) {
	t := w.translation
	if t.intake != in || t.resets != in.resets {
		*t = translation{intake: in, resets: in.resets}
	}
	for k := range t.known {
		t.known[k] = lengthenedTo(t.known[k], w.bundles[k].count())
	}
	t.commons, t.odds = lengthenedTo(t.commons, len(w.commons)), lengthenedTo(t.odds, len(w.odds))
	t.shapes = lengthenedTo(t.shapes, len(w.shapes))
}

// lengthenedTo appends zeros until there are n numbers.
func lengthenedTo(s []uint32, n int) []uint32 {
	return append(s, make([]uint32, max(0, n-len(s)))...)
}

// numberIn gives the number that a combination has in the intake.
func (w *wording) numberIn(in *intake, bundle int, number uint32) uint32 {
	known := &w.translation.known[bundle][number]
	if *known == 0 {
		*known = in.numberOf(bundle, w.bundles[bundle].of(number)) + 1
	}
	return *known - 1
}

// translate turns codes of the rows' into those of the intake.
func (w *wording) translate(in *intake, records []record) {
	for i := range records {
		codes := &records[i].codes
		codes[codeCommon] = w.commonIn(in, codes[codeCommon])
		codes[codeName] = w.numberIn(in, inName, codes[codeName])
		codes[codeOdd] = w.oddIn(in, codes[codeOdd])
		codes[codeShape] = w.shapeIn(in, codes[codeShape])
	}
}

func (w *wording) commonIn(in *intake, number uint32) uint32 {
	known := &w.translation.commons[number]
	if *known == 0 {
		c := w.commons[number]
		for place := range c.bundled {
			c.bundled[place] = w.numberIn(in, inGroup+place, c.bundled[place])
		}
		*known = in.commons.number(c) + 1
	}
	return *known - 1
}

func (w *wording) oddIn(in *intake, number uint32) uint32 {
	known := &w.translation.odds[number]
	if *known == 0 {
		o := w.odds[number]
		for place := range o.bundled {
			o.bundled[place] = w.numberIn(in, inExact+place, o.bundled[place])
		}
		o.span = in.spans.number(w.spans[o.span])
		*known = in.odds.number(o) + 1
	}
	return *known - 1
}

func (w *wording) shapeIn(in *intake, number uint32) uint32 {
	known := &w.translation.shapes[number]
	if *known == 0 {
		*known = in.shapes.number(w.shapes[number]) + 1
	}
	return *known - 1
}
