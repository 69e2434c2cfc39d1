package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
)

// The demo bills what testdata/demo/expected.csv says, which a program that
// shares nothing with this one worked out in fractions.
func TestDemoBillsWhatWasExpected(t *testing.T) {
	site := filepath.Join(t.TempDir(), "demo")
	run := func(args ...string) []byte {
		t.Helper()
		var stdout, stderr bytes.Buffer
		a := &app{stdin: bytes.NewReader(nil), stdout: &stdout, stderr: &stderr, now: time.Now, getenv: func(string) string { return "" }}
		require.Equal(t, exitDone, a.run(context.Background(), args), stderr.String())
		return stdout.Bytes()
	}
	run("demo", site)
	got := run("--site", site, "query", "--format", "csv", `
		SELECT group_id, cluster, meter, quantity_exact FROM v_invoice_lines WHERE kind IN ('usage', 'storage')`)

	sums := map[[3]string]*big.Rat{}
	for _, row := range readCSV(t, bytes.NewBuffer(got)) {
		key := [3]string{row[0], row[1], row[2]}
		quantity, ok := new(big.Rat).SetString(row[3])
		require.True(t, ok, row[3])
		if sums[key] == nil {
			sums[key] = new(big.Rat)
		}
		sums[key].Add(sums[key], quantity)
	}
	text, err := os.ReadFile(filepath.Join(repository, "testdata", "demo", "expected.csv"))
	require.NoError(t, err)
	expected := map[[3]string]string{}
	for _, row := range readCSV(t, bytes.NewBuffer(text)) {
		expected[[3]string{row[0], row[1], row[2]}] = row[3]
	}
	require.NotEmpty(t, expected)
	for key, quantity := range expected {
		require.NotNil(t, sums[key], "%v", key)
		require.Equal(t, quantity, money.FromRat(sums[key]).Decimal(6, money.HalfEven), "%v", key)
	}
	require.Len(t, sums, len(expected))
}

func readCSV(t *testing.T, text *bytes.Buffer) [][]string {
	t.Helper()
	r := csv.NewReader(text)
	r.Comment = '#'
	rows, err := r.ReadAll()
	require.NoError(t, err)
	return rows[1:]
}
