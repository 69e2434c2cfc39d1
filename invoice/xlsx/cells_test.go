package xlsx

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
)

// TestNoMomentFallsBackASecond reads moments of a day as a program does that
// cuts off what is below a second, but for the last bit of a float.
func TestNoMomentFallsBackASecond(t *testing.T) {
	const lastBit = 1e-6
	first := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Unix()
	for second := int64(0); second < secondsPerDay; second += 13 {
		days := moment(ingest.Instant(first+second), time.UTC).(float64)
		if got := int64((days-46082)*secondsPerDay + lastBit); got != second {
			t.Fatalf("second %d reads as %d", second, got)
		}
	}
}

func TestDay(t *testing.T) {
	f := func(y, m, d int, want any) {
		t.Helper()
		require.Equal(t, want, day(ingest.Date{Year: y, Month: m, Day: d}))
	}
	f(1900, 3, 1, int64(61)) // the first day on which a spreadsheet counts right
	f(2000, 1, 1, int64(36526))
	f(2026, 3, 31, int64(46112))
	f(0, 0, 0, nil)
}

func TestRanges(t *testing.T) {
	f := func(want []string, rows ...int) {
		t.Helper()
		require.Equal(t, want, ranges("Lines", 13, rows))
	}
	f(nil)
	f([]string{"Lines!M2:M2"}, 2)
	f([]string{"Lines!M2:M4"}, 2, 3, 4)
	f([]string{"Lines!M2:M2", "Lines!M4:M5"}, 2, 4, 5)
	require.Equal(t, "'Jobs 2'!W2:W9", columnRange("Jobs 2", jobAmountColumn, 2, 9))
}
