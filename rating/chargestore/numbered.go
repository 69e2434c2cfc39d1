package chargestore

import "unsafe"

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

// bytes is about how much memory they take: each stands in the list and in the
// map, which have room for more.
func (n *numbered[T]) bytes() int {
	var each T
	return (3*int(unsafe.Sizeof(each)) + 24) * len(n.list)
}
