package rates

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func hosts(list string) (string, bool) {
	var names []string
	err := eachHost(list, func(name string) bool {
		names = append(names, name)
		return len(names) < 1000
	})
	return strings.Join(names, " "), err == nil
}

func TestEachHost(t *testing.T) {
	f := func(list, want string) {
		t.Helper()
		got, ok := hosts(list)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	f("cn1", "cn1")
	f("cn1,gpu-2", "cn1 gpu-2")
	f("cn[1-3]", "cn1 cn2 cn3")
	f("cn[08-11,7]", "cn08 cn09 cn10 cn11 cn7")
	f("cn[099-101],x", "cn099 cn100 cn101 x")
	f("r[1-2]n[3,5]", "r1n3 r1n5 r2n3 r2n5")
	f("cn[1-2]-ib", "cn1-ib cn2-ib")
	f("", "")

	bad := func(list string) {
		t.Helper()
		_, ok := hosts(list)
		require.False(t, ok, list)
	}
	bad("cn1\x7f")
	bad("cn[1-")
	bad("cn]1")
	bad("cn[]")
	bad("cn[3-1]")
	bad("cn[a-b]")
	bad("cn[1],,x")
	bad("cn[1-99999999999]")

	all := 0
	require.Error(t, eachHost("cn[0-9][0-999999]", func(string) bool { all++; return true }))
	require.Equal(t, maxHosts, all)
}

func FuzzEachHost(f *testing.F) {
	f.Add("cn[001-004,7],gpu1")
	f.Add("r[1-2]n[3,5")
	f.Add(" cn1 ")
	f.Add("cn1\x7f")
	f.Fuzz(func(t *testing.T, list string) {
		names, ok := hosts(list)
		if ok && list != "" && !strings.ContainsAny(list, "[],") {
			require.Equal(t, strings.TrimSpace(list), names)
		}
	})
}
