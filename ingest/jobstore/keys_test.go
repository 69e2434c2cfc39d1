package jobstore

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestIndexFindsWhatASearchFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.SampledFrom([]uint64{10, 5000, 1 << 40}).Draw(t, "top")
		seed := rapid.SliceOfN(rapid.Uint64Range(0, top), 1, 40).Draw(t, "raws")
		var keys []key
		for i := range rapid.IntRange(1, 4000).Draw(t, "keys") {
			keys = append(keys, key{seed[i%len(seed)] + uint64(i/100), uint64(i) * key1, uint64(i)})
		}
		sortKeys(keys, make([]key, len(keys)))
		require.True(t, slices.IsSortedFunc(keys, func(a, b key) int { return int(int64(a.raw - b.raw)) }))
		data, shape := encodeIndex(keys, rapid.Bool().Draw(t, "wide"))
		raws := rapid.SliceOfN(rapid.Uint64Range(0, top+50), 0, 60).Draw(t, "asked")
		slices.Sort(raws)

		var want, got []key
		for _, k := range keys {
			if slices.Contains(raws, k.raw) {
				want = append(want, k)
			}
		}
		err := shape.find(bytes.NewReader(data), raws, func(i int, k key) {
			require.Equal(t, raws[i], k.raw)
			require.True(t, i == 0 || raws[i-1] < k.raw)
			got = append(got, k)
		})
		require.NoError(t, err)
		require.Equal(t, want, got)
		if len(want) > 0 {
			require.True(t, shape.covers(raws))
			require.Error(t, shape.find(bytes.NewReader(data[:len(data)/3]), raws, func(int, key) {}))
		}
	})
}

func FuzzEscapeHive(f *testing.F) {
	for _, s := range []string{"", "lab", "..", "a/b", "%41", "\x00", hiveNothing, "ö"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		escaped := escapeHive(name)
		require.NotContains(t, escaped, "/")
		require.NotEmpty(t, strings.Trim(escaped, "."))
		back, err := url.PathUnescape(escaped)
		require.NoError(t, err)
		if name == "" {
			back = ""
		}
		require.Equal(t, name, back)
		require.Equal(t, name == "", escaped == hiveNothing)
	})
}
