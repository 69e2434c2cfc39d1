package nearest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates/nearest"
)

func TestWord(t *testing.T) {
	f := func(wrong, want string) {
		t.Helper()
		got, ok := nearest.Word(wrong, []string{"partition", "qos", "account", "gpus", "cpus"})
		require.Equal(t, want, got)
		require.Equal(t, want != "", ok)
	}
	f("partiton", "partition")
	f("Partition", "partition")
	f("partitoin", "partition")
	f("qso", "qos")
	f("gpu", "gpus")
	f("fairshare", "")
	f("gpus_per_node", "gpus")
	f("acc", "account")
	f("parts", "")
	f("x", "")
	f("", "")
}

func TestRemedy(t *testing.T) {
	require.Equal(t, "did you mean gpus?", nearest.Remedy("gpu", []string{"cpus", "gpus"}))
	require.Equal(t, "one of cpus, gpus", nearest.Remedy("volume", []string{"cpus", "gpus"}))
	require.Equal(t, "", nearest.Remedy("volume", nil))
}

// Five characters and a comma with a space each: 300 are 42 groups.
func TestOneOfIsReadable(t *testing.T) {
	var groups []string
	for i := range 900 {
		groups = append(groups, fmt.Sprintf("%05d", i))
	}
	list := nearest.OneOf(groups)
	require.Contains(t, list, "one of 00000, 00001, ")
	require.Contains(t, list, ", 00041 and 858 more")
	require.LessOrEqual(t, len(list), 300+len("one of  and 858 more"))
	require.Equal(t, "one of 00000, 00001", nearest.OneOf(groups[:2]))
}
