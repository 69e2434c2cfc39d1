package sametext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSame(t *testing.T) {
	a := strings.Clone("alpha")
	require.True(t, Same([]string{a, "", a}, []string{a, "", a}))
	require.False(t, Same([]string{a}, []string{a[:4]}))
	require.False(t, Same([]string{a}, []string{strings.Clone(a)}), "equal texts elsewhere are not known")
	require.False(t, Same([]string{a, ""}, []string{"", a}))
	require.True(t, Same([]string{a[2:2]}, []string{""}))
}

func TestSlot(t *testing.T) {
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = strings.Repeat("x", 1+i%7)
	}
	for width := 1; width <= 16; width++ {
		used := map[int]bool{}
		for i := range texts {
			pair := []string{texts[i], texts[(i+1)%len(texts)], ""}
			slot := Slot(pair, width)
			require.GreaterOrEqual(t, slot, 0)
			require.Less(t, slot, 1<<width)
			require.Equal(t, slot, Slot(pair, width))
			used[slot] = true
		}
		require.GreaterOrEqual(t, len(used), min(1<<width, 500)/2, "they are spread")
	}
	require.NotEqual(t, Slot([]string{texts[0], texts[1]}, 16), Slot([]string{texts[1], texts[0]}, 16))
}
