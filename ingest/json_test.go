package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
)

// answerOf is an answer with these members of one job in place of the usual.
func answerOf(changes ...string) string {
	members := []string{
		`"job_id":101`, `"name":"work"`, `"cluster":"c1"`, `"account":"lab_a"`, `"user":"u1"`, `"partition":"cpu"`, `"qos":"normal"`,
		`"nodes":"n1"`, `"allocation_nodes":1`, `"state":{"current":["COMPLETED"]}`,
		`"time":{"submission":1740985200,"eligible":1740985200,"start":1740988800,"end":1740992400,"elapsed":3600,"suspended":0,"limit":{"set":true,"infinite":false,"number":120}}`,
		`"tres":{"allocated":[{"type":"cpu","name":"","id":1,"count":4},{"type":"mem","name":"","id":2,"count":8192},{"type":"energy","name":"","id":3,"count":-2},{"type":"node","name":"","id":4,"count":1},{"type":"billing","name":"","id":5,"count":4}],` +
			`"requested":[{"type":"cpu","name":"","id":1,"count":4},{"type":"mem","name":"","id":2,"count":8192},{"type":"node","name":"","id":4,"count":1},{"type":"billing","name":"","id":5,"count":4}]}`,
		`"steps":[]`,
	}
	for _, change := range changes {
		name, _, _ := strings.Cut(change, ":")
		found := false
		for i, m := range members {
			if strings.HasPrefix(m, name+":") {
				members[i], found = change, true
			}
		}
		if !found {
			members = append(members, change)
		}
	}
	return `{"meta":{"plugin":{"data_parser":"data_parser/v0.0.44"}},"errors":[],"warnings":[],"jobs":[{` + strings.Join(members, ",") + `}]}`
}

func oneJSON(t testing.TB, changes ...string) Job {
	t.Helper()
	jobs, report := mustRead(t, answerOf(changes...), Options{})
	require.Empty(t, report.Quarantined)
	require.Len(t, jobs, 1)
	return jobs[0]
}

func badJSON(t testing.TB, reason string, changes ...string) {
	t.Helper()
	jobs, report := mustRead(t, answerOf(changes...), Options{})
	require.Empty(t, jobs)
	require.Len(t, report.Quarantined, 1)
	require.Contains(t, report.Quarantined[0].Reason, reason)
	require.Equal(t, int64(1), report.Quarantined[0].Source.Line)
	require.True(t, strings.HasPrefix(report.Quarantined[0].Text, "{"))
}

// An answer gives the job that a line of text gives.
func TestJSONJob(t *testing.T) {
	want := oneA(t)
	want.Eligible, want.TimelimitSeconds, want.NodeList = want.Submit, 7200, "n1"
	want.AllocTRES, want.ReqTRES = "billing=4,cpu=4,mem=8192M,node=1", "billing=4,cpu=4,mem=8192M,node=1"
	want.Source.Line = 1
	require.Equal(t, want, oneJSON(t))
}

func TestC23States(t *testing.T) {
	f := func(current string, want State) {
		t.Helper()
		require.Equal(t, want, oneJSON(t, `"state":{"current":`+current+`}`).State)
	}
	f(`"COMPLETED"`, Completed)
	f(`["COMPLETED"]`, Completed)
	f(`["PENDING","REQUEUED"]`, Requeued) // a finished run
	f(`["PENDING","RESIZING"]`, Resizing)
	f(`["FAILED","NEW_FLAG"]`, Failed)
	j := oneJSON(t, `"state":{"current":["RUNNING","COMPLETING"]}`, `"time":{"submission":1740985200,"eligible":1740985200,"start":1740988800,"end":0,"elapsed":60,"suspended":0}`)
	require.Equal(t, Running, j.State)
	require.False(t, j.Final())
	require.Equal(t, Unknown, j.TimelimitSeconds)
}

func TestC25NoValues(t *testing.T) {
	j := oneJSON(t, `"tres":{"allocated":[{"type":"cpu","count":4},{"type":"energy","name":null,"count":null},{"type":"billing","count":18446744073709551614},{"type":"gres","name":"gpu:a100","count":2}]}`)
	require.Equal(t, "cpu=4,gres/gpu:a100=2", j.AllocTRES)
	require.Equal(t, int64(2), j.GPUs)
	require.Zero(t, j.Billing)
	require.Equal(t, Unknown, j.MemoryMiB)
	require.Equal(t, Unknown, j.ReqCPUs)
	for _, start := range []string{"0", "null", "4294967294", `{"set":false,"infinite":false,"number":0}`} {
		j = oneJSON(t, `"state":{"current":["CANCELLED"]}`, `"kill_request_user":"ann"`, `"tres":{"allocated":[],"requested":[]}`,
			`"time":{"submission":1740985200,"eligible":4294967295,"start":`+start+`,"end":1740992400,"elapsed":0,"suspended":0,"limit":null}`)
		require.False(t, j.Ran(), start)
		require.Equal(t, None, j.Eligible)
		require.Equal(t, "ann", j.CancelledBy)
	}
	require.Equal(t, NoLimit, oneJSON(t, `"time":{"submission":1740985200,"eligible":1740985200,"start":1740988800,"end":1740992400,"elapsed":3600,"suspended":0,"limit":{"set":false,"infinite":true,"number":0}}`).TimelimitSeconds)
	require.Equal(t, NoLimit, oneJSON(t, `"time":{"submission":1740985200,"eligible":1740985200,"start":1740988800,"end":1740992400,"elapsed":3600,"suspended":0,"limit":"Infinity"}`).TimelimitSeconds)
}

func TestC26Steps(t *testing.T) {
	_, report := mustRead(t, answerOf(`"steps":[{"step":{"id":{"job_id":101,"step_id":"batch"}},"time":{"start":1740988800}},{"step":{"id":"101.batch"},"time":{"start":{"set":true,"infinite":false,"number":1740988801}}}]`), Options{})
	require.Equal(t, int64(2), report.Steps)
	require.Equal(t, int64(3), report.Records)
	require.Empty(t, report.Warnings)
}

func TestC28Missing(t *testing.T) {
	require.Empty(t, oneJSON(t, `"account":null`).Account)
	require.Equal(t, "u7", oneJSON(t, `"user":null`, `"association":{"user":"u7"}`).User)
	badJSON(t, "no job_id", `"job_id":null`)
	badJSON(t, "JobID", `"job_id":[1]`)
	badJSON(t, `JobID: "1.01e2"`, `"job_id":1.01e2`) // never a step
	badJSON(t, `JobID: "90_7.5"`, `"array":{"job_id":90,"task_id":7.5}`)
	badJSON(t, "slurmctld", `"time":null`, `"job_state":["RUNNING"]`)
	badJSON(t, "Cluster", `"cluster":null`)
	badJSON(t, "nothing is recorded as allocated", `"tres":{"allocated":[],"requested":[]}`)
	badJSON(t, "Elapsed", `"time":{"submission":1740985200,"start":1740988800,"end":1740992400}`)
	badJSON(t, `Start: "1740988800.5"`, `"time":{"submission":1740985200,"start":1740988800.5,"end":1740992400,"elapsed":1}`)
}

func TestC29Parsers(t *testing.T) {
	f := func(meta, format string, warned bool) {
		t.Helper()
		jobs, report := mustRead(t, strings.Replace(answerOf(), `{"plugin":{"data_parser":"data_parser/v0.0.44"}}`, meta, 1), Options{})
		require.Len(t, jobs, 1)
		require.Equal(t, format, report.Format)
		require.Equal(t, warned, len(report.Warnings) > 0)
	}
	f(`{"plugin":{"data_parser":"data_parser/v0.0.39"}}`, "sacct --json v0.0.39", false)
	f(`{"plugins":{"data_parser":"v0.0.39"}}`, "sacct --json v0.0.39", false)
	f(`{"plugin":{"type":"openapi/dbv0.0.38"}}`, "sacct --json v0.0.38", false)
	f(`{"plugin":{"data_parser":"data_parser/v0.0.46"}}`, "sacct --json v0.0.46", true)
	f(`null`, "sacct --json", false)
	refused(t, strings.Replace(answerOf(), "v0.0.44", "v0.1.0", 1), "data parser v0.1.0", "--json=v0.0.45", Options{})
	_, report := mustRead(t, `{"jobs":[]}`, Options{})
	require.Zero(t, report.Records)
}

func TestC31ForeignSteps(t *testing.T) {
	jobs, report := mustRead(t, answerOf(`"state":{"current":["PENDING"]}`, `"time":{"submission":1740985200,"eligible":1740985200,"start":0,"end":0,"elapsed":0,"suspended":0}`,
		`"tres":{"allocated":[]}`, `"steps":[{"time":{"start":1709452800,"end":1709456400}}]`), Options{})
	require.False(t, jobs[0].Ran())
	require.Equal(t, WarnForeignSteps, report.Warnings[0].Kind)
	require.Equal(t, int64(1), report.Steps)
}

func TestJSONIdentity(t *testing.T) {
	f := func(want string, changes ...string) {
		t.Helper()
		require.Equal(t, want, oneJSON(t, changes...).JobID)
	}
	f("101", `"array":{"job_id":0,"task_id":null,"task":null}`, `"het":{"job_id":0,"job_offset":null}`)
	f("90_7", `"array":{"job_id":90,"task_id":{"set":true,"infinite":false,"number":7},"task":""}`)
	f("90_0", `"array":{"job_id":90,"task_id":0,"task":null}`)
	f("600+1", `"het":{"job_id":600,"job_offset":{"set":true,"infinite":false,"number":1}}`)
	f("90_[1-5%2]", `"array":{"job_id":90,"task_id":{"set":false},"task":"1-5%2"}`, `"state":{"current":["PENDING"]}`, `"tres":{"allocated":[]}`,
		`"time":{"submission":1740985200,"eligible":1740985200,"start":0,"end":0,"elapsed":0,"suspended":0}`)
	require.Equal(t, uint64(14147616068585127941), oneJSON(t, `"sluid":"sC8NKDVDNA0005"`).DBIndex)
	require.Equal(t, uint64(14147616068585127941), oneJSON(t, `"sluid":"14147616068585127941"`).DBIndex)
	require.Equal(t, "maint", oneJSON(t, `"reservation":{"id":3,"name":"maint"}`).Reservation)
	require.Empty(t, oneJSON(t, `"reservation":{"id":3,"name":0}`).Reservation)
	require.Equal(t, "proj", oneJSON(t, `"wckey":{"wckey":"proj","flags":["ASSIGNED_DEFAULT"]}`).WCKey)
	require.Equal(t, "a\x00|\nb", oneJSON(t, `"name":"a\u0000|\nb"`).Name)
	require.Equal(t, NoteInvalidUTF8, oneJSON(t, "\"name\":\"m\xfcll\"").Notes)
}

func TestJSONRefused(t *testing.T) {
	whole := answerOf()
	for cut := 1; cut < len(whole)-1; cut += 13 {
		_, _, err := read(whole[:cut], Options{})
		require.Error(t, err, cut)
	}
	refused(t, whole[:len(whole)-2], "the answer is cut off", "dump again", Options{})
	refused(t, `{"jobs":[{"job_id":NaN}]}`, "no JSON at byte", "+complex", Options{})
	refused(t, `{"jobs":[],"errors":[{"error":"Unable to connect"}]}`, "Unable to connect", "dump again", Options{})
	refused(t, `{"jobs":[],"errors":{"description":"Unable to connect"}}`, "the answer reports an error", "dump again", Options{})
	refused(t, `{"jobs":[],"error":"Unauthorized"}`, "Unauthorized", "dump again", Options{})
	refused(t, `{"jobs":[],"error_code":5}`, "the answer reports an error", "dump again", Options{})
	refused(t, whole+`{"message":"try later"}`, "no list of jobs", "dump again", Options{}) // of two days one failed
	refused(t, whole+`{"job_id":102}`, "no list of jobs", "dump again", Options{})
	refused(t, `{"rates":[1,2]}`, "no answer of sacct --json", "", Options{})
	refused(t, `[{"id":"x","rate":0.05}]`, "no answer of sacct --json", "", Options{})
	refused(t, `{"data":{"attributes":{"slurm_jobs":[]}}}`, "Cluster", "--cluster", Options{})
	refused(t, whole+" sacct: error: lost", "no JSON", "", Options{})
	for _, none := range []string{`{"jobs":[],"errors":null,"warnings":null,"meta":null}`, `{"jobs":[],"errors":{},"error":"","error_code":0}`, "\ufeff" + `{"jobs":[]}`} {
		_, report := mustRead(t, none, Options{})
		require.Zero(t, report.Records)
	}
	_, report := mustRead(t, "\ufeff"+whole+"\n"+whole, Options{}) // two answers in one file
	require.Equal(t, int64(2), report.Jobs)
}

// Answers of many blocks on one line are read a job at a time.
func TestJSONLong(t *testing.T) {
	job := answerOf()[strings.Index(answerOf(), `{"job_id"`):]
	job = strings.TrimSuffix(job, "]}")
	var b strings.Builder
	b.WriteString(`{"jobs":[`)
	n := 0
	for ; b.Len() < 3*blockBytes; n++ {
		if n > 0 {
			b.WriteString(",")
		}
		b.WriteString(strings.Replace(job, `"job_id":101`, fmt.Sprintf(`"job_id":%d`, n+1), 1))
	}
	b.WriteString(`]}`)
	jobs, report := mustRead(t, b.String(), Options{})
	require.Len(t, jobs, n)
	require.Equal(t, int64(n), jobs[n-1].Source.Line)
	require.Empty(t, report.Quarantined)
}

// The same 18 real jobs as text and as JSON, of one sacct 22.05.
func TestLabJSON(t *testing.T) {
	text, _ := readAll(t, "text", external(t, labDir, "sacct-18-real-jobs-all-fields.txt"), Options{})
	z, err := gzip.NewReader(external(t, labDir, "sacct-22.05.json.gz"))
	require.NoError(t, err)
	r, err := Open("json", z, Options{})
	require.NoError(t, err)
	var answer []Job
	for batch, err := range r.Batches() {
		require.NoError(t, err)
		answer = append(answer, batch...)
	}
	require.Len(t, answer, 18)
	byID := map[uint64]Job{}
	for _, j := range text {
		byID[j.JobIDRaw] = j
	}
	require.Len(t, byID, 18)
	for _, got := range answer {
		want := byID[got.JobIDRaw]
		require.Equal(t, [4]int64{want.CPUs, want.MemoryMiB, want.GPUs, want.Billing}, [4]int64{got.CPUs, got.MemoryMiB, got.GPUs, got.Billing}, got.JobID)
		require.Equal(t, [6]string{want.JobID, want.Account, want.User, want.Partition, want.QoS, want.Name}, [6]string{got.JobID, got.Account, got.User, got.Partition, got.QoS, got.Name})
		require.Equal(t, want.State, got.State)
		require.Equal(t, [3]int64{want.ElapsedSeconds, want.SuspendedSeconds, want.TimelimitSeconds}, [3]int64{got.ElapsedSeconds, got.SuspendedSeconds, got.TimelimitSeconds}, got.JobID)
		require.Equal(t, [4]Instant{want.Submit, want.Eligible, want.Start, want.End}, [4]Instant{got.Submit, got.Eligible, got.Start, got.End}, got.JobID)
	}
}
