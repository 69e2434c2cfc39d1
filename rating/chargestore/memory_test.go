package chargestore

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// What texts are said to take is what bounds them: short ones, which take more
// for being numbered than for what they say, are not said to take nothing.
func TestTextsAreSaidToTakeWhatTheyTake(t *testing.T) {
	const many = 300_000
	f := func(what string, add func(in *intake, i int)) {
		t.Helper()
		before := heap()
		in := newIntake(keptTextBytes)
		for i := range many {
			add(in, i)
		}
		taken := heap() - before
		require.Less(t, taken, 2*int64(in.bytes())+1<<20, what)
		require.Less(t, int64(in.bytes()), 3*taken, what)
		runtime.KeepAlive(in)
	}
	f("names", func(in *intake, i int) { in.numberOf(inName, []string{fmt.Sprint(i)}) })
	f("users", func(in *intake, i int) {
		in.numberOf(inOrigin, []string{"c", fmt.Sprint(i), "a", "p", "q", "COMPLETED"})
	})
	f("commons", func(in *intake, i int) { in.commons.number(common{ruleLine: uint32(i)}) })
	f("odds", func(in *intake, i int) { in.odds.number(odd{span: uint32(i)}) })
	f("shapes", func(in *intake, i int) { in.shapes.number(shape{memoryMiB: int64(i)}) })
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
