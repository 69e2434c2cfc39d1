package ingest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever the order of the columns, the delimiter, the form of -p or -P and
// the text of the names, the jobs come back as they were, each once.
func TestAnyLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.Permutation(strings.Split(strings.TrimSuffix(layoutA, "|JobName"), "|")).Draw(t, "columns")
		at := rapid.SampledFrom([]int{len(columns), len(columns), 0, 5}).Draw(t, "name at")
		columns = append(columns[:at:at], append([]string{"JobName"}, columns[at:]...)...)
		delimiter := rapid.SampledFrom([]string{"|", "\x1f", "^|^", "|||", ";", "\t"}).Draw(t, "delimiter")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		if rapid.Bool().Draw(t, "parsable") {
			end = delimiter + end
		}
		name := rapid.StringOf(rapid.SampledFrom([]rune("ab =,\"'`é<|^;\t0")))
		if at == len(columns)-1 && len(delimiter) == 1 {
			// where all names end so, it is the stray delimiter of 18.08
			name = name.Filter(func(s string) bool { return !strings.HasSuffix(s, delimiter) })
		}
		if len(delimiter) > 1 { // "|^|^" can be read in two ways
			name = name.Filter(func(s string) bool { return !strings.ContainsAny(s, "|^") })
		}
		want := rapid.SliceOfN(name, 1, 9).Draw(t, "names")
		text := strings.Join(columns, delimiter) + end
		for i, n := range want {
			values := strings.Split(rowA("JobID="+strconv.Itoa(i+1), "JobIDRaw="+strconv.Itoa(i+1), "JobName=NAME"), "|")
			byName := map[string]string{}
			for k, column := range strings.Split(layoutA, "|") {
				byName[column] = values[k]
			}
			byName["JobName"] = n
			for k, column := range columns {
				if k > 0 {
					text += delimiter
				}
				text += byName[column]
			}
			text += end
		}
		jobs, report, err := read(text, Options{})
		require.NoError(t, err)
		require.Equal(t, int64(len(want)), report.Records)
		read := map[uint64]bool{}
		for _, j := range jobs {
			require.Equal(t, want[j.JobIDRaw-1], j.Name, "%q", text)
			require.Equal(t, [2]string{"lab_a", "cpu"}, [2]string{j.Account, j.Partition})
			require.Equal(t, [3]int64{3600, 4, 8192}, [3]int64{j.ElapsedSeconds, j.CPUs, j.MemoryMiB})
			require.False(t, read[j.JobIDRaw])
			read[j.JobIDRaw] = true
		}
		require.Empty(t, report.Quarantined, "%q", text)
	})
}
