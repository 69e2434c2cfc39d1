package invoice

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// moved is an allocation of 2026 with movements, given as "DATE UNITS".
func moved(t testing.TB, units string, o rates.Overdraft, movements ...[2]string) *rates.Allocation {
	t.Helper()
	a := allocation(t, "a", units, "2026-01-01", "2027-01-01", o)
	for i, m := range movements {
		a.Movements = append(a.Movements, rates.Movement{On: date(t, m[0]), Units: exact(t, m[1]), Line: 10 + i})
	}
	return a
}

// statement is a balance as "OPENING +DEPOSITS -REFUNDS -DRAWN =LEFT of UNITS, BEYOND".
func statement(b *Balance) string {
	return b.Opening.String() + " +" + b.Deposits.String() + " -" + b.Refunds.String() + " -" + b.Drawn.String() + " =" + b.Left.String() +
		" of " + b.Units.String() + ", " + b.Beyond.String()
}

func TestADepositCountsFromItsDay(t *testing.T) {
	// 60 are there until the 10th, when 100 come. The 80 of the 9th draw 60 and
	// pay for 20; the 50 of the 10th are drawn from the deposit.
	a := moved(t, "60", rates.OverdraftBill, [2]string{"2026-03-10", "100"})
	inv := drawn(t, chemistry(a), nil, billed(t, 9, "80", "1"), billed(t, 10, "50", "1"))
	require.Equal(t, "60 +100 -0 -110 =50 of 160, 20", statement(&inv.Balances[0]))
	require.Equal(t, money.Amount(2000), inv.Total)
	// April begins with what March left, and all that was granted.
	ledger := LedgerEntries([]Invoice{inv})
	april := rates.MonthOf(2026, 4, march(t).Start.Location())
	require.Equal(t, "50", Opening("chem", a, april, ledger).String())
	b := OpenBalance("chem", a, "SU", april, ledger)
	require.Equal(t, "50 +0 -0 -0 =50 of 160, 0", statement(&b))
	// February does not have it.
	b = OpenBalance("chem", a, "SU", rates.MonthOf(2026, 2, march(t).Start.Location()), ledger)
	require.Equal(t, "60 +0 -0 -0 =60 of 60, 0", statement(&b))
}

func TestADepositOnTheFirstIsOfTheMonth(t *testing.T) {
	a := moved(t, "60", rates.OverdraftBill, [2]string{"2026-03-01", "100"})
	inv := drawn(t, chemistry(a), nil, billed(t, 1, "80", "1"))
	require.Equal(t, "60 +100 -0 -80 =80 of 160, 0", statement(&inv.Balances[0]))
	require.True(t, inv.Balances[0].OpeningFrom("chem", inv.Period, nil).Equal(money.Int(60)))
}

func TestARefundIsTakenOutOnItsDay(t *testing.T) {
	a := moved(t, "100", rates.OverdraftBill, [2]string{"2026-03-10", "-30"}, [2]string{"2026-03-20", "5"})
	inv := drawn(t, chemistry(a), nil, billed(t, 9, "40", "1"), billed(t, 15, "50", "1"), billed(t, 25, "3", "1"))
	// 100 − 40 = 60, − 30 = 30, which the 50 use up; of the 5, 3 go.
	require.Equal(t, "100 +5 -30 -73 =2 of 75, 20", statement(&inv.Balances[0]))
	require.NoError(t, inv.Check())
	require.Equal(t, "0", inv.Balances[0].UsedBefore().String())
	require.Equal(t, "73/75", inv.Balances[0].UsedAfter().String())
}

func TestARefundOfMoreThanIsLeftIsRefused(t *testing.T) {
	f := func(a *rates.Allocation, ledger []LedgerEntry, day int, message string) {
		t.Helper()
		roster := chemistry(a)
		roster.File = "groups.yaml"
		c := newComposer(t, roster)
		require.NoError(t, c.AddJob(new(billed(t, day, "80", "1"))))
		_, _, err := c.Compose(ledger)
		if message == "" {
			require.NoError(t, err)
			return
		}
		var faults rates.Faults
		require.ErrorAs(t, err, &faults)
		require.EqualError(t, err, message)
	}
	refund := [2]string{"2026-03-10", "-30"}
	f(moved(t, "100", rates.OverdraftBill, refund), nil, 9,
		"groups.yaml:10: refunds: group chem: a refund of 30 SU on 2026-03-10 is 10 more than allocation a has left")
	f(moved(t, "100", rates.OverdraftBill, refund), nil, 11, "") // the use comes after it
	f(moved(t, "110", rates.OverdraftBill, refund), nil, 9, "")
	f(moved(t, "100", rates.OverdraftBill, [2]string{"2026-03-10", "10"}, refund), nil, 9, "") // a deposit of the day counts first
	// A refund that was written into a month after it had drawn.
	spent := []LedgerEntry{{Group: "chem", Allocation: "a", Period: "2026-02", Units: money.Int(80)}}
	f(moved(t, "100", rates.OverdraftBill, [2]string{"2026-01-10", "-30"}), spent, 9,
		"groups.yaml:10: refunds: group chem: a refund of 30 SU on 2026-01-10 is 10 more than allocation a has left")
}

func TestOverdraftWarnIsBilled(t *testing.T) {
	inv := drawn(t, chemistry(moved(t, "60", rates.OverdraftWarn)), nil, billed(t, 9, "80", "1"))
	require.Equal(t, "60 +0 -0 -60 =0 of 60, 20", statement(&inv.Balances[0]))
	require.Equal(t, money.Amount(2000), inv.Total)
	require.Len(t, inv.Lines, 2)
	body, err := inv.MarshalJSON()
	require.NoError(t, err)
	require.Contains(t, string(body), `"overdraft":"warn"`)
}

func TestMonthsWithMovementsReplay(t *testing.T) {
	// 100 granted, 50 in February, 20 taken out in March; 40 used each month:
	// 100 → 60 → 70 → 10 → 0 and 30 beyond.
	a := moved(t, "100", rates.OverdraftBill, [2]string{"2026-02-15", "50"}, [2]string{"2026-03-15", "-20"})
	var ledger []LedgerEntry
	digests := map[time.Month]string{}
	run := func(month time.Month, ledger []LedgerEntry) Invoice {
		p := rates.MonthOf(2026, month, time.UTC)
		c, err := NewComposer(p, Settings{Currency: usd, Rounding: DefaultRounding}, chemistry(a))
		require.NoError(t, err)
		o := billed(t, 1, "40", "1")
		o.Job.End = ingest.Instant(p.Start.Unix() + 3600)
		require.NoError(t, c.AddJob(&o))
		invoices, _ := compose(t, c, ledger...)
		return invoices[0]
	}
	for month, want := range []string{"100 +0 -0 -40 =60 of 100, 0", "60 +50 -0 -40 =70 of 150, 0", "70 +0 -20 -40 =10 of 130, 0", "10 +0 -0 -10 =0 of 130, 30"} {
		inv := run(time.Month(month+1), ledger)
		require.Equal(t, want, statement(&inv.Balances[0]))
		digests[time.Month(month+1)] = inv.Digest()
		ledger = append(ledger, LedgerEntries([]Invoice{inv})...)
	}
	for month, digest := range digests {
		again := run(month, ledger)
		require.Equal(t, digest, again.Digest(), month)
	}
}
