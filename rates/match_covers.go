package rates

// covers reports whether everything that n matches is certainly matched by m
// too. It may say no where it is yes, never the other way round.
func (m Match) covers(n Match) bool {
	if m.faulty || n.faulty {
		return false
	}
	for i := range m.conditions {
		implied := false
		for j := range n.conditions {
			implied = implied || m.conditions[i].coversCondition(&n.conditions[j])
		}
		if !implied {
			return false
		}
	}
	return true
}

func (c *condition) coversCondition(d *condition) bool {
	if c.field.name != d.field.name {
		return false
	}
	switch c.field.kind {
	case textKind, nodeNameKind:
		return c.coversTexts(d)
	case gpuTypeKind:
		return len(c.unwanted) == 0 && len(d.wanted) > 0 && allOf(d.wanted, c.coversPattern)
	case weekdayKind, hourKind:
		return d.set&^c.set == 0
	}
	return allOf(d.ranges, func(s span) bool {
		for _, t := range c.ranges {
			if t.holds(s) {
				return true
			}
		}
		return false
	})
}

// coversTexts: what c does not want, d does not want either; what d wants, c
// wants too.
func (c *condition) coversTexts(d *condition) bool {
	refused := allOf(c.unwanted, func(p pattern) bool {
		for _, q := range d.unwanted {
			if q.covers(p) {
				return true
			}
		}
		return len(d.wanted) > 0 && allOf(d.wanted, func(q pattern) bool { return !q.glob && !p.matches(q.text) })
	})
	if !refused {
		return false
	}
	return len(c.wanted) == 0 || len(d.wanted) > 0 && allOf(d.wanted, c.coversPattern)
}

func (c *condition) coversPattern(q pattern) bool {
	for _, p := range c.wanted {
		if p.covers(q) {
			return true
		}
	}
	return false
}

// covers reports whether every text that q matches is matched by p. A glob is
// a text of its own: where p, read over the text of q, treats q's wildcards as
// letters, it covers whatever they stand for only if its own wildcards do.
func (p pattern) covers(q pattern) bool {
	switch {
	case p == q:
		return true
	case !q.glob:
		return p.matches(q.text)
	case !p.glob:
		return false
	}
	return globCovers(p.text, q.text)
}

// globCovers matches p against the text of q with the rule that only '*'
// takes a '*', and only '?' or '*' takes a '?'.
func globCovers(p, q string) bool {
	// covered[j] tells whether the rest of p covers q[j:], from the end of p on.
	covered := make([]bool, len(q)+1)
	covered[len(q)] = true
	for i := len(p) - 1; i >= 0; i-- {
		row := make([]bool, len(q)+1)
		for j := len(q); j >= 0; j-- {
			switch {
			case p[i] == '*':
				row[j] = covered[j] || j < len(q) && row[j+1]
			case j == len(q) || q[j] == '*' || p[i] == '?' && q[j] >= 0x80:
			case p[i] == '?' || p[i] == q[j]:
				row[j] = covered[j+1]
			}
		}
		covered = row
	}
	return covered[0]
}

// holds reports whether t lies inside s.
func (s span) holds(t span) bool {
	u, ok := s.and(t)
	return ok && u.noLow == t.noLow && u.noHigh == t.noHigh &&
		(t.noLow || u.low.Equal(t.low) && u.lowExcluded == t.lowExcluded) &&
		(t.noHigh || u.high.Equal(t.high) && u.highBefore == t.highBefore)
}

func allOf[T any](items []T, holds func(T) bool) bool {
	for _, item := range items {
		if !holds(item) {
			return false
		}
	}
	return true
}
