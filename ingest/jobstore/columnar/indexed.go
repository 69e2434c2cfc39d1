package columnar

import (
	"slices"

	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// writeIndexed writes a column of integers that the rows have by an index as
// writeInts would write them, but that it does not give a dictionary up early:
// what is the same for many rows is looked at once.
func (c *chunk) writeIndexed(v *Vector) (stats metadata.EncodedStatistics, err error) {
	if first := v.Ints[0]; !slices.ContainsFunc(v.Ints, func(n int64) bool { return n != first }) {
		return c.writeConstant(first)
	}
	indices := v.Index[:c.rows]
	nulls := c.nullsOf(v.Ints, indices)
	if !c.column.Dictionary || c.column.Late || c.column.Kind == Timestamp || nulls == c.rows || !c.numberIndexed(v.Ints, c.rows-nulls) {
		ints := grow(&c.enc.spread, c.rows)
		for i, index := range indices {
			ints[i] = v.Ints[index]
		}
		return c.writeInts(ints)
	}
	stats = c.extent(c.enc.numbers.values)
	stats.SetNullCount(int64(nulls))
	through, numbers := c.enc.through, grow(&c.enc.indices, c.rows)
	if nulls == 0 {
		for i, index := range indices {
			numbers[i] = through[index]
		}
		return stats, c.writeNumbered(nil)
	}
	levels, n := grow(&c.enc.levels, c.rows), 0
	for i, index := range indices {
		numbers[n], levels[i] = through[index], 0
		if through[index] != nullNumber {
			levels[i] = 1
			n++
		}
	}
	c.enc.indices = numbers[:n]
	return stats, c.writeNumbered(levels)
}

// nullNumber stands in enc.through for NULL.
const nullNumber = 1<<32 - 1

// nullsOf counts the rows that are NULL.
func (c *chunk) nullsOf(ints []int64, indices []uint32) (n int) {
	if !c.column.Nullable || !slices.Contains(ints, c.column.Null) {
		return 0
	}
	for _, index := range indices {
		if ints[index] == c.column.Null {
			n++
		}
	}
	return n
}

// numberIndexed numbers the values in enc.numbers, and puts the number of each
// index into enc.through; false where a dictionary of so many values would be
// too large.
func (c *chunk) numberIndexed(ints []int64, values int) bool {
	through, most := grow(&c.enc.through, len(ints)), worthwhile(values)
	c.enc.numbers.reset()
	for index, v := range ints {
		if through[index] = nullNumber; c.column.Nullable && v == c.column.Null {
			continue
		}
		if through[index] = c.enc.numbers.of(v); int(through[index]) >= most {
			return false
		}
	}
	return true
}
