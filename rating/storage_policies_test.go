package rating

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"

	"github.com/stretchr/testify/require"
)

// storageOf rates the rows of a storage.csv for June 2025, which has 30 days,
// by one storage rule. Meters are in TB at 2 USD. It gives what came of each
// row as "VERDICT QUANTITY=AMOUNT", with "~N" for N estimated days.
func storageOf(t *testing.T, rule string, rows ...string) []string {
	t.Helper()
	text := "group,filesystem,from,until,quota,used\n" + strings.Join(rows, "\n")
	holdings, err := ingest.Holdings("storage.csv", strings.NewReader(text))
	require.NoError(t, err)
	card := loadCard(t, `{card: c, currency: USD, versions: [{from: 2025-01-01,
		meters: {m: {unit: TB, price: 2}, over: {unit: step, price: 50}}, storage: [{name: s, `+rule+`}]}]}`)
	r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Storage: []StorageCard{{Filesystem: "*", Card: card}}})
	outcomes, err := r.Storage(holdings, rates.MonthOf(2025, time.June, time.UTC))
	require.NoError(t, err)
	var got []string
	for _, o := range outcomes {
		line := o.Verdict.String()
		if o.Verdict == Held {
			line += " " + o.Cause.Detail + " | " + o.Cause.Hint
		}
		for _, c := range o.Charges {
			line += fmt.Sprintf(" %s=%s", c.Quantity, c.Amount)
			if c.EstimatedDays > 0 {
				line += fmt.Sprintf("~%d", c.EstimatedDays)
			}
		}
		got = append(got, line)
	}
	return got
}

// The rules of storage that centres publish, each by configuration alone.
func TestPublishedStorageRules(t *testing.T) {
	f := func(rule string, rows []string, want ...string) {
		t.Helper()
		require.Equal(t, want, storageOf(t, rule, rows...))
	}
	rows := func(r ...string) []string { return r }

	// The integral over time, in TB-hours (LUMI, CSC): 10 days of 1.2, 20 of 2.4.
	f(`charge: {m: {units: mean_tb*days*24}}`, rows("lab,/p,2025-06-01,,,1.2 TB", "lab,/p,2025-06-11,,,2.4 TB"), "charged 1440=2880~28")
	// On the quota, by hours (NERC): 10 days.
	f(`charge: {m: {units: quota_tb*days*24}}`, rows("lab,/p,2025-06-05,2025-06-15,2 TB,"), "charged 480=960")
	// The mean of the daily values above 3 GB (EHU): 15 days of 2 GB, 15 of 10.
	f(`prorate: none, charge: {m: "max(0, mean_tb*1000 - 3)"}`, rows("lab,/p,2025-06-01,,,2 GB", "lab,/p,2025-06-16,,,10 GB"), "charged 3=6~28")
	// The mean rounded up to whole TB, once (2.5 TB).
	f(`prorate: none, charge: {m: ceil(mean_tb)}`, rows("lab,/p,2025-06-01,,,2 TB", "lab,/p,2025-06-16,,,3 TB"), "charged 3=6~28")
	// The largest daily value of the month (Antwerp), whatever the quota does.
	f(`prorate: none, charge: {m: max_tb}`,
		rows("lab,/p,2025-05-01,,10 TB,1 TB", "lab,/p,2025-06-03,,,5 TB", "lab,/p,2025-06-04,,,2 TB", "lab,/p,2025-06-20,,12 TB,3 TB"),
		"excluded", "charged 5=10~27")
	// Each day the larger of quota and use, 5 of it free (Princeton): 20 days
	// of 10, 10 days of 12.
	f(`charge: {m: {rate: "max(0, max(quota_tb, used_tb) - 5)", per: day}}`,
		rows("lab,/p,2025-06-01,,10 TB,8 TB", "lab,/p,2025-06-21,,,12 TB"), "charged 170=340~28")
	// Each day, a part of a TB as a whole one, the first free (HKUST): 10 days
	// of 1.0, 10 of 1.2, 10 of 3.5.
	f(`charge: {m: {rate: "ceil(max(0, used_tb - 1))", per: day}}`,
		rows("lab,/p,2025-06-01,,,1 TB", "lab,/p,2025-06-11,,,1.2 TB", "lab,/p,2025-06-21,,,3.5 TB"), "charged 40=80~27")
	// The largest allocation of each day, a day being 12/365 of a month (POD).
	f(`charge: {m: {rate: quota_tb*1000*12/365, per: day}}`, rows("lab,/p,2025-06-01,,10 GB,"), "charged 720/73=1440/73")
	// What is used above the quota (ISSP): 1 TB on 4 days.
	f(`charge: {m: {rate: "max(0, used_tb - quota_tb)", per: day}}`,
		rows("lab,/p,2025-06-01,,2 TB,1 TB", "lab,/p,2025-06-11,,,3 TB", "lab,/p,2025-06-15,,,1 TB"), "charged 4=8~27")
	// 250 GB free, then by half a TB; over the quota for more than 7 days
	// another price (ARCHIE).
	archie := `prorate: none, charge: {m: "step(max(0, quota_tb - 0.25), 0.5)/0.5", over: "choose(over_days > 7, step(max(0, max_tb - quota_tb), 0.5)/0.5, 0)"}`
	f(archie, rows("lab,/p,2025-06-01,,1 TB,1 TB", "lab,/p,2025-06-11,,,1.4 TB", "lab,/p,2025-06-19,,,1 TB"), "charged 2=4 1=50~27")
	f(archie, rows("lab,/p,2025-06-01,,1 TB,1 TB", "lab,/p,2025-06-11,,,1.4 TB", "lab,/p,2025-06-18,,,1 TB"), "charged 2=4 0=0~27")
	// As it stands on the 15th, a twelfth of the year's 50 cut to cents (FASRC).
	f(`snapshot: 15, charge: {m: {units: quota_tb, amount: "trunc(quota_tb*50/12, 2)"}}`,
		rows("lab,/p,2025-01-01,,16 TB,", "lab,/p,2025-06-15,,20 TB,", "lab,/p,2025-06-16,,24 TB,"), "excluded", "charged 20=83.33", "excluded")
	// As it stands on the 1st (WashU).
	f(`snapshot: 1, charge: {m: quota_tb}`, rows("lab,/p,2025-06-02,,4 TB,", "lab,/q,2025-06-01,2025-06-02,4 TB,"), "excluded", "charged 4=8")
	f(`snapshot: 31, charge: {m: "max(used_tb, 1)"}`, rows("lab,/p,2025-06-02,,4 TB,2 TB", "lab,/p,2025-06-30,,,3 TB"), "charged 3=6")
	// A change after the 15th counts from the next month; use is the month's.
	half := `prorate: half_month, charge: {m: "max(quota_tb, max_tb)"}`
	f(half, rows("lab,/p,2025-06-10,,4 TB,0", "lab,/p,2025-06-16,,9 TB,0"), "charged 4=8~19", "excluded")
	f(half, rows("lab,/p,2025-01-01,2025-06-15,4 TB,0"), "excluded")
	f(half, rows("lab,/p,2025-01-01,2025-06-16,4 TB,6 TB"), "charged 6=12~15")
	f(half, rows("lab,/p,2025-06-15,,4 TB,0"), "charged 4=8~15")
	// By the days of the month (HURCS): 12 days of 10, 18 of 20.
	f(`charge: {m: quota_tb}`, rows("lab,/p,2025-06-01,,10 TB,", "lab,/p,2025-06-13,,20 TB,"), "charged 4=8", "charged 12=24")
	// The first TB free, by the quota (ULHPC); steps of 5 TB above 10 (USC).
	f(`charge: {m: "max(0, quota_tb - 1)"}`, rows("lab,/p,2025-01-01,,6 TB,"), "charged 5=10")
	f(`prorate: none, charge: {m: "step(max(0, quota_tb - 10), 5)/5"}`, rows("lab,/p,2025-01-01,,20.1 TB,"), "charged 3=6")
	// 12 TB a day free, the next to 100 TB at 60 % less, to 200 at 40 % less
	// (CIBR): 88·0.4 + 50·0.6.
	f(`charge: {m: {rate: "0.4*max(0, min(used_tb, 100) - 12) + 0.6*max(0, min(used_tb, 200) - 100)", per: day}}`,
		rows("lab,/p,2025-06-30,,,150 TB"), "charged 65.2=130.4")
	// Twice the mean, at least 20 (Tel Aviv's monthly minimum).
	f(`prorate: none, charge: {m: {units: mean_tb, amount: "max(20, units*price)"}}`, rows("lab,/p,2025-06-01,,,3 TB"), "charged 3=20~29")
	// Free up to a quota: what is used above it, as the month stands at its end.
	f(`prorate: none, charge: {m: "max(0, used_tb - quota_tb)"}`, rows("lab,/p,2025-06-01,,3 TB,9 TB", "lab,/p,2025-06-30,,,5 TB"), "charged 2=4~28")
}

// What is not known is not zero, and what is not asked for does not matter.
func TestStorageUseThatIsNotKnown(t *testing.T) {
	f := func(rule, want string, rows ...string) {
		t.Helper()
		require.Equal(t, []string{want}, storageOf(t, rule, rows...))
	}
	// Case C100: measured on 27 May and 5 June only.
	f(`charge: {m: mean_tb}`, "charged 176/15=352/15~29", "lab,/p,2025-05-27,,20 TB,10 TB", "lab,/p,2025-06-05,,,12 TB")
	// The first measurement is not carried backwards.
	hint := " | write into storage.csv what lab used on /p from 2025-06-01 on: 0 TB if nothing"
	f(`charge: {m: mean_tb}`, "held mean_tb filesystem=/p group=lab"+hint, "lab,/p,2025-06-01,,20 TB,", "lab,/p,2025-06-05,,,12 TB")
	f(`charge: {m: {rate: used_tb, per: day}}`, "held used_tb filesystem=/p group=lab"+hint, "lab,/p,2025-06-01,,20 TB,", "lab,/p,2025-06-05,,,12 TB")
	f(`charge: {m: used_tb}`, "charged 12=24~25", "lab,/p,2025-06-01,,20 TB,", "lab,/p,2025-06-05,,,12 TB")
	// A group whose storage began with its first measurement has no days before.
	f(`charge: {m: mean_tb}`, "charged 10=20~14", "lab,/p,2025-06-16,,,20 TB")
	f(`charge: {m: mean_tb}`, "held mean_tb filesystem=/p group=lab | write into storage.csv what lab used on /p from 2025-06-20 on: 0 TB if nothing",
		"lab,/p,2025-06-01,,20 TB,", "lab,/p,2025-06-01,2025-06-20,,5 TB")
	// Case C101: by the quota, use is only shown; 0 and none are no errors.
	f(`charge: {m: quota_tb}`, "charged 10=20", "lab,/p,2025-06-01,,10 TB,4 TB", "lab,/p,2025-06-20,,,12 TB")
	f(`charge: {m: quota_tb}`, "charged 0=0", "lab,/p,2025-06-01,,0,4 TB")
	f(`charge: {m: used_tb}`, "charged 4=8~29", "lab,/p,2025-06-01,,none,4 TB")
	f(`charge: {m: quota_tb}`, "held quota_tb filesystem=/p group=lab | write the quota of lab on /p into storage.csv: 0 TB for a quota of nothing",
		"lab,/p,2025-06-01,,none,4 TB")
	f(`charge: {m: over_days}`, "held over_days filesystem=/p group=lab | write the quota of lab on /p into storage.csv: 0 TB for a quota of nothing",
		"lab,/p,2025-06-01,,,4 TB")
	// Case C98: the blocks of a file system do not make another whole TB.
	f(`charge: {m: ceil(quota_tb - 0.001)}`, "charged 25=50", "lab,/p,2025-06-01,,25000001536000,")
}
