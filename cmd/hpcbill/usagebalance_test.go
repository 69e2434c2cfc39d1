package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

func exact(t *testing.T, text string) money.Exact {
	t.Helper()
	x, err := money.ParseDecimal(text)
	require.NoError(t, err)
	return x
}

func TestBalanceOutlook(t *testing.T) {
	april := rates.MonthOf(2025, time.April, time.UTC)
	day := func(m, d int) rates.Date { return rates.Date{Year: 2025, Month: m, Day: d} }
	f := func(asOf rates.Date, from, until rates.Date, drawn, left, perDay, want string) {
		t.Helper()
		u := &usageReport{period: april, asOf: asOf}
		b := u.balance(invoice.Balance{Drawn: exact(t, drawn), Left: exact(t, left), From: from, Until: until})
		require.Equal(t, perDay, b.perDay.String())
		require.Equal(t, want, b.outlookText())
	}
	// Ten days drew 20: 2 a day. 9 are gone on the fifth day, 10 after it.
	f(day(4, 11), day(1, 1), rates.Date{}, "20", "9", "2", "runs out on 2025-04-15")
	f(day(4, 11), day(1, 1), rates.Date{}, "20", "10", "2", "runs out on 2025-04-16")
	// It ends by itself on the day on which nothing would be left.
	f(day(4, 11), day(1, 1), day(4, 16), "20", "10", "2", "lasts")
	f(day(4, 11), day(1, 1), day(4, 17), "20", "10", "2", "runs out on 2025-04-16")
	// In force for five of the ten days.
	f(day(4, 11), day(4, 6), rates.Date{}, "20", "4", "4", "runs out on 2025-04-12")
	// A month that is over, a grant that ended in it.
	f(day(5, 1), day(1, 1), day(4, 21), "40", "5", "2", "lasts")
	f(day(5, 1), day(1, 1), rates.Date{}, "30", "30", "1", "runs out on 2025-05-31")
	f(day(4, 1), day(1, 1), rates.Date{}, "20", "9", "0", "no rate")
	f(day(4, 11), day(1, 1), rates.Date{}, "0", "9", "0", "no rate")
	f(day(4, 11), day(1, 1), rates.Date{}, "20", "0", "2", "used up")
	f(day(4, 11), day(1, 1), rates.Date{}, "0", "-3", "0", "used up")
	f(day(4, 11), day(1, 1), rates.Date{}, "1", "1e30", "0.1", "lasts")
	// A period that has not begun.
	f(day(3, 11), day(1, 1), rates.Date{}, "0", "9", "0", "no rate")
}

func TestThresholdCrossed(t *testing.T) {
	f := func(before, after string, want int64) {
		t.Helper()
		require.Equal(t, want, crossed(exact(t, before), exact(t, after)))
	}
	f("0", "0.7499", 0)
	f("0", "0.75", 75)
	f("0.75", "0.89", 0) // it was crossed before
	f("0.74", "0.91", 90)
	f("0", "1", 100)
	f("0.9", "1.2", 100)
	f("1", "1", 0)
	f("0.9", "0.1", 0)
}

func TestBar(t *testing.T) {
	f := func(part, want string) {
		t.Helper()
		require.Equal(t, want, bar(exact(t, part)))
	}
	f("0", "░░░░░░░░░░░░░░░░░░░░")
	f("0.0499", "░░░░░░░░░░░░░░░░░░░░")
	f("0.05", "█░░░░░░░░░░░░░░░░░░░")
	f("0.999", "███████████████████░")
	f("1", "████████████████████")
	f("7", "████████████████████")
	f("-1", "░░░░░░░░░░░░░░░░░░░░")
	require.Equal(t, "99.9", percentOf(exact(t, "0.99999")))
}

func TestFiscalYear(t *testing.T) {
	f := func(start int, year int, month time.Month, wantYear int, wantFirst string) {
		t.Helper()
		c := &config{Invoice: invoiceConfig{FiscalYearStart: start}}
		got, first := c.fiscalYear(rates.MonthOf(year, month, time.UTC))
		require.Equal(t, wantYear, got)
		require.Equal(t, wantFirst, first.String())
	}
	f(1, 2025, time.January, 2025, "2025-01")
	f(1, 2025, time.December, 2025, "2025-01")
	f(7, 2025, time.June, 2025, "2024-07")
	f(7, 2025, time.July, 2026, "2025-07")
	f(10, 2026, time.January, 2026, "2025-10")
}
