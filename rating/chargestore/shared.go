package chargestore

import "hpcbill/ingest"

// common is what the rows of a Kind have in common.
type common struct {
	bundled  [3]uint32 // the numbers of their combinations of inGroup, inOrigin and inBasis
	ruleLine uint32
}

// odd is what nearly all rows of a dump have in common: where they come from,
// and that nothing is unusual about them.
type odd struct {
	bundled [2]uint32 // the numbers of their combinations of inExact and inSource
	span    uint32    // the number of their span
}

// span is the part of a job that was rated, where it is not the whole job.
type span struct{ from, until ingest.Instant }

// wholeJob is the span of a job that was not cut.
var wholeJob = span{ingest.None, ingest.None}

// shape is what was allocated to a job. Users ask for the same again and again.
type shape struct{ nodes, cpus, gpus, memoryMiB, billing int64 }

func shapeOf(j *ingest.Job) shape {
	return shape{j.NodeCount, j.CPUs, j.GPUs, j.MemoryMiB, j.Billing}
}

// fields gives what a shape consists of, by column.
func (s *shape) fields() [5]int64 { return [...]int64{s.nodes, s.cpus, s.gpus, s.memoryMiB, s.billing} }

// shapeColumns are the columns of the fields of a shape.
func shapeColumns() [5]int { return [...]int{colNodeCount, colCPUs, colGPUs, colMemory, colBilling} }

// numbered numbers the different values in the order in which they come.
type numbered[T comparable] struct {
	list    []T
	numbers map[T]uint32
}

// number gives the number of a value.
func (n *numbered[T]) number(of T) uint32 {
	number, known := n.numbers[of]
	if !known {
		if n.numbers == nil {
			n.numbers = map[T]uint32{}
		}
		number = uint32(len(n.list))
		n.list, n.numbers[of] = append(n.list, of), number
	}
	return number
}

// bytes is about how much memory they take.
func (n *numbered[T]) bytes() int { return 64 * len(n.list) }

// codeOf gives the code by which a row has the number of its combination of a
// bundle, and the place where that stands in what the code is of.
func codeOf(bundle int) (code, place int) {
	switch bundle {
	case inName:
		return codeName, 0
	case inExact, inSource:
		return codeOdd, bundle - inExact
	}
	return codeCommon, bundle
}
