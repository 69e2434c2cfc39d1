package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// damagedRow is the record of job i in the columns: every value that a bill
// needs says whose it is. The times of every other one are seconds.
func damagedRow(i int, columns []string, delimiter, text string) string {
	value := map[string]string{
		"JobID": fmt.Sprint(i), "JobIDRaw": fmt.Sprint(i), "Cluster": fmt.Sprintf("clu%d", i), "User": fmt.Sprintf("usr%d", i),
		"Account": fmt.Sprintf("acc%d", i), "Partition": fmt.Sprintf("par%d", i), "QOS": fmt.Sprintf("qos%d", i), "State": "COMPLETED",
		"Submit": "2025-03-03T08:00:00", "Start": "2025-03-03T09:00:00", "End": fmt.Sprintf("2025-03-03T10:%02d:00", i%60),
		"ElapsedRaw": fmt.Sprint(3600 + i%60*60), "AllocTRES": fmt.Sprintf("billing=%d,cpu=%d,gres/gpu=%d,mem=%dG,node=1", i, i, i, i),
	}
	if i%2 == 0 {
		value["Submit"], value["Start"], value["End"] = "1740988800", "1740992400", fmt.Sprint(1740996000+i%60*60)
	}
	cells := make([]string, len(columns))
	for k, c := range columns {
		var ok bool
		if cells[k], ok = value[c]; !ok {
			cells[k] = text
		}
	}
	return strings.Join(cells, delimiter)
}

func drawColumns(t *rapid.T) []string {
	columns := strings.Fields("JobID JobIDRaw Cluster User Account Partition QOS State Submit Start End ElapsedRaw AllocTRES")
	columns = rapid.Permutation(columns).Draw(t, "columns")
	for _, free := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"JobName", "Comment", "WorkDir"}), 0, 2, rapid.ID).Draw(t, "free") {
		columns = slices.Insert(columns, rapid.IntRange(0, len(columns)).Draw(t, "at"), free)
	}
	return columns
}

// Whatever dumps are joined, and how badly: a job that is read is the one that
// was printed, and one that is not stands in the quarantine.
func TestNothingVanishesNorShifts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, next := "", 100
		var columns []string
		printed := map[uint64]bool{}
		for range rapid.IntRange(1, 4).Draw(t, "dumps") {
			texts := []string{"", "run", "a|b", "a\nb", "x;y", "|", "\n", "k\n\nl"}
			delimiter := rapid.SampledFrom([]string{"|", "|", "|", ";", "\x1f", "||"}).Draw(t, "delimiter")
			if text == "" || rapid.IntRange(0, 3).Draw(t, "headed") > 0 {
				columns = drawColumns(t)
				text += strings.Join(columns, delimiter) + "\n"
			} else if text = strings.TrimSuffix(text, "\n") + "\n"; rapid.Bool().Draw(t, "less") { // names in another order could not be told from these
				texts = texts[:2] // nor a delimiter in a text from the cell that lacks
				columns = slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return c == "JobName" || c == "WorkDir" })
			}
			next++
			for range rapid.IntRange(0, 4).Draw(t, "rows") {
				next++
				printed[uint64(next)] = true
				name := rapid.SampledFrom(texts).Draw(t, "text")
				text += damagedRow(next, columns, delimiter, name) + "\n"
			}
			if rapid.IntRange(0, 3).Draw(t, "cut") == 0 && printed[uint64(next)] {
				text = strings.TrimSuffix(text, "\n")
			}
		}
		jobs, report, err := read(text, Options{})
		if err != nil {
			return
		}
		for _, j := range jobs {
			i := int(j.JobIDRaw)
			require.True(t, printed[j.JobIDRaw], "%d\n%s", i, text)
			delete(printed, j.JobIDRaw)
			require.Equal(t, [4]string{fmt.Sprintf("clu%d", i), fmt.Sprintf("usr%d", i), fmt.Sprintf("acc%d", i), fmt.Sprintf("par%d", i)},
				[4]string{j.Cluster, j.User, j.Account, j.Partition}, text)
			n := int64(i)
			require.Equal(t, [5]int64{n, n, n, n * 1024, 3600 + n%60*60}, [5]int64{j.CPUs, j.GPUs, j.Billing, j.MemoryMiB, j.ElapsedSeconds}, text)
		}
		for i := range printed {
			require.True(t, slices.ContainsFunc(report.Quarantined, func(q Quarantined) bool {
				return strings.Contains(q.Text, fmt.Sprint(i)) // of a torn record, a part of it
			}),
				"job %d is nowhere in\n%s", i, text)
		}
	})
}

// Standard output is written in blocks and standard error at once, so that a
// message can stand anywhere. It means that records may be missing.
func TestMessageAnywhere(t *testing.T) {
	for _, header := range []string{layoutA, "JobID|JobIDRaw|Cluster|Account|JobName|State|Submit|Start|End|ElapsedRaw|AllocTRES|WCKey", "JobID|JobIDRaw|Cluster|Account|State|Submit|Start|End|ElapsedRaw|AllocTRES"} {
		columns := strings.Split(header, "|")
		text := lines(header, damagedRow(101, columns, "|", "name"), damagedRow(102, columns, "|", "name"))
		for at := len(header) % 7; at <= len(text); at += 7 {
			jobs, report, err := read(text[:at]+"sacct: error: slurmdbd: Unable to connect\n"+text[at:], Options{})
			if err != nil {
				continue
			}
			require.NotEmpty(t, report.Quarantined, "%d in %s", at, text)
			for _, j := range jobs {
				require.Equal(t, [2]string{fmt.Sprintf("clu%d", j.JobIDRaw), fmt.Sprintf("acc%d", j.JobIDRaw)}, [2]string{j.Cluster, j.Account})
				require.Equal(t, [2]int64{int64(j.JobIDRaw), int64(j.JobIDRaw)}, [2]int64{j.CPUs, j.GPUs})
			}
		}
	}
}
