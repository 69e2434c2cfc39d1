package chargestore

// wording is the texts of a lexicon as they were when rows were done. The
// lexicon goes on in another goroutine, and appends to them alone.
type wording struct {
	translation *translation
	bundles     [bundleCount]combinations
	commons     []common
}

// tell notes in the wording of some rows what was added for the last of them.
func (l *Lexicon) tell(w *wording) {
	if w.translation != l.translation {
		if w.translation != nil {
			panic("BUG: rows whose texts were forgotten while they were made")
		}
		w.translation = l.translation
	} else if len(w.commons) == len(l.commons.list) && w.has(&l.texts, inName) && w.has(&l.texts, inExact) && w.has(&l.texts, inSource) {
		return // the other bundles grow with the commons
	}
	for i := range w.bundles {
		w.bundles[i] = l.bundles[i].combinations
	}
	w.commons = l.commons.list
}

// has reports whether all texts of a bundle are in the wording.
func (w *wording) has(t *texts, bundle int) bool {
	return len(w.bundles[bundle].texts) == len(t.bundles[bundle].texts)
}

// translation is what an intake knows of the texts of a lexicon. It belongs to
// the goroutine that takes rows in.
type translation struct {
	intake  *intake
	resets  int                   // that it had
	known   [bundleCount][]uint32 // by the number here: the number there + 1, or 0
	commons []uint32              // likewise
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
	t.commons = lengthenedTo(t.commons, len(w.commons))
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
		known := &w.translation.commons[codes[codeCommon]]
		if *known == 0 {
			c := w.commons[codes[codeCommon]]
			for place := range c {
				c[place] = w.numberIn(in, place, c[place])
			}
			*known = in.numberOfCommon(c) + 1
		}
		codes[codeCommon] = *known - 1
		codes[codeName] = w.numberIn(in, inName, codes[codeName])
		codes[codeExact] = w.numberIn(in, inExact, codes[codeExact])
		codes[codeSource] = w.numberIn(in, inSource, codes[codeSource])
	}
}
