package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"

	"github.com/stretchr/testify/require"
)

// The README's command is the one that hpcbill runs and explains.
func TestReadmeCommand(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(repository, "README.md"))
	require.NoError(t, err)
	require.Contains(t, string(readme), "```sh\n"+recommendedCommand()+"\n```\n")
	require.Contains(t, (&app{}).sacctTopic().Long, strings.ReplaceAll(recommendedCommand(), "\n", "\n  "))
	for _, o := range sacctOptions {
		require.Contains(t, sacctArguments("c1", time.Time{}, time.Time{}, sacctColumns, sacctDelimiter), o.word)
	}
}

// A shell makes of the printed command the words that hpcbill runs.
func TestRecommendedCommandInAShell(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash on this machine")
	}
	script := `sacct() { printf '%s\n' "$@"; }` + "\n" + recommendedCommand()
	out, err := exec.Command(bash, "-c", script).Output()
	require.NoError(t, err)
	day := func(month time.Month) time.Time { return time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC) }
	want := sacctArguments("c1", day(3), day(4), sacctColumns, sacctDelimiter)
	for i := range want { // a person writes days, and asks for the cluster where the command runs
		want[i] = strings.TrimSuffix(want[i], "T00:00:00")
	}
	at := len(sacctOptions)
	require.Equal(t, []string{"-M", "c1"}, want[at:at+2])
	require.Equal(t, append(want[:at:at], want[at+2:]...), strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"))
}

func TestShellQuoted(t *testing.T) {
	f := func(word, want string) {
		t.Helper()
		require.Equal(t, want, shellQuoted(word))
	}
	f("sacct", "sacct")
	f("TZ=UTC", "TZ=UTC")
	f("", "''")
	f("two words", "'two words'")
	f("it's", `'it'\''s'`)
	f("|", "'|'")
	f("$HOME", "'$HOME'")
	f("--delimiter=\x1f", `--delimiter=$'\x1f'`)
	f("a\nb'c\\", `$'a\x0ab\'c\\'`)
}

// The answer to the recommended command is read column by column: a header
// alone has no column that is passed over or missing.
func TestSacctColumnsAreRead(t *testing.T) {
	r, err := ingest.Open("header", strings.NewReader(strings.Join(sacctColumns, sacctDelimiter)+"\n"), ingest.Options{})
	require.NoError(t, err)
	for _, err := range r.Batches() {
		require.NoError(t, err)
	}
	report := r.Report()
	require.Empty(t, report.Warnings)
	require.True(t, report.HasDBIndex && report.HasAllocTRES && !report.HasElapsedOnly)
	require.Equal(t, "JobName", sacctColumns[len(sacctColumns)-1], "what a user writes stands last")
}

func TestHarmlessMessages(t *testing.T) {
	f := func(line string, harmless bool) {
		t.Helper()
		r := &answer{stderr: limitedBuffer{[]byte(line + "\n")}}
		said, passed := r.said()
		if harmless {
			require.Empty(t, said)
			require.Equal(t, []string{line}, passed)
			return
		}
		require.Equal(t, []string{line}, said)
		require.Empty(t, passed)
	}
	f("Warning: Permanently added 'login1,10.0.0.1' (ECDSA) to the list of known hosts.", true)
	f("bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)", true)
	f("/bin/sh: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)", true)
	f("-bash: line 1: warning: setlocale: LC_TIME: cannot change locale (de_DE.UTF-8): No such file or directory", true)
	f("** WARNING: connection is not using a post-quantum key exchange algorithm.", true)
	f(`** This session may be vulnerable to "store now, decrypt later" attacks.`, true)
	f("** The server may need to be upgraded. See https://openssh.com/pq.html", true)
	f("sacct: error: slurmdbd: Unable to connect", false)
	f("sacct: error: Problem talking to the database: Connection refused", false)
	f("slurm_persist_conn_open_without_init: failed to open persistent connection", false)
	f("Warning: Permanently added x to the list of known hosts. sacct: error: no", false)
	f("sacct: warning: anything", false)
}

// Windows of a source in a zone whose clocks change: days have 23 and 25
// hours, and each is asked for whole.
func TestWindows(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	at := func(text string) time.Time {
		x, err := time.ParseInLocation(sacctTime, text, berlin)
		require.NoError(t, err)
		return x
	}
	f := func(lookBack int, first, again, now string, taken []string, want ...string) {
		t.Helper()
		src := &sourceConfig{Cluster: "c1", Zone: berlin, LookBackDays: lookBack}
		var againAt time.Time
		if again != "" {
			againAt = at(again)
		}
		var got []string
		for _, w := range src.windows(answersOf(t, at, taken), at(first), againAt, at(now)) {
			got = append(got, w.from.Format(sacctTime)+" "+w.to.Format(sacctTime))
		}
		require.Equal(t, want, got)
	}
	const midnight = "T00:00:00"
	// Never asked: from the day of the first instant.
	f(0, "2026-03-28T13:00:00", "", "2026-03-30T08:00:00", nil, "2026-03-28T00:00:00 2026-03-30T08:00:00")
	// The day of 23 hours, taken whole, and one second less.
	f(0, "2026-03-29"+midnight, "", "2026-03-30T08:00:00", []string{"2026-03-29T00:00:00 2026-03-30T00:00:00"},
		"2026-03-30T00:00:00 2026-03-30T08:00:00")
	f(0, "2026-03-29"+midnight, "", "2026-03-30T08:00:00", []string{"2026-03-29T00:00:00 2026-03-29T23:59:59"},
		"2026-03-29T00:00:00 2026-03-30T08:00:00")
	// Asked for less than an hour after its end, a day may lack records that
	// were on their way; half of it is not asked for.
	f(0, "2026-03-04"+midnight, "", "2026-03-05T08:00:00", []string{"2026-03-04T00:00:00 2026-03-05T00:00:00 2026-03-05T00:59:59"},
		"2026-03-04T00:00:00 2026-03-05T08:00:00")
	f(0, "2026-03-04"+midnight, "", "2026-03-05T08:00:00", []string{"2026-03-04T00:00:00 2026-03-05T00:00:00 2026-03-05T01:00:00"},
		"2026-03-05T00:00:00 2026-03-05T08:00:00")
	// A gap in the middle is asked for by itself, and the look-back.
	f(1, "2026-03-01"+midnight, "", "2026-03-20T08:00:00",
		[]string{"2026-03-01T00:00:00 2026-03-05T00:00:00", "2026-03-07T00:00:00 2026-03-20T00:00:00"},
		"2026-03-05T00:00:00 2026-03-07T00:00:00", "2026-03-19T00:00:00 2026-03-20T08:00:00")
	// At midnight today has not begun.
	f(0, "2026-03-01"+midnight, "", "2026-03-03T00:00:00", nil, "2026-03-01T00:00:00 2026-03-03T00:00:00")
	f(0, "2026-03-01"+midnight, "", "2026-03-03T00:00:00", []string{"2026-03-01T00:00:00 2026-03-03T00:00:00"})
	// 31 days at most.
	f(0, "2026-01-01"+midnight, "", "2026-03-10T12:00:00", nil, "2026-01-01T00:00:00 2026-02-01T00:00:00",
		"2026-02-01T00:00:00 2026-03-04T00:00:00", "2026-03-04T00:00:00 2026-03-10T12:00:00")
	// Again from a day on; not before the first.
	f(0, "2026-03-01"+midnight, "2026-02-01"+midnight, "2026-03-04T12:00:00", []string{"2026-03-01T00:00:00 2026-03-04T00:00:00"},
		"2026-03-01T00:00:00 2026-03-04T12:00:00")
	// Nothing has begun yet.
	f(7, "2026-04-01"+midnight, "", "2026-03-04T12:00:00", nil)
}

// answersOf makes the records of ingests that took these spans for c1, long
// after or at the third time, and one of another cluster that took everything.
func answersOf(t *testing.T, at func(string) time.Time, spans []string) []jobstore.Record {
	t.Helper()
	records := []jobstore.Record{{Asked: jobstore.Asked{Series: "command:c2", From: 1, To: 1 << 40}, IngestedAt: at("2027-01-01T00:00:00")}}
	for _, span := range spans {
		words := strings.Fields(span)
		asked := jobstore.Asked{Series: "command:c1", From: ingest.Instant(at(words[0]).Unix()), To: ingest.Instant(at(words[1]).Unix())}
		r := jobstore.Record{Asked: asked, IngestedAt: at("2027-01-01T00:00:00")}
		if len(words) == 3 {
			r.IngestedAt = at(words[2])
		}
		records = append(records, r)
	}
	return records
}
