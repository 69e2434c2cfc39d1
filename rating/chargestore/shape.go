package chargestore

import "hpcbill/ingest"

// shape is what was allocated to a job. Users ask for the same again and again.
type shape struct{ nodes, cpus, gpus, memoryMiB, billing int64 }

func shapeOf(j *ingest.Job) shape {
	return shape{j.NodeCount, j.CPUs, j.GPUs, j.MemoryMiB, j.Billing}
}

// fields gives what a shape consists of, by column.
func (s *shape) fields() [5]int64 { return [...]int64{s.nodes, s.cpus, s.gpus, s.memoryMiB, s.billing} }

// shapeColumns are the columns of the fields of a shape.
func shapeColumns() [5]int { return [...]int{colNodeCount, colCPUs, colGPUs, colMemory, colBilling} }

// knownShape is a shape with its number + 1; 0 where there is none.
type knownShape struct {
	shape
	number uint32
}

// how many shapes are remembered; a power of two.
const rememberedShapes = 1 << 9

// shape gives the number of a job's shape.
func (l *Lexicon) shape(j *ingest.Job) uint32 {
	s := shapeOf(j)
	h := uint64(s.nodes)<<48 ^ uint64(s.cpus)<<32 ^ uint64(s.gpus)<<56 ^ uint64(s.memoryMiB) ^ uint64(s.billing)<<16
	known := &l.lastShapes[h*0x9E3779B97F4A7C15>>55]
	if known.number == 0 || known.shape != s {
		*known = knownShape{s, l.shapes.number(s) + 1}
	}
	return known.number - 1
}
