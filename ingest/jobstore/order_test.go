package jobstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/ingest"
)

// tree reads the files that depend on the jobs alone.
func tree(t require.TestingT, s *Store) map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(s.dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(s.dir, name)
		if err != nil || rel == catalogName || rel == lockName || strings.HasPrefix(rel, ingestsDir) {
			return err
		}
		data, err := os.ReadFile(name)
		files[rel] = string(data)
		return err
	})
	require.NoError(t, err)
	return files
}

// everything lists all that a store keeps.
func everything(s *Store) string {
	text := ""
	c, err := readCatalog(s.dir)
	for _, p := range c.Parts {
		text += p.Path + "\n"
		err = errors.Join(err, s.eachRow(p, s.path(p.Path), func(_ uint32, v *revision) error {
			text += fmt.Sprintf("  %d db %d submit %d start %d end %d elapsed %d account %s notes %d: %s of %d, last %s of %d\n", v.JobIDRaw, v.DBIndex, v.Submit,
				v.Start, v.End, v.ElapsedSeconds, v.Account, v.Notes, place(v.Source), v.dumpTime, place(v.last.source), v.last.dumpTime)
			return nil
		}))
	}
	if err != nil {
		text += err.Error()
	}
	return text
}

func place(s ingest.Source) string { return fmt.Sprintf("%.4s:%d", s.Digest, s.Line) }

// drawJob makes a record out of few values, so that records meet in every
// way: the same raw id, Submit, DBIndex, with and without an end.
func drawJob(t *rapid.T) ingest.Job {
	r := drawRevision(t).Job
	j := job(rapid.Uint64Range(1, 2).Draw(t, "raw"), 0)
	j.Cluster = rapid.SampledFrom([]string{"lab", "lab", "lab", "other/1"}).Draw(t, "cluster")
	j.Submit, j.Start, j.End, j.ElapsedSeconds = november-day+r.Submit, r.Start, r.End, r.ElapsedSeconds
	if j.Start != ingest.None {
		j.Start += november - 20000 // some end in October
	}
	if j.End != ingest.None {
		j.End += november - 20000
	}
	j.DBIndex, j.Account, j.Notes = r.DBIndex, r.Account, r.Notes
	return j
}

// Whatever the order in which dumps are loaded, however they overlap and
// however often they are loaded, the dataset is the same after compaction,
// byte for byte.
func TestOrderOverlapAndRepetitionDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "jobstore")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		records := rapid.SliceOfN(rapid.Custom(drawJob), 1, 8).Draw(t, "records")
		dumps := make([]dump, rapid.IntRange(1, 3).Draw(t, "dumps"))
		for i := range dumps {
			dumps[i] = dump{name: string(rune('a' + i)), at: november + ingest.Instant(rapid.IntRange(0, 2).Draw(t, "at"))*day}
			dumps[i].jobs = rapid.SliceOfN(rapid.SampledFrom(records), 1, 8).Draw(t, "jobs")
		}
		partRows := rapid.SampledFrom([]int{1, 2, 3, 1000}).Draw(t, "rows of a part")
		load2 := func(name string, order []int, compactAfter int) map[string]string {
			s := newStore(t, filepath.Join(dir, name))
			s.partRows = partRows
			s.sync = func(*os.File) error { return nil }
			for n, i := range order {
				load(t, s, dumps[i])
				if n == compactAfter {
					require.NoError(t, s.Compact())
				}
			}
			require.NoError(t, s.Compact())
			return tree(t, s)
		}
		order := make([]int, len(dumps))
		for i := range order {
			order[i] = i
		}
		want := load2("one", order, -1)
		other := rapid.Permutation(order).Draw(t, "order")
		again := rapid.SliceOfN(rapid.SampledFrom(order), 0, 2).Draw(t, "again")
		at := rapid.IntRange(0, len(other)).Draw(t, "again at")
		mixed := append(append(append([]int(nil), other[:at]...), again...), other[at:]...)
		got := load2("two", mixed, rapid.IntRange(-1, len(mixed)-1).Draw(t, "compact after"))
		require.Equal(t, len(want), len(got))
		for name := range want {
			require.True(t, want[name] == got[name], "%s differs after %v:\n%s\n%s", name, mixed,
				everything(newStore(t, filepath.Join(dir, "one"))), everything(newStore(t, filepath.Join(dir, "two"))))
		}
	})
}
