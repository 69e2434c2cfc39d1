package chargestore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

const march = "2026-03"

func each(outcomes []rating.Outcome) iter.Seq2[rating.Outcome, error] {
	return func(yield func(rating.Outcome, error) bool) {
		for _, o := range outcomes {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func readAll(t testing.TB, dir, group string) []Row {
	t.Helper()
	var rows []Row
	for row, err := range Read(dir, march, group) {
		require.NoError(t, err)
		rows = append(rows, row)
	}
	return rows
}

func parse(t testing.TB, text string) money.Exact {
	t.Helper()
	x, err := money.ParseDecimal(text)
	require.NoError(t, err)
	return x
}

// smpJob is a job with every column filled.
func smpJob(raw uint64) *ingest.Job {
	return &ingest.Job{
		Cluster: "smp", JobID: fmt.Sprint(raw), JobIDRaw: raw, User: "ada", Account: "chem", Partition: "smp,hi",
		QoS: "normal", Name: "a job", State: ingest.Completed,
		Start: 1772366400, End: 1772366400 + 3600, ElapsedSeconds: 3600,
		NodeCount: 1, CPUs: 16, GPUs: 0, MemoryMiB: 65536, Billing: 16,
		Source: ingest.Source{File: "dumps/smp.txt.gz", Digest: strings.Repeat("a1", 32), Line: int64(raw) + 1},
	}
}

var smpReason = rating.Reason{Card: "pitt-crc", CardDigest: strings.Repeat("c0", 32),
	Version: rates.Date{Year: 2025, Month: 7, Day: 1}, Rule: "smp", File: "rates/pitt-crc.yaml", Line: 12}

func smpCharge(quantity, price money.Exact) rating.Charge {
	return rating.Charge{Group: "chem-theory", Meter: "su", Unit: "SU", Quantity: quantity, Price: price,
		PriceLabel: "internal", Amount: quantity.Mul(price), Reason: smpReason}
}

func outcomeOf(j *ingest.Job, charges ...rating.Charge) rating.Outcome {
	return rating.Outcome{Job: j, Group: "chem-theory", Charges: charges, Seconds: j.ElapsedSeconds, From: j.Start, Until: j.End}
}

func requireRow(t *testing.T, o *rating.Outcome, c rating.Charge, got Row) {
	t.Helper()
	job := *o.Job
	job.ElapsedSeconds = 0 // the row has the part's
	require.Equal(t, job, got.Job)
	require.Equal(t, o.Verdict, got.Verdict)
	require.Equal(t, []string{o.Cause.Code, o.Cause.Detail}, []string{got.Cause.Code, got.Cause.Detail})
	require.Equal(t, []int64{o.Seconds, int64(o.From), int64(o.Until)}, []int64{got.Seconds, int64(got.From), int64(got.Until)})
	for _, exact := range [][2]money.Exact{{c.Quantity, got.Charge.Quantity}, {c.Price, got.Charge.Price}, {c.Amount, got.Charge.Amount}} {
		require.True(t, exact[0].Equal(exact[1]), "%s is not %s", exact[1], exact[0])
	}
	c.Quantity, c.Price, c.Amount = got.Charge.Quantity, got.Charge.Price, got.Charge.Amount
	require.Equal(t, c, got.Charge)
}

func TestChargesComeBackExactly(t *testing.T) {
	huge := money.Int(math.MaxInt64).Mul(money.Ratio(math.MaxInt64, 7919))
	f := func(quantity, price money.Exact) {
		t.Helper()
		dir := t.TempDir()
		o := outcomeOf(smpJob(812), smpCharge(quantity, price))
		require.NoError(t, Write(dir, march, each([]rating.Outcome{o})))
		rows := readAll(t, dir, "chem-theory")
		require.Len(t, rows, 1)
		requireRow(t, &o, o.Charges[0], rows[0])
	}
	f(money.Ratio(160063, 3600), parse(t, "0.012"))
	f(money.Ratio(-160063, 3600), parse(t, "0.012"))
	f(money.Ratio(1, 3), money.Ratio(1, 3))
	f(money.Exact{}, money.Exact{})
	f(money.Ratio(40, 3600), parse(t, "0.0000087890625")) // 13 decimals
	f(money.Int(math.MaxInt64), money.Int(1))
	f(money.Int(-math.MaxInt64), money.Int(1))
	f(money.Int(math.MinInt64), money.Int(1))
	f(money.Ratio(1, math.MaxInt64), parse(t, "1e-30"))
	f(huge, huge)
	f(huge.Neg(), parse(t, "0.1"))
}

// columnsOf reads some columns of a period as they stand in the file.
func columnsOf(t *testing.T, dir string) (page columnar.Page) {
	t.Helper()
	f, err := os.Open(fileOf(dir, march))
	require.NoError(t, err)
	defer f.Close()
	file, err := chargesTable().Open(f)
	require.NoError(t, err)
	all := make([]int, columnCount)
	for i := range all {
		all[i] = i
	}
	pages, err := file.Pages(0, all)
	require.NoError(t, err)
	require.NoError(t, pages.Next(&page))
	return page
}

func TestDecimalsAreRoundedAndFractionsInLowestTerms(t *testing.T) {
	dir := t.TempDir()
	tooLarge := money.Int(1_000_000_000).Mul(money.Int(1_000_000_000)).Mul(money.Int(1_000_000_000)) // 10^27
	require.NoError(t, Write(dir, march, each([]rating.Outcome{
		outcomeOf(smpJob(1), smpCharge(money.Ratio(7200, 3600), parse(t, "0.012"))),
		outcomeOf(smpJob(2), smpCharge(money.Ratio(160063, 3600), money.Int(1))),
		outcomeOf(smpJob(3), smpCharge(money.Ratio(-2, 3), money.Int(1))),
		outcomeOf(smpJob(4), smpCharge(tooLarge, money.Int(1))),
		outcomeOf(smpJob(5)),
	})))
	page := columnsOf(t, dir)
	require.Equal(t, 5, page.Rows)
	v := page.Vectors
	minus := columnar.Int128{High: -1, Low: math.MaxUint64 - 666_666_666_667 + 1}
	require.Equal(t, []columnar.Int128{{Low: 2_000_000_000_000}, {Low: 44_461_944_444_444}, minus}, v[colQuantity].Wide[:3])
	for row, there := range []bool{true, true, true, false, false} {
		require.Equal(t, there, v[colQuantity].Ints[row] != noDecimal, row)
	}
	require.Equal(t, []int64{2, 160063, -2, noNumerator, noNumerator}, v[colQuantityNumerator].Ints)
	require.Equal(t, []int64{1, 3600, 3, noDenominator, noDenominator}, v[colQuantityDenominator].Ints)
	require.Equal(t, []int64{3, 160063, -2, noNumerator, noNumerator}, v[colAmountNumerator].Ints)
	require.Equal(t, []int64{125, 3600, 3, noDenominator, noDenominator}, v[colAmountDenominator].Ints)
	exact := v[colQuantityExact]
	require.Equal(t, "1000000000000000000000000000/1", exact.Dict[exact.Index[3]])
	require.Equal(t, "", exact.Dict[exact.Index[4]])
}

func TestEveryVerdictHasItsRow(t *testing.T) {
	dir := t.TempDir()
	held := outcomeOf(smpJob(1))
	held.Verdict, held.Group = rating.Held, ""
	held.Cause = rating.Cause{Code: rating.NoGroup, Detail: "account=chem_new cluster=smp"}
	waived := outcomeOf(smpJob(2), smpCharge(money.Int(3), money.Ratio(1, 8)))
	waived.Verdict, waived.Cause = rating.Waived, rating.Cause{Code: rating.ByRule, Detail: "node failure"}
	excluded := outcomeOf(smpJob(3))
	excluded.Verdict, excluded.Cause = rating.Excluded, rating.Cause{Code: rating.ByRule, Detail: "preemptible", Reason: smpReason}
	notRun := outcomeOf(smpJob(4))
	notRun.Job.Start, notRun.Job.ElapsedSeconds = ingest.None, 0
	notRun.Job.CPUs, notRun.Job.GPUs, notRun.Job.MemoryMiB, notRun.Job.Billing = ingest.Unknown, ingest.Unknown, ingest.Unknown, ingest.Unknown
	notRun.Verdict, notRun.From, notRun.Seconds, notRun.Group = rating.NotRun, ingest.None, 0, ""
	running := outcomeOf(smpJob(5))
	running.Job.End = ingest.None
	running.Verdict, running.Until, running.Group = rating.Running, ingest.None, ""
	two := outcomeOf(smpJob(6), smpCharge(money.Int(3), money.Ratio(1, 8)), smpCharge(money.Int(4), money.Ratio(1, 8)))
	two.Charges[0].Meter, two.Charges[1].Meter = "gpu_hours", "core_hours"

	require.NoError(t, Write(dir, march, each([]rating.Outcome{two, held, waived, excluded, notRun, running})))
	rows := readAll(t, dir, "")
	require.Len(t, rows, 7)
	requireRow(t, &running, rating.Charge{}, rows[0]) // no group and no end come first
	requireRow(t, &held, rating.Charge{}, rows[1])
	requireRow(t, &notRun, rating.Charge{}, rows[2])
	requireRow(t, &waived, waived.Charges[0], rows[3])
	requireRow(t, &excluded, rating.Charge{}, rows[4])
	requireRow(t, &two, two.Charges[1], rows[5]) // by meter
	requireRow(t, &two, two.Charges[0], rows[6])
	require.Equal(t, smpReason, rows[4].Cause.Reason)
	require.Equal(t, []string{"", "chem-theory"}, []string{rows[1].Group, rows[4].Group})
}

func TestHostileTextsComeBack(t *testing.T) {
	dir := t.TempDir()
	var outcomes []rating.Outcome
	for i, text := range []string{"", "=cmd()", "<script>", "a|b\nc\r\t", "\x00\x01\x7f", "💥é\u202e", strings.Repeat("x", 100_000), "../../etc"} {
		o := outcomeOf(smpJob(uint64(i)+1), smpCharge(money.Int(int64(i)), money.Int(1)))
		o.Job.Name, o.Job.User, o.Job.Account, o.Job.JobID, o.Job.Cluster = text, text, text, text, text
		o.Charges[0].Group = "g" + text
		o.Group = "g" + text
		outcomes = append(outcomes, o)
	}
	require.NoError(t, Write(dir, march, each(outcomes)))
	for i := range outcomes {
		rows := readAll(t, dir, outcomes[i].Group)
		require.Len(t, rows, 1)
		requireRow(t, &outcomes[i], outcomes[i].Charges[0], rows[0])
	}
}

// month makes n outcomes of all kinds, which depend on their numbers alone.
func month(n int) []rating.Outcome {
	random := rand.New(rand.NewPCG(1, 2))
	outcomes := make([]rating.Outcome, n)
	for i := range outcomes {
		group := fmt.Sprintf("g%02d", min(random.IntN(40), random.IntN(40)))
		j := smpJob(uint64(1000 + i/2)) // some raw ids twice
		j.Cluster = []string{"gpu", "mpi", "smp"}[random.IntN(3)]
		j.User, j.Name = fmt.Sprintf("u%d", random.IntN(300)), fmt.Sprintf("job %d", random.IntN(1+n/2))
		j.End = 1772366400 + ingest.Instant(random.IntN(1+n/8))
		j.Start = j.End - ingest.Instant(random.IntN(90000))
		o := outcomeOf(j)
		o.Group = group
		for m := range random.IntN(3) {
			c := smpCharge(money.Ratio(int64(random.IntN(1e6)), 3600), money.Ratio(int64(1+random.IntN(5)), 1000))
			c.Group, c.Meter = group, []string{"su", "gpu_hours"}[m]
			o.Charges = append(o.Charges, c)
		}
		if len(o.Charges) == 0 {
			o.Verdict, o.Cause = rating.Held, rating.Cause{Code: rating.NoRule, Detail: "partition=" + j.User}
		}
		outcomes[i] = o
	}
	return outcomes
}

func rowsOf(outcomes []rating.Outcome) (n int) {
	for _, o := range outcomes {
		n += max(1, len(o.Charges))
	}
	return n
}

func compareRows(a, b Row) int {
	for _, c := range []int{strings.Compare(a.Group, b.Group), strings.Compare(a.Job.Cluster, b.Job.Cluster),
		int(a.Job.End - b.Job.End), int(a.Job.JobIDRaw) - int(b.Job.JobIDRaw), int(a.From - b.From), strings.Compare(a.Charge.Meter, b.Charge.Meter)} {
		if c != 0 {
			return c
		}
	}
	return 0
}

// However few rows are kept in memory, and however many cores encode them, all
// rows are there, and the same outcomes give the same bytes.
func TestTheSameOutcomesGiveTheSameBytes(t *testing.T) {
	outcomes := month(9000)
	want := rowsOf(outcomes)
	for _, kept := range []int{1 << 30, 2500, 777} {
		var first []byte
		for _, cores := range []int{1, 4} {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			dir := t.TempDir()
			w := writing{keptRows: kept, keptTextBytes: keptTextBytes, at: func(string) {}}
			require.NoError(t, w.write(dir, march, rowsOfEach(outcomes)))
			got, err := os.ReadFile(fileOf(dir, march))
			require.NoError(t, err)
			if first == nil {
				first = got
			}
			require.True(t, string(first) == string(got), "%d rows kept", kept)
			require.Len(t, readAll(t, dir, ""), want)
		}
	}
}

// Outcomes that come by cluster and end, as the store gives jobs, are read back
// by group in that order; whatever the order, all rows of a group are found.
func TestRowsAreSortedAndGroupsFound(t *testing.T) {
	outcomes := month(20_000)
	f := func(kept int, sorted bool) {
		t.Helper()
		dir := t.TempDir()
		w := writing{keptRows: kept, keptTextBytes: keptTextBytes, at: func(string) {}}
		require.NoError(t, w.write(dir, march, rowsOfEach(outcomes)))
		rows := readAll(t, dir, "")
		require.Len(t, rows, rowsOf(outcomes))
		of := map[string][]Row{}
		for _, row := range rows {
			of[row.Group] = append(of[row.Group], row)
		}
		for _, group := range []string{"g00", "g07", "g21", "g39"} {
			require.True(t, slices.Equal(of[group], readAll(t, dir, group)), group)
			require.True(t, !sorted || slices.IsSortedFunc(of[group], compareRows), group)
		}
		require.Empty(t, readAll(t, dir, "g"))
		require.Empty(t, readAll(t, dir, "zzz"))
	}
	f(1<<30, true)
	f(7000, false)
	slices.SortStableFunc(outcomes, func(a, b rating.Outcome) int {
		return cmp.Or(strings.Compare(a.Job.Cluster, b.Job.Cluster), int(a.Job.End-b.Job.End), int(a.Job.JobIDRaw)-int(b.Job.JobIDRaw), int(a.From-b.From))
	})
	f(7000, true)
	f(1000, true)
}

func TestTheDocumentationListsTheColumns(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for i, c := range describedColumns() {
		require.Regexp(t, `(?m)^//\t.*\b`+c.Name+`\b`, string(doc), i)
	}
}

func TestRowGroups(t *testing.T) {
	f := func(counts map[string]int, want ...int) {
		t.Helper()
		require.Equal(t, want, rowGroups(counts))
	}
	f(map[string]int{})
	f(map[string]int{"a": 1}, 1)
	f(map[string]int{"a": 1, "b": 2, "c": 3}, 6)
	f(map[string]int{"a": 10_000, "b": 6384, "c": 1}, 16384, 1)
	f(map[string]int{"a": 10, "b": 20_000, "c": 1}, 10, 20_000, 1)
	f(map[string]int{"a": 65_536}, 65_536)
	f(map[string]int{"a": 150_000, "b": 5}, 65_536, 65_536, 18_928, 5)
	f(map[string]int{"a": 65_537, "b": 5}, 65_536, 6)
}

func TestReadingAGroupReadsLittleElse(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir, march, each(month(40_000))))
	f, err := os.Open(fileOf(dir, march))
	require.NoError(t, err)
	defer f.Close()
	file, err := chargesTable().Open(f)
	require.NoError(t, err)
	r := &reader{file: file, group: "g20"}
	read := 0
	for i := range file.RowGroups() {
		wanted, err := r.wants(i)
		require.NoError(t, err)
		if wanted {
			read += file.GroupRows(i)
		}
	}
	require.LessOrEqual(t, read, sharedRows)
	require.GreaterOrEqual(t, read, len(readAll(t, dir, "g20")))
}

func TestAMissingPeriodIsAnError(t *testing.T) {
	for _, err := range Read(t.TempDir(), march, "") {
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorContains(t, err, "no charges of 2026-03 in ")
		var missing *MissingError
		require.ErrorAs(t, err, &missing)
		require.Equal(t, "hpcbill bill --period 2026-03 writes them", missing.Hint())
	}
}

func TestAnEmptyPeriod(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir, march, each(nil)))
	require.Empty(t, readAll(t, dir, ""))
	require.Empty(t, readAll(t, dir, "chem-theory"))
}

func TestStrangePeriodsAreRefused(t *testing.T) {
	for _, period := range []string{"", "2026", "2026-3", "../2026-03", "2026-03/x", "2026-03\n"} {
		require.ErrorContains(t, Write(t.TempDir(), period, each(nil)), "is not a period", period)
		for _, err := range Read(t.TempDir(), period, "") {
			require.ErrorContains(t, err, "is not a period", period)
		}
	}
}

func TestACutOffFileIsAnError(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir, march, each(month(3000))))
	name := fileOf(dir, march)
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	for _, size := range []int{0, 3, 4, 12, len(whole) / 3, len(whole) - 8, len(whole) - 1} {
		require.NoError(t, os.WriteFile(name, whole[:size], 0o644))
		var got error
		for _, err := range Read(dir, march, "") {
			got = err
		}
		require.Error(t, got, "cut at %d", size)
	}
	// The charges of another month under this month's name.
	require.NoError(t, os.WriteFile(name, whole, 0o644))
	require.NoError(t, os.MkdirAll(partitionOf(dir, "2026-04"), 0o755))
	require.NoError(t, os.Rename(name, fileOf(dir, "2026-04")))
	for _, err := range Read(dir, "2026-04", "") {
		require.ErrorContains(t, err, `holds the charges of "2026-03"`)
	}
}

func TestAnErrorLeavesTheOldPeriod(t *testing.T) {
	dir := t.TempDir()
	old := []rating.Outcome{outcomeOf(smpJob(1), smpCharge(money.Int(1), money.Int(1)))}
	require.NoError(t, Write(dir, march, each(old)))
	broken := errors.New("the disk is on fire")
	failing := func(yield func(rating.Outcome, error) bool) {
		if each(month(100)); yield(old[0], nil) {
			yield(rating.Outcome{}, broken)
		}
	}
	require.ErrorIs(t, Write(dir, march, failing), broken)
	require.Len(t, readAll(t, dir, ""), 1)
	requireOnlyTheFile(t, dir)

	// A new period that failed leaves no trace.
	require.ErrorIs(t, Write(dir, "2026-04", failing), broken)
	require.NoDirExists(t, partitionOf(dir, "2026-04"))
}

func requireOnlyTheFile(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(partitionOf(dir, march))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, "charges-2026-03.parquet", entries[0].Name())
}

// TestACrashLeavesTheOldPeriod stops a writer where a kill would be felt:
// when the new file is written and not yet renamed.
func TestACrashLeavesTheOldPeriod(t *testing.T) {
	dir := t.TempDir()
	old := []rating.Outcome{outcomeOf(smpJob(1), smpCharge(money.Int(1), money.Int(1)))}
	require.NoError(t, Write(dir, march, each(old)))
	func() {
		defer func() { require.Equal(t, "killed", recover()) }()
		w := writing{keptRows: 100, keptTextBytes: keptTextBytes, at: func(step string) {
			if step == "written" {
				panic("killed")
			}
		}}
		_ = w.write(dir, march, rowsOfEach(month(1000)))
	}()
	require.FileExists(t, filepath.Join(partitionOf(dir, march), temporaryName))
	require.Len(t, readAll(t, dir, ""), 1)
	require.NoError(t, Write(dir, march, each(month(50))))
	require.Len(t, readAll(t, dir, ""), rowsOf(month(50)))
	requireOnlyTheFile(t, dir)
}

func TestTwoWritersOfAPeriod(t *testing.T) {
	dir := t.TempDir()
	err := Write(dir, march, func(func(rating.Outcome, error) bool) {
		var busy *BusyError
		require.ErrorAs(t, Write(dir, march, each(nil)), &busy)
		require.Equal(t, "wait until that has finished, then run this again", busy.Hint())
		require.NoError(t, Write(dir, "2026-04", each(nil)))
	})
	require.NoError(t, err)
}

// TestNothingIsKeptOfAnOutcome rates as the Rater does: into the same memory.
func TestNothingIsKeptOfAnOutcome(t *testing.T) {
	dir := t.TempDir()
	outcomes := month(3000)
	require.NoError(t, Write(dir, march, func(yield func(rating.Outcome, error) bool) {
		var job ingest.Job
		charges := make([]rating.Charge, 0, 2)
		name := make([]byte, 0, 64)
		for _, o := range outcomes {
			job, charges = *o.Job, append(charges[:0], o.Charges...)
			name = append(name[:0], job.Name...)
			o.Job, o.Charges = &job, charges
			more := yield(o, nil)
			clear(charges)
			job = ingest.Job{}
			if !more {
				return
			}
		}
	}))
	other := t.TempDir()
	require.NoError(t, Write(other, march, each(outcomes)))
	require.Equal(t, readAll(t, other, ""), readAll(t, dir, ""))
}

func rowsOfEach(outcomes []rating.Outcome) iter.Seq2[*Rows, error] {
	return rowsOfOutcomes(each(outcomes))
}
