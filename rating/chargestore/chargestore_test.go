package chargestore

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

const november = ingest.Instant(1761955200)

// outcome is a charged job of a group, its numbers made of n.
func outcome(n int64, group string) rating.Outcome {
	j := &ingest.Job{
		Cluster: "lab", JobID: fmt.Sprintf("9_%d", n), JobIDRaw: uint64(n), User: fmt.Sprintf("u%d", n%5), Account: "acc",
		Partition: "smp", QoS: "normal", Name: "=cmd()|\"x\"\n", State: ingest.Completed,
		Start: november + ingest.Instant(n), End: november + ingest.Instant(2*n) + 1,
		NodeCount: 1, CPUs: 4, MemoryMiB: ingest.Unknown, GPUs: 0, Billing: 3,
		Source: ingest.Source{File: "dump.txt", Digest: "d1", Line: n + 2},
	}
	reason := rating.Reason{Card: "pitt-crc", CardDigest: "c1", Version: rates.Date{Year: 2025, Month: 7, Day: 1}, Rule: "smp", File: "rates/pitt.yaml", Line: 14}
	quantity, price := money.Ratio(n*64, 3600*10), money.Ratio(12, 1000)
	return rating.Outcome{
		Job: j, Group: group, Seconds: n, From: j.Start, Until: j.End,
		Charges: []rating.Charge{
			{Group: group, Meter: "su", Unit: "SU", Quantity: quantity, Price: price, PriceLabel: "internal", Amount: quantity.Mul(price), Reason: reason},
			{Group: group, Meter: "core_hours", Unit: "core-hour", Quantity: money.Ratio(n, 3600), Reason: reason},
		},
	}
}

func held(n int64) rating.Outcome {
	o := outcome(n, "")
	o.Verdict, o.Charges = rating.Held, nil
	o.Cause = rating.Cause{Code: "no group", Detail: "account=chem_new", Reason: rating.Reason{Card: "pitt-crc"}}
	return o
}

func of(outcomes ...rating.Outcome) iter.Seq2[rating.Outcome, error] {
	return func(yield func(rating.Outcome, error) bool) {
		for _, o := range outcomes {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func collect(t *testing.T, seq iter.Seq2[Row, error]) []Row {
	t.Helper()
	var rows []Row
	for row, err := range seq {
		require.NoError(t, err)
		rows = append(rows, row)
	}
	return rows
}

// requireRow compares a row with the charge of an outcome that it keeps.
func requireRow(t *testing.T, o rating.Outcome, charge int, row Row) {
	t.Helper()
	require.Equal(t, *o.Job, row.Job)
	require.Equal(t, o.Verdict, row.Verdict)
	require.Equal(t, []string{o.Cause.Code, o.Cause.Detail}, []string{row.Cause.Code, row.Cause.Detail})
	require.Equal(t, []int64{o.Seconds, int64(o.From), int64(o.Until)}, []int64{row.Seconds, int64(row.From), int64(row.Until)})
	require.Equal(t, o.Group, row.Group)
	if len(o.Charges) == 0 {
		require.Equal(t, "", row.Charge.Meter)
		return
	}
	want, got := o.Charges[charge], row.Charge
	for _, pair := range [][2]money.Exact{{want.Quantity, got.Quantity}, {want.Price, got.Price}, {want.Amount, got.Amount}} {
		require.True(t, pair[0].Equal(pair[1]), "%s is not %s", pair[1], pair[0])
	}
	want.Quantity, want.Price, want.Amount = got.Quantity, got.Price, got.Amount
	require.Equal(t, want, got)
}

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	outcomes := []rating.Outcome{outcome(1, "b"), held(2), outcome(3, "a"), outcome(4, "b")}
	outcomes[3].Verdict, outcomes[3].Cause = rating.Waived, rating.Cause{Code: "rule", Detail: "node failure"}
	require.NoError(t, Write(dir, "2025-11", of(outcomes...)))
	rows := collect(t, ReadAll(dir, "2025-11"))
	require.Len(t, rows, 7)
	requireRow(t, outcomes[1], 0, rows[0])
	requireRow(t, outcomes[2], 0, rows[1])
	requireRow(t, outcomes[2], 1, rows[2])
	requireRow(t, outcomes[0], 0, rows[3])
	requireRow(t, outcomes[0], 1, rows[4])
	requireRow(t, outcomes[3], 0, rows[5])
	requireRow(t, outcomes[3], 1, rows[6])
	require.Equal(t, rows[3:], collect(t, Read(dir, "2025-11", "b")))
	require.Equal(t, rows[:1], collect(t, Read(dir, "2025-11", "")))
	require.Empty(t, collect(t, Read(dir, "2025-11", "c")))
}

func TestNumbersOfAnySizeAndSignAreExact(t *testing.T) {
	dir := t.TempDir()
	decimal := func(text string) money.Exact {
		x, err := money.ParseDecimal(text)
		require.NoError(t, err)
		return x
	}
	numbers := []money.Exact{
		{}, decimal("-0.01"), decimal("99999999.99999999"), decimal("-99999999.9999999999999"), money.Ratio(-1, 3), money.Ratio(1, math.MaxInt64),
		money.Int(math.MaxInt64), money.Int(-math.MaxInt64), decimal("0.0000000000005"), decimal("12345678901234567890.1234567890123"),
		money.FromRat(big.NewRat(1, 7)).Mul(money.Int(math.MaxInt64)).Mul(money.Ratio(3, 11)),
	}
	var outcomes []rating.Outcome
	for i, x := range numbers {
		o := outcome(int64(i+1), "g")
		o.Charges = o.Charges[:1]
		o.Charges[0].Quantity, o.Charges[0].Price, o.Charges[0].Amount = x, x.Mul(x), x.Neg()
		outcomes = append(outcomes, o)
	}
	require.NoError(t, Write(dir, "2025-11", of(outcomes...)))
	for i, row := range collect(t, ReadAll(dir, "2025-11")) {
		requireRow(t, outcomes[i], 0, row)
	}
}

func TestATooLargeNumberIsRefused(t *testing.T) {
	dir := t.TempDir()
	o := outcome(1, "g")
	o.Charges[1].Amount = money.Int(math.MaxInt64).Mul(money.Int(math.MaxInt64))
	err := Write(dir, "2025-11", of(o))
	require.EqualError(t, err, "write charges of 2025-11: job lab/9_1: meter core_hours: amount: 85070591730234615847396907784232501249 does not fit decimal(38,12)")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1) // the lock
}

// many yields outcomes of several groups, enough for several files.
func many(n int) iter.Seq2[rating.Outcome, error] {
	groups := []string{"", "bio", "chem", "phys", "zoo"}
	return func(yield func(rating.Outcome, error) bool) {
		for i := range n {
			o := outcome(int64(i), groups[i*7%len(groups)])
			if o.Group == "" {
				o = held(int64(i))
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}

func TestManyRowsStandByGroupAndInOrder(t *testing.T) {
	dir := t.TempDir()
	const n = 160_000 // 288,000 rows
	require.NoError(t, Write(dir, "2025-11", many(n)))
	files, err := filepath.Glob(filepath.Join(dir, "period=2025-11", "part-*.parquet"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	rows := collect(t, ReadAll(dir, "2025-11"))
	require.Len(t, rows, n*9/5)
	require.True(t, slices.IsSortedFunc(rows, func(a, b Row) int {
		if a.Group != b.Group {
			return map[bool]int{true: -1, false: 1}[a.Group < b.Group]
		}
		return int(a.Job.JobIDRaw) - int(b.Job.JobIDRaw)
	}))
	bio := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Group != "bio" })
	require.True(t, slices.Equal(bio, collect(t, Read(dir, "2025-11", "bio"))))
}

func TestTheSameOutcomesGiveTheSameBytes(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		require.NoError(t, Write(dir, "2025-11", many(2000)))
	}
	for _, name := range []string{"part-00000.parquet", manifestName} {
		x, err := os.ReadFile(filepath.Join(a, "period=2025-11", name))
		require.NoError(t, err)
		y, err := os.ReadFile(filepath.Join(b, "period=2025-11", name))
		require.NoError(t, err)
		require.True(t, string(x) == string(y), name)
	}
}

func TestAPeriodIsReplacedWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir, "2025-11", of(outcome(1, "a"), outcome(2, "a"))))
	before := collect(t, ReadAll(dir, "2025-11"))
	broken := errors.New("broken")
	err := Write(dir, "2025-11", func(yield func(rating.Outcome, error) bool) {
		_ = yield(outcome(3, "a"), nil) && yield(rating.Outcome{}, broken)
	})
	require.ErrorIs(t, err, broken)
	require.Equal(t, before, collect(t, ReadAll(dir, "2025-11")))
	require.NoError(t, Write(dir, "2025-12", of(outcome(4, "a"))))
	require.NoError(t, Write(dir, "2025-11", of()))
	require.Empty(t, collect(t, ReadAll(dir, "2025-11")))
	require.Len(t, collect(t, ReadAll(dir, "2025-12")), 2)
}

func TestAKilledWriteIsUndone(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir, "2025-11", of(outcome(1, "a"))))
	// Killed between the two renames, and the next one on its way.
	require.NoError(t, os.Rename(periodDir(dir, "2025-11"), replacedDir(dir, "2025-11")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "_writing-2025-11"), 0o755))
	require.Len(t, collect(t, ReadAll(dir, "2025-11")), 2)
	err := Write(dir, "2025-11", func(yield func(rating.Outcome, error) bool) { yield(rating.Outcome{}, errors.New("no")) })
	require.Error(t, err)
	require.Len(t, collect(t, ReadAll(dir, "2025-11")), 2)
	require.NoError(t, Write(dir, "2025-11", of(outcome(1, "a"), outcome(2, "a"))))
	require.Len(t, collect(t, ReadAll(dir, "2025-11")), 4)
}

func TestDamageIsAnError(t *testing.T) {
	dir := t.TempDir()
	read := func() error {
		for _, err := range ReadAll(dir, "2025-11") {
			return err
		}
		return nil
	}
	require.ErrorIs(t, read(), ErrNoPeriod)
	require.NoError(t, Write(dir, "2025-11", of(outcome(1, "a"))))
	name := filepath.Join(periodDir(dir, "2025-11"), "part-00000.parquet")
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	for _, size := range []int{0, 4, len(whole) / 2, len(whole) - 1} {
		require.NoError(t, os.WriteFile(name, whole[:size], 0o644))
		require.ErrorContains(t, read(), "damaged or cut off")
	}
	require.NoError(t, os.Remove(name))
	require.ErrorIs(t, read(), os.ErrNotExist)
	require.NoError(t, os.WriteFile(name, whole, 0o644))
	require.NoError(t, read())
	require.NoError(t, os.Remove(filepath.Join(periodDir(dir, "2025-11"), manifestName)))
	require.ErrorIs(t, read(), ErrNoPeriod)
	require.ErrorContains(t, Write(dir, "../x", of()), "is not a period")
}
