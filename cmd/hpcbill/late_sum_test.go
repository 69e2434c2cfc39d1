package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/rates/money"
)

// What comes in late costs what it would have cost in time: the bills of four
// months, each issued before the dumps of the next came with jobs of all of
// them, add up to those of months that knew everything, with all that carries
// over.
func TestLateCostsWhatItWouldHaveCost(t *testing.T) {
	for _, seed := range []uint64{4, 10, 15} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			var dumps [5][]string // by the month before whose issue they come
			for month := 1; month <= 4; month++ {
				for range 1 + r.IntN(2) {
					dumps[month] = append(dumps[month], randomDump(r, month))
				}
			}
			inTime := dumps
			inTime[1] = nil
			for _, of := range dumps {
				inTime[1] = append(inTime[1], of...)
			}
			inTime[2], inTime[3], inTime[4] = nil, nil, nil
			require.Equal(t, issuedInAll(t, inTime), issuedInAll(t, dumps))
		})
	}
}

// issuedInAll gives what four months charge each group before overhead and tax.
func issuedInAll(t *testing.T, dumps [5][]string) map[string]money.Amount {
	t.Helper()
	ctx := context.Background()
	a, run := passedOverApp(t)
	number := 0
	for month := 1; month <= 4; month++ {
		for _, text := range dumps[month] {
			number++
			dump := filepath.Join(a.siteDir, fmt.Sprintf("dump-%d.txt", number))
			require.NoError(t, os.WriteFile(dump, []byte(text), 0o644))
			run("ingest", dump)
		}
		name := fmt.Sprintf("2025-%02d", month)
		run("bill", "--period", name, "--no-documents")
		run("issue", "--period", name)
	}
	run("verify", "--all")
	s, err := a.openSite()
	require.NoError(t, err)
	defer func() { require.NoError(t, s.close()) }()
	all, err := s.history.Invoices(ctx, history.Filter{})
	require.NoError(t, err)
	sums := map[string]money.Amount{}
	for _, inv := range all {
		sums[inv.Group.ID] += inv.List + inv.Reductions
		for _, l := range inv.Lines {
			if l.Kind == invoice.Prior {
				sums[inv.Group.ID] += l.Amount
			}
		}
	}
	return sums
}
