package invoice

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// held is a job that nothing was made of.
func held(t testing.TB, v rating.Verdict, code, detail string, seconds int64) rating.Outcome {
	o := job(t, 5, v, seconds)
	o.Cause = rating.Cause{Code: code, Detail: detail, Hint: "write a rule"}
	return o
}

func TestSummaryCountsByCause(t *testing.T) {
	c := newComposer(t, chemistry())
	for _, o := range []rating.Outcome{
		held(t, rating.Excluded, rating.ByRule, "preemptible", 100),
		held(t, rating.Held, rating.NoRule, "partition=x", 5),
		held(t, rating.Held, rating.NoRule, "partition=x", 6),
		held(t, rating.Held, rating.NoGroup, "account=y", 1000),
		held(t, rating.NotRun, "", "", 0),
		held(t, rating.Running, "", "", 7777),
	} {
		require.NoError(t, c.AddJob(&o))
	}
	invoices, s := compose(t, c)
	require.Empty(t, invoices)
	require.Equal(t, []string{"chem"}, s.NothingDue)
	require.Equal(t, []CauseSum{
		{rating.Held, false, rating.NoGroup, "account=y", "write a rule", 1, 1000, nil},
		{rating.Held, false, rating.NoRule, "partition=x", "write a rule", 2, 11, nil},
		{rating.Excluded, false, rating.ByRule, "preemptible", "write a rule", 1, 100, nil},
	}, s.Causes)
	require.Len(t, s.HeldCauses(), 2)
	require.Equal(t, int64(3), s.Held())
	require.Equal(t, JobCounts{Read: 6, Excluded: 1, Held: 3, NotRun: 1, Running: 1}, s.Jobs)
	require.Equal(t, JobSeconds{Read: 1111, Excluded: 100, Held: 1011, Running: 7777}, s.Seconds)
	require.NoError(t, s.CheckRead(5, 1111), "all but the one that runs")
	require.ErrorContains(t, s.CheckRead(7, 1111), "BUG: the store has 7 jobs")
}

func TestAJobInPartsCountsOnce(t *testing.T) {
	c := newComposer(t, chemistry())
	first := billed(t, 10, "5", "1")
	second := first // the same job under the next version, part of it held
	second.Charges = []rating.Charge{charge(t, "chem", "7", "2")}
	third := first
	third.Verdict, third.Charges, third.Cause = rating.Held, nil, rating.Cause{Code: rating.NoVersion}
	fourth := third
	for _, o := range []rating.Outcome{first, second, third, fourth} {
		require.NoError(t, c.AddJob(&o))
	}
	invoices, s := compose(t, c)
	require.Equal(t, JobCounts{Read: 1, Held: 1}, s.Jobs)
	require.Equal(t, JobSeconds{Read: 240, Billed: 120, Held: 120}, s.Seconds)
	require.Equal(t, int64(1), s.Causes[0].Count)
	require.Equal(t, int64(1), invoices[0].Jobs)
	require.Equal(t, []string{
		"usage 1 job on h2p: 5 SU at 1 USD per SU | 5.00",
		"usage 1 job on h2p: 7 SU at 2 USD per SU | 14.00",
	}, texts(invoices[0]))
}

func TestStorageAlone(t *testing.T) {
	roster := &rates.Roster{Groups: []*rates.Group{{ID: "a"}, {ID: "b"}, {ID: "c"}}}
	c := newComposer(t, roster)
	storage := charge(t, "b", "12.5", "3.20")
	storage.Meter, storage.Unit = "storage", "TB-month"
	require.NoError(t, c.AddStorage(rating.StorageOutcome{
		Holding: ingest.Holding{Group: "b", Filesystem: "ix"}, Charges: []rating.Charge{storage}, Days: 31,
	}))
	require.NoError(t, c.AddStorage(rating.StorageOutcome{
		Holding: ingest.Holding{Group: "c", Filesystem: "ix"}, Verdict: rating.Held, Cause: rating.Cause{Code: rating.NoRule},
	}))
	require.NoError(t, c.AddJob(new(job(t, 3, rating.Charged, 0, charge(t, "a", "0", "0.012"))))) // it ran for no second
	invoices, s := compose(t, c)
	require.Len(t, invoices, 1)
	require.Equal(t, []string{"storage Storage on ix: 12.5 TB-months at 3.2 USD per TB-month | 40.00"}, texts(invoices[0]))
	require.Equal(t, []string{"a", "c"}, s.NothingDue)
	require.Equal(t, HoldingCounts{Read: 2, Billed: 1, Held: 1}, s.Storage)
	require.Equal(t, int64(1), s.Held())
	require.True(t, s.Causes[0].Storage)
	require.Equal(t, int64(0), invoices[0].Jobs)
	require.Len(t, s.Meters, 2)
	require.Equal(t, "12.5", s.Meters[1].Quantity.String())
}

func TestStorageIsCoveredByItsLastDay(t *testing.T) {
	f := func(until ingest.Date, want string) {
		t.Helper()
		c := newComposer(t, chemistry(allocation(t, "a", "100", "2026-01-01", "2026-03-20", rates.OverdraftBill)))
		o := rating.StorageOutcome{Holding: ingest.Holding{Group: "chem", Filesystem: "ix", Until: until}, Charges: []rating.Charge{charge(t, "chem", "3", "1")}}
		require.NoError(t, c.AddStorage(o))
		invoices, _ := compose(t, c)
		require.Equal(t, want, invoices[0].Balances[0].Drawn.String())
	}
	f(ingest.Date{}, "0")
	f(ingest.Date{Year: 2026, Month: 3, Day: 20}, "3")
	f(ingest.Date{Year: 2026, Month: 3, Day: 21}, "0")
	f(ingest.Date{Year: 2027, Month: 1, Day: 1}, "0")
}

func TestRefusedOutcomes(t *testing.T) {
	c := newComposer(t, chemistry())
	f := func(part string, o rating.Outcome) {
		t.Helper()
		require.ErrorContains(t, c.AddJob(&o), part)
	}
	stranger := billed(t, 1, "1", "1")
	stranger.Charges[0].Group = "stranger"
	f(`BUG: a charge for group "stranger", which the roster does not have: job h2p/1`, stranger)
	negative := billed(t, 1, "-1", "1")
	negative.Charges[0].Reason.File, negative.Charges[0].Reason.Line = "rates/pitt.yaml", 12
	f("rates/pitt.yaml:12: rule smp: meter su: -1 SU for -1 is negative", negative)
	excluded := billed(t, 1, "1", "1")
	excluded.Verdict = rating.Excluded
	f("BUG: charges with verdict excluded", excluded)
	unknown := job(t, 1, 99, 0)
	f("BUG: verdict 99", unknown)
	huge := billed(t, 1, "1"+string(make0(30)), "1")
	require.NoError(t, c.AddJob(&huge))
	_, _, err := c.Compose(nil)
	require.ErrorContains(t, err, "group chem: 1000000000000000000000000000000.00 USD is too large for an invoice")
}

// make0 gives n zeros.
func make0(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
	}
	return b
}

func TestSummaryCheck(t *testing.T) {
	c := newComposer(t, chemistry())
	require.NoError(t, c.AddJob(new(billed(t, 1, "10", "0.012"))))
	invoices, s := compose(t, c)
	s.Records = Records{Read: 10, Jobs: 4, Steps: 3, Superseded: 2, Quarantined: 1}
	require.NoError(t, s.Check(invoices))
	f := func(part string, spoil func(*Summary)) {
		t.Helper()
		spoiled := s
		spoil(&spoiled)
		require.ErrorContains(t, spoiled.Check(invoices), part)
	}
	f("BUG: 11 records read, but 4 jobs + 3 steps + 2 superseded + 1 quarantined = 10", func(s *Summary) { s.Records.Read++ })
	f("BUG: 61 job-seconds read", func(s *Summary) { s.Seconds.Read++ })
	f("BUG: 2 jobs read", func(s *Summary) { s.Jobs.Read++ })
	f("BUG: 1 holdings read", func(s *Summary) { s.Storage.Read++ })
	f("BUG: charges of 1.12 came in, but the lines hold 0.12", func(s *Summary) { s.Charges = s.Charges.Add(money.Int(1)) })
	f("BUG: the summary's totals", func(s *Summary) { s.Total++ })
	f("BUG: the summary's totals", func(s *Summary) { s.Invoices++ })
	require.ErrorContains(t, s.Check(append(invoices, invoices...)), "out of order")
}

func TestSummaryJSON(t *testing.T) {
	c := newComposer(t, chemistry())
	require.NoError(t, c.AddJob(new(billed(t, 1, "80047/1800", "0.012"))))
	require.NoError(t, c.AddJob(new(held(t, rating.Held, rating.NoRule, "x", 5))))
	_, s := compose(t, c)
	s.Records = Records{Read: 2, Jobs: 2}
	s.NothingDue = []string{"b"}
	body, err := json.Marshal(s)
	require.NoError(t, err)
	var back Summary
	require.NoError(t, json.Unmarshal(body, &back))
	require.True(t, back.Charges.Equal(s.Charges))
	back.Charges, back.Meters = s.Charges, s.Meters // equal, but kept in another form
	require.Equal(t, s, back)
	require.Contains(t, string(body), `"held":1`)
	require.Error(t, json.Unmarshal([]byte(`{"causes":[{"verdict":"lost"}]}`), &back))
}
