package invoice

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// march is the period of most tests: March 2026 in Berlin, which has a clock
// change on the 29th.
func march(t testing.TB) rates.Period {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	return rates.MonthOf(2026, 3, zone)
}

var usd = money.Currency{Code: "USD", Digits: 2}

func exact(t testing.TB, text string) money.Exact {
	t.Helper()
	x, err := ParseExact(text)
	require.NoError(t, err)
	return x
}

func date(t testing.TB, text string) rates.Date {
	t.Helper()
	if text == "" {
		return rates.Date{}
	}
	d, err := rates.ParseDate(text)
	require.NoError(t, err)
	return d
}

// allocation is a prepaid balance of SU.
func allocation(t testing.TB, name, units, from, until string, o rates.Overdraft) *rates.Allocation {
	t.Helper()
	return &rates.Allocation{
		Name: name, Meter: "su", Units: exact(t, units), From: date(t, from), Until: date(t, until), Overdraft: o,
	}
}

// chemistry is a roster of one group with the allocations.
func chemistry(allocations ...*rates.Allocation) *rates.Roster {
	return &rates.Roster{Groups: []*rates.Group{{ID: "chem", Name: "Chemistry", Allocations: allocations}}}
}

func newComposer(t testing.TB, roster *rates.Roster) *Composer {
	t.Helper()
	c, err := NewComposer(march(t), Settings{Currency: usd, Rounding: DefaultRounding}, roster)
	require.NoError(t, err)
	return c
}

// charge is units of SU at a price.
func charge(t testing.TB, group, units, price string) rating.Charge {
	t.Helper()
	q, p := exact(t, units), exact(t, price)
	return rating.Charge{
		Group: group, Meter: "su", Unit: "SU", Quantity: q, Price: p, Amount: q.Mul(p),
		Reason: rating.Reason{Card: "pitt-crc", CardDigest: "d1", Version: rates.Date{Year: 2025, Month: 7, Day: 1}, Rule: "smp"},
	}
}

// jobs numbers the jobs of the tests.
var jobs atomic.Uint64

// job is another job on h2p that ended on the day of March 2026 at noon in Berlin.
func job(t testing.TB, day int, v rating.Verdict, seconds int64, charges ...rating.Charge) rating.Outcome {
	t.Helper()
	end := time.Date(2026, 3, day, 12, 0, 0, 0, march(t).Start.Location()).Unix()
	o := rating.Outcome{
		Job:     &ingest.Job{Cluster: "h2p", JobID: "1", JobIDRaw: jobs.Add(1), End: ingest.Instant(end), ElapsedSeconds: seconds},
		Verdict: v, Seconds: seconds, Charges: charges,
	}
	if len(charges) > 0 {
		o.Group = charges[0].Group
	}
	return o
}

func compose(t testing.TB, c *Composer, ledger ...LedgerEntry) ([]Invoice, Summary) {
	t.Helper()
	invoices, summary, err := c.Compose(ledger)
	require.NoError(t, err)
	return invoices, summary
}

// texts gives the lines as "KIND DESCRIPTION | AMOUNT".
func texts(inv Invoice) []string {
	var all []string
	for _, l := range inv.Lines {
		all = append(all, string(l.Kind)+" "+l.Description+" | "+inv.Currency.Format(l.Amount))
	}
	return all
}

func TestComposeFoldsChargesIntoLines(t *testing.T) {
	c := newComposer(t, chemistry())
	for range 3 {
		require.NoError(t, c.AddJob(new(job(t, 5, rating.Charged, 7200, charge(t, "chem", "6.4", "0.012")))))
	}
	require.NoError(t, c.AddJob(new(job(t, 6, rating.Charged, 2389, charge(t, "chem", "80047/1800", "0.031")))))
	require.NoError(t, c.AddJob(new(job(t, 6, rating.Excluded, 50))))
	require.NoError(t, c.AddJob(new(job(t, 6, rating.Held, 70))))
	invoices, summary := compose(t, c)

	require.Len(t, invoices, 1)
	// 19.2 SU × 0.012 = 0.2304; 44.4705… SU × 0.031 = 1.37859…
	require.Equal(t, []string{
		"usage 3 jobs on h2p: 19.2 SU at 0.012 USD per SU | 0.23",
		"usage 1 job on h2p: 44.470556 SU at 0.031 USD per SU | 1.38",
	}, texts(invoices[0]))
	require.Equal(t, money.Amount(161), invoices[0].Total)
	require.Equal(t, int64(4), invoices[0].Jobs)
	require.Equal(t, JobSeconds{Read: 24109, Billed: 23989, Excluded: 50, Held: 70}, summary.Seconds)
	require.Equal(t, JobCounts{Read: 6, Billed: 4, Excluded: 1, Held: 1}, summary.Jobs)
	require.Equal(t, int64(1), summary.Held())
}

// Slurm writes a record for each size of a job that was resized; where dumps
// have no DBIndex they differ in their times alone. Each is a record of the
// store, and counts.
func TestSizesOfOneJobCountEach(t *testing.T) {
	c := newComposer(t, chemistry())
	first := job(t, 5, rating.Charged, 3600, charge(t, "chem", "4", "0.02"))
	second := first
	resized := *first.Job
	resized.Start, resized.End = first.Job.End, first.Job.End+1800
	second.Job, second.Seconds = &resized, 1800
	require.NoError(t, c.AddJob(&first))
	require.NoError(t, c.AddJob(&second))
	invoices, summary := compose(t, c)
	require.Equal(t, int64(2), summary.Jobs.Read)
	require.Equal(t, int64(2), invoices[0].Jobs)
	require.NoError(t, summary.CheckRead(2, 5400))
}
