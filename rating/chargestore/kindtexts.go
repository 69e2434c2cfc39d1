package chargestore

// common is the numbers that the rows of a Kind have in common: of their
// combinations of inGroup, inOrigin and inBasis.
type common [3]uint32

// commons numbers the different ones in the order in which they come.
type commons struct {
	list    []common
	numbers map[common]uint32
}

// numberOfCommon gives the number of one.
func (c *commons) numberOfCommon(of common) uint32 {
	number, known := c.numbers[of]
	if !known {
		number = uint32(len(c.list))
		c.list, c.numbers[of] = append(c.list, of), number
	}
	return number
}

// bytes is about how much memory they take.
func (c *commons) bytes() int { return 64 * len(c.list) }

// codeOf gives the code in which a row has the number of its combination of a
// bundle, and the place in common where it stands there.
func codeOf(bundle int) (code, place int) {
	switch bundle {
	case inName:
		return codeName, 0
	case inExact:
		return codeExact, 0
	case inSource:
		return codeSource, 0
	}
	return codeCommon, bundle
}
