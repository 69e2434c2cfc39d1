package ingest

// skip passes over the value at hand, whatever it is.
func (s *scanner) skip() {
	if s.stop != notStopped {
		return
	}
	i, depth, objects := s.at, s.depth, uint64(0) // objects: a bit for each open value, 1 for an object
	for {
		if i >= len(s.text) {
			s.ends()
			return
		}
		if c := s.text[i]; c != '{' && c != '[' {
			i = s.scalarEnd(i)
		} else {
			if depth++; depth > maxJSONDepth {
				s.bad(i, tooDeep)
				return
			}
			objects = objects<<1 | uint64(c>>5&1) // { is 0x7b, [ is 0x5b
			if i = s.space(i + 1); i < 0 {
				return
			}
			if s.text[i] != c+2 { // } is 0x7d, ] is 0x5d
				if i = s.memberValue(i, objects); i < 0 {
					return
				}
				continue
			}
		}
		if i, depth, objects = s.following(i, depth, objects); i < 0 {
			return
		}
		if depth == s.depth {
			s.at = i
			return
		}
	}
}

// following goes from the end of a value to the next one, out of those that
// end before it, but not out of the one that is being passed over.
func (s *scanner) following(i, depth int, objects uint64) (int, int, uint64) {
	for i >= 0 && depth > s.depth {
		if i = s.space(i); i < 0 {
			break
		}
		switch c := s.text[i]; {
		case c == ',':
			if i = s.space(i + 1); i >= 0 {
				i = s.memberValue(i, objects)
			}
			return i, depth, objects
		case c == ']' && objects&1 == 0, c == '}' && objects&1 != 0:
			i, depth, objects = i+1, depth-1, objects>>1
		default:
			i = s.bad(i, endDue)
		}
	}
	return i, depth, objects
}

// memberValue goes from a member's name to its value where the innermost open
// value is an object.
func (s *scanner) memberValue(i int, objects uint64) int {
	if objects&1 == 0 {
		return i
	}
	end, _ := s.nameEnd(i)
	if end < 0 {
		return -1
	}
	return s.colon(end)
}
