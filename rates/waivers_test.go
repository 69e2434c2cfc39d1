package rates_test

import (
	"strings"
	"testing"
	"time"

	"hpcbill/rates"

	"github.com/stretchr/testify/require"
)

const waiverHeader = "cluster,job,submit,percent,period,reason,author,date\n"

func TestReadWaivers(t *testing.T) {
	zone := newYork(t)
	text := "\ufeffJob, cluster,reason,author,date,submit,percent,period,,,\r\n" +
		"812,h2p,\"disk, lost\",jd,2026-03-20,,,,,,\r\n" +
		"\r\n,,,,,,,,,,\r\n" +
		"903_*,h2p,slow,jd,2026-03-20,all,12.5 %,2026-03,,,\r\n" +
		"600+1,c1,bad image,jd,2026-03-04,2026-03-04T10:15:09,,\r\n"
	w, err := rates.ReadWaivers("waivers.csv", []byte(text), zone)
	require.NoError(t, err)
	require.Len(t, w.All, 3)
	one, array, run := w.All[0], w.All[1], w.All[2]
	require.Equal(t, []any{"h2p", "812", int64(0), "100", "", "disk, lost", "jd", "2026-03-20", 2, false},
		[]any{one.Cluster, one.Job, one.Submit, one.Percent.String(), one.Period, one.Reason, one.Author, one.Date.String(), one.Line, one.EveryRun})
	require.Equal(t, time.Date(2026, 3, 21, 4, 0, 0, 0, time.UTC).Unix(), one.DecidedBy)
	require.Equal(t, []any{"12.5", "2026-03", true, true, 5}, []any{array.Percent.String(), array.Period, array.EveryRun, array.AllTasks(), array.Line})
	require.Equal(t, time.Date(2026, 3, 4, 15, 15, 9, 0, time.UTC).Unix(), run.Submit)

	month := func() string { return "2026-03" }
	f := func(cluster, job string, submit int64, want *rates.Waiver) {
		t.Helper()
		var got *rates.Waiver
		if c := w.Cluster(cluster); c != nil {
			got = c.Of(job, submit, month)
		}
		require.Same(t, want, got)
		for _, row := range w.All {
			require.Equal(t, row == want, row.Is(cluster, job, submit))
		}
	}
	f("h2p", "812", 1, one)
	f("h2p", "812", one.DecidedBy-1, one)
	f("h2p", "812", one.DecidedBy, nil)
	f("h2p", "812_1", 1, nil)
	f("h2p", "81", 1, nil)
	f("c1", "812", 1, nil)
	f("c9", "812", 1, nil)
	f("h2p", "903_7", 1, array)
	f("h2p", "903", 1, nil)
	f("h2p", "903+7", 1, nil)
	f("c1", "600+1", run.Submit, run)
	f("c1", "600+1", run.Submit+1, nil)
	f("c1", "600+0", run.Submit, nil)
	month = func() string { return "2026-04" }
	require.Nil(t, w.Cluster("h2p").Of("903_7", 1, month))

	semicolons, err := rates.ReadWaivers("w.csv", []byte("cluster;job;reason;author;date\nc;1;a, b;jd;2026-01-01\n"), zone)
	require.NoError(t, err)
	require.Equal(t, "a, b", semicolons.All[0].Reason)
	none, err := rates.ReadWaivers("w.csv", []byte(waiverHeader), zone)
	require.NoError(t, err)
	require.Empty(t, none.All)
	require.Nil(t, none.Cluster("c"))
}

func TestBadWaivers(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		_, err := rates.ReadWaivers("w.csv", []byte(text), newYork(t))
		var faults rates.Faults
		require.ErrorAs(t, err, &faults)
		var got []string
		for _, fault := range faults {
			got = append(got, fault.Error())
		}
		require.Equal(t, want, got)
	}
	f("", "w.csv: is empty")
	f("\xff", "w.csv:1: is not UTF-8")
	f("cluster,job,reason,author,day\n", "w.csv:1: day: unknown column", "w.csv:1: date: the column is missing")
	f("cluster,job,job,reason,author,date\n", "w.csv:1: job: the column occurs twice")
	f(waiverHeader+"c,\"1,,\n", `w.csv:2: extraneous or missing " in quoted-field`)
	f(waiverHeader+",,,,,,,2026-01-01", "w.csv:2: cluster: is empty", "w.csv:2: job: is empty", "w.csv:2: reason: is empty", "w.csv:2: author: is empty")
	f(waiverHeader+"c,1,,,,r,a,2026-01-01,x", `w.csv:2:23: there is a cell beyond the last column: "x"`)
	f(waiverHeader+"c,1,,,,\"r\n2\",a,2026-01-01", `w.csv:2: "r\n2" has a line break or a control character`)
	for _, job := range []string{"012", "1.batch", "1_", "1_[2-3]", "x", "1 2", "-1", "1_2+3", "*", "1*", "1_2*", "12345678901234567890"} {
		f(waiverHeader+"c,"+job+",,,,r,a,2026-01-01", `w.csv:2: job: "`+job+`" is not a job id`)
	}
	f(waiverHeader+"c,1,,0,,r,a,2026-01-01", "w.csv:2: percent: 0 is not above 0 and at most 100")
	f(waiverHeader+"c,1,,100.01,,r,a,2026-01-01", "w.csv:2: percent: 100.01 is not above 0 and at most 100")
	f(waiverHeader+"c,1,,\"12,5\",,r,a,2026-01-01", `w.csv:2: percent: not a decimal number: "12,5"`)
	f(waiverHeader+"c,1,,,3/2026,r,a,2026-01-01", `w.csv:2: period: "3/2026" is not a period such as 2026-03`)
	f(waiverHeader+"c,1,,,,r,a,1.1.2026", `w.csv:2: date: "1.1.2026" is not a date such as 2026-03-31`)
	f(waiverHeader+"c,1,2026-11-01T01:30,,,r,a,2026-11-02", "w.csv:2: submit: 2026-11-01T01:30 comes twice in America/New_York, where the clocks are set back")
	f(waiverHeader+"c,1,2026-01-02T00:00,,,r,a,2026-01-01", "w.csv:2: submit: is after 2026-01-01, the day of the decision")
}

// One run is waived in a month by one row at most.
func TestWaiversOfOneRun(t *testing.T) {
	f := func(first, second string, twice bool) {
		t.Helper()
		for _, rows := range [][2]string{{first, second}, {second, first}} {
			text := waiverHeader
			for _, row := range rows {
				text += row + ",r,a,2026-06-01\n"
			}
			_, err := rates.ReadWaivers("w.csv", []byte(text), time.UTC)
			if !twice {
				require.NoError(t, err)
				continue
			}
			job := strings.Split(rows[1], ",")[1]
			if strings.HasSuffix(job, "*") {
				job = strings.Split(rows[0], ",")[1] // named by the task that is met twice
			}
			require.EqualError(t, err, "w.csv:3: job: c/"+job+" is waived on line 2 already")
		}
	}
	f("c,1,,,", "c,1,,,", true)
	f("c,1,,10,", "c,1,,20,", true)
	f("c,1,,,", "c,1,2026-05-01T00:00,,", true)
	f("c,1,all,,", "c,1,2026-05-01T00:00,,", true)
	f("c,1,2026-05-01,,", "c,1,2026-05-01T00:00:00Z,,", true)
	f("c,1,2026-05-01,,", "c,1,2026-05-02,,", false)
	f("c,1,,,2026-05", "c,1,,,2026-06", false)
	f("c,1,,,2026-05", "c,1,,,", true)
	f("c,1,,,", "d,1,,,", false)
	f("c,1,,,", "c,2,,,", false)
	f("c,1_2,,,", "c,1_*,,,", true)
	f("c,1_2,,,2026-05", "c,1_*,,,2026-06", false)
	f("c,1+2,,,", "c,1_*,,,", false)
	f("c,1,,,", "c,1_*,,,", false)
	f("c,11_2,,,", "c,1_*,,,", false)
}

func FuzzReadWaivers(f *testing.F) {
	f.Add([]byte(waiverHeader + "h2p,812,,,,\"disk, lost\",jd,2026-03-20\nh2p,903_*,all,50,2026-03,slow,jd,2026-03-20,,\n"))
	f.Add([]byte("\ufeffcluster;job;reason;author;date\nc;600+1;r;a;2026-01-01\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := rates.ReadWaivers("w.csv", text, time.UTC)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		for _, row := range w.All {
			require.NotEmpty(t, row.Reason)
			if !row.AllTasks() {
				submit := row.Submit
				require.True(t, row.Is(row.Cluster, row.Job, submit) || submit == 0 && row.DecidedBy <= 0)
			}
		}
	})
}
