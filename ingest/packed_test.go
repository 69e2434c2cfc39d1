package ingest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

func TestC13CutOff(t *testing.T) {
	text := lines(layoutA, rowA(), rowA())
	jobs, report := mustRead(t, text[:len(text)-1], Options{})
	require.Len(t, jobs, 2)
	require.False(t, report.Truncated)
	require.Equal(t, WarnNoFinalNewline, report.Warnings[0].Kind)

	jobs, report = mustRead(t, text[:len(text)-60], Options{})
	require.Len(t, jobs, 1)
	require.True(t, report.Truncated)
	require.Contains(t, report.Quarantined[0].Reason, "the file ends inside this record")

	// In the last cell the cut shows by the missing new line alone: what
	// stands there would be billed, unless it is a text of the user's.
	f := func(last, cell string, jobs int64) {
		t.Helper()
		layout := strings.Replace(layoutA, "|"+last, "", 1) + "|" + last
		cells := map[string]string{}
		for i, name := range strings.Split(layoutA, "|") {
			cells[name] = strings.Split(rowA(), "|")[i]
		}
		cells[last] = cell
		var values []string
		for _, name := range strings.Split(layout, "|") {
			values = append(values, cells[name])
		}
		_, report := mustRead(t, layout+"\n"+strings.Join(values, "|"), Options{})
		require.Equal(t, jobs, report.Jobs, last)
		require.Equal(t, jobs == 0, report.Truncated, last)
		if jobs == 0 {
			require.Contains(t, report.Quarantined[0].Reason, last+": the file ends inside this record")
			require.Contains(t, report.Quarantined[0].Hint, "end its last line")
		}
		_, report = mustRead(t, layout+"\n"+strings.Join(values, "|")+"\n", Options{})
		require.Equal(t, int64(1), report.Jobs, last)
	}
	f("AllocTRES", "billing=4,cpu=4,mem=8", 0)
	f("ElapsedRaw", "36", 0)
	f("Account", "lab_", 0)
	f("NCPUS", "4", 0)
	f("JobName", "wor", 1)
	f("State", "COMPLETED", 1)

	packed := gzipped(text)
	for cut := 1; cut < len(packed); cut += 7 {
		_, _, err := read(string(packed[:cut]), Options{})
		require.Error(t, err, cut)
	}
}

func gzipped(texts ...string) []byte {
	var b bytes.Buffer
	for _, text := range texts {
		w := gzip.NewWriter(&b)
		io.WriteString(w, text)
		w.Close()
	}
	return b.Bytes()
}

func TestPacked(t *testing.T) {
	text := lines(layoutA, rowA(), rowA("JobName=a|b"))
	want, plain := mustRead(t, text, Options{})
	got, report := mustRead(t, string(gzipped(text[:100], text[100:])), Options{}) // two members
	require.Equal(t, want, got)
	require.NotEqual(t, plain.Digest, report.Digest)
	require.Equal(t, int64(len(text)), report.TextBytes)

	var b bytes.Buffer
	for _, part := range []string{text[:90], text[90:]} { // two frames
		w, err := zstd.NewWriter(&b)
		require.NoError(t, err)
		io.WriteString(w, part)
		require.NoError(t, w.Close())
	}
	got, report = mustRead(t, b.String(), Options{})
	require.Equal(t, want, got)
	require.Equal(t, int64(b.Len()), report.Bytes)
	refused(t, b.String()[:b.Len()-5], "zstd", "copy the file again", Options{})
	refused(t, string(gzipped(string(gzipped(text)))), "packed twice", "unpack", Options{})
	padded, report := mustRead(t, string(gzipped(text[:90], "", text[90:]))+strings.Repeat("\x00", 700), Options{}) // of a tape's block
	require.Equal(t, want, padded)
	require.Equal(t, int64(len(text)), report.TextBytes)
	refused(t, string(gzipped(text))+"\x00\x00"+string(gzipped(text)), "gzip", "copy the file again", Options{})
	refused(t, string(gzipped(text))+text, "gzip", "copy the file again", Options{})
	second := gzipped(text[:90], text[90:])
	refused(t, string(second[:len(second)-9]), "cut off", "copy the file again", Options{})
	refused(t, string(gzipped(text))+"junk", "gzip", "copy the file again", Options{})
}

// A hole of NUL bytes may hide the end of one record and the head of another.
func TestHole(t *testing.T) {
	text := layoutA + "\n"
	for len(text) < blockBytes {
		text += rowA() + "\n"
	}
	at := strings.Count(text, "\n") + 1
	for _, row := range []string{rowA("JobName=a\x00\x00b"), rowA("Account=l\x00b"), "\x00\x00"} {
		refused(t, text+row+"\n", fmt.Sprintf("dump.txt:%d: the line holds NUL bytes", at), "copy the file again", Options{})
	}
}

func TestDigest(t *testing.T) { // SHA-256 of "JobID|…\n", by sha256sum
	_, report := mustRead(t, "JobID|Cluster|Account|State|Start|End|Elapsed|AllocTRES\n", Options{})
	require.Equal(t, "b4f5a95fc137c9ca", report.Digest[:16])
}
