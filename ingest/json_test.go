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
	refused(t, `{"jobs":[],"errors":[null]}`, "the answer reports an error: null", "dump again", Options{})
	refused(t, `{"jobs":[],"error_code":5}`, "the answer reports an error", "dump again", Options{})
	refused(t, whole+`{"message":"try later"}`, "no list of jobs", "dump again", Options{}) // of two days one failed
	refused(t, whole+`{"job_id":102}`, "no list of jobs", "dump again", Options{})
	refused(t, `{"rates":[1,2]}`, "no answer of sacct --json", "", Options{})
	refused(t, `[{"id":"x","rate":0.05}]`, "no answer of sacct --json", "", Options{})
	refused(t, `{"data":{"attributes":{"slurm_jobs":[]}}}`, "Cluster", "--cluster", Options{})
	refused(t, whole+" sacct: error: lost", "no JSON", "", Options{})
	packed := string(gzipped(whole))
	refused(t, packed[:len(packed)-9], "the gzip stream is cut off", "copy the file again", Options{})
	for _, none := range []string{`{"jobs":[],"errors":null,"warnings":null,"meta":null}`, `{"jobs":[],"errors":{},"error":"","error_code":0}`, "\ufeff" + `{"jobs":[]}`} {
		_, report := mustRead(t, none, Options{})
		require.Zero(t, report.Records)
	}
	_, report := mustRead(t, "\ufeff"+whole+"\n"+whole, Options{}) // two answers in one file
	require.Equal(t, int64(2), report.Jobs)
}

// What is no JSON is refused with the place of its first wrong byte, counted
// from 1, and the job that it stands in.
func TestJSONPlaces(t *testing.T) {
	f := func(text, message string) {
		t.Helper()
		_, _, err := read(text, Options{})
		require.EqualError(t, err, message)
		if strings.Contains(message, "no JSON") {
			for n := 1; n < 9; n++ {
				_, _, err := readAnswer(text, n)
				require.ErrorContains(t, err, message[strings.Index(message, "no JSON"):])
			}
		}
	}
	f(`{"jobs":[{"job_id":NaN}]}`, `dump.txt:1: no JSON at byte 20: 'N' stands where a value is due`)
	f(`{"jobs":[{},{"name":"a`+"\n"+`"}]}`, `dump.txt:2: no JSON at byte 23: '\n' stands in a text`)
	f(`{"jobs":[{"name":"a`+"\x00"+`"}]}`, `dump.txt:1: no JSON at byte 20: a NUL byte stands in a text`)
	f(`{"jobs":[{"name":"\x"}]}`, `dump.txt:1: no JSON at byte 20: 'x' stands behind a backslash`)
	f(`{"jobs":[{"name":"\u12g4"}]}`, `dump.txt:1: no JSON at byte 23: 'g' stands where a hexadecimal digit is due`)
	f(`{"jobs":[{"a":01}]}`, `dump.txt:1: no JSON at byte 16: '1' stands behind the leading 0 of a number`)
	f(`{"jobs":[{"a":1.}]}`, `dump.txt:1: no JSON at byte 17: '}' stands where a digit is due`)
	f(`{"jobs":[{"a":-}]}`, `dump.txt:1: no JSON at byte 16: '}' stands where a digit is due`)
	f(`{"jobs":[{"a":1e+}]}`, `dump.txt:1: no JSON at byte 18: '}' stands where a digit is due`)
	f(`{"jobs":[{"a":trux}]}`, `dump.txt:1: no JSON at byte 18: 'x' stands where the word true goes on`)
	f(`{"jobs":[{"a":1 "b":2}]}`, `dump.txt:1: no JSON at byte 17: '"' stands where a comma or the end of the object or list is due`)
	f(`{"jobs":[{"a":[1}]}`, `dump.txt:1: no JSON at byte 17: '}' stands where a comma or the end of the object or list is due`)
	f(`{"jobs":[{"a" 1}]}`, `dump.txt:1: no JSON at byte 15: '1' stands where a colon is due`)
	f(`{"jobs":[{"a":1,}]}`, `dump.txt:1: no JSON at byte 17: '}' stands where the name of a member is due`)
	f(`{"jobs":[{"a":[1,]}]}`, `dump.txt:1: no JSON at byte 18: ']' stands where a value is due`)
	f(`{"jobs":[{"a":{b:1}}]}`, `dump.txt:1: no JSON at byte 16: 'b' stands where the name of a member is due`)
	f(`{"jobs":[]} 5`, `dump.txt: no JSON at byte 13: '5' stands where an answer is due`)
	f(`{"jobs":[]}`+"\xef\xbb", "dump.txt: the answer is cut off")
	f(`{"jobs":[]}`+"\xef\xbb ", "dump.txt: no JSON at byte 12: 0xef stands where an answer is due")
	f(`{"jobs":[{"job_id":1`, "dump.txt:1: the answer is cut off")
	f(`{"jobs":[{"job_id":1,"a":"b`, "dump.txt:1: the answer is cut off")
	deep := strings.Repeat("[", 63)
	f(`{"jobs":[{"a":`+deep+`]}]}`, `dump.txt:1: no JSON at byte 76: '[' opens a value in values that are 64 deep`)
	f(`{"jobs":[],`+strings.Repeat(`"data":{`, 64)+`}`, `dump.txt: no JSON at byte 523: '{' opens a value in values that are 64 deep`)
	f(`[1]`, "dump.txt:1: jobs: the file is JSON, but no answer of sacct --json or slurmrestd's slurmdb")
}

// readAnswer reads an answer in blocks of n bytes, as if none were given as
// much as a value of them takes.
func readAnswer(text string, n int) ([]Job, Report, error) {
	var jobs []Job
	p := newParser("dump.txt", Options{Cluster: "c"}, func(batch []Job) ([]Job, error) {
		jobs = append(jobs, batch...)
		return batch[:0], nil
	})
	p.batch = make([]Job, 0, 3)
	if err := p.parseJSON(inBlocks(text, n)); err != nil {
		return nil, Report{}, err
	}
	err := p.finish()
	return jobs, p.report, err
}

// Where the blocks end changes nothing.
func FuzzJSONBlocks(f *testing.F) {
	f.Add(answerOf(`"name":"\ud83d\ude00\/\n"`, `"steps":[{"time":{"start":{"set":true,"number":7}}},null]`)+"\r\n\ufeff"+answerOf(`"time":5`), 7)
	f.Add(`{"meta":{"plugins":{"data_parser":"v0.0.39"}},"warnings":["x"],"a":[1,{"b":[]}],"jobs":[{},{}]}`, 1)
	f.Add(`{"data":{"attributes":{"slurm_jobs":[{"JobID":"7","State":"PENDING"}]}}}`, 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = max(n&0xffff, 1)
		jobs, report, err := readAnswer(text, len(text)+1)
		again, second, err2 := readAnswer(text, n)
		require.Equal(t, err, err2)
		require.Equal(t, jobs, again)
		require.Equal(t, report, second)
	})
}

// A value that does not end is not gathered for ever.
func TestJSONTooLong(t *testing.T) {
	a := &answer{p: newParser("dump.txt", Options{}, nil), stream: stream{longest: 1 << 20, next: inBlocks(`{"jobs":[{"name":"`+strings.Repeat("x", 9<<20), 4096)}}
	require.EqualError(t, a.read(), "a value is longer than 1 MiB")
	long := strings.Repeat(`{"x":"y"},`, 1<<18)
	a = &answer{p: newParser("dump.txt", Options{}, nil), stream: stream{longest: 1 << 20, next: inBlocks(`{"associations":[`+long+`{}],"jobs":[]}`, 4096)}}
	require.NoError(t, a.read()) // lists that are not read may be of any length
}

// A byte order mark is no part of the answer.
func TestJSONByteOrderMark(t *testing.T) {
	want, _ := mustRead(t, answerOf(), Options{})
	jobs, _ := mustRead(t, "\ufeff"+answerOf(), Options{})
	require.Equal(t, want, jobs)
	_, report := mustRead(t, "\ufeff"+answerOf()+"\n\ufeff\n"+answerOf(), Options{}) // joined files
	require.Equal(t, int64(2), report.Jobs)
}

// Of two values of one member nothing tells which one holds.
func TestJSONTwice(t *testing.T) {
	badJSON(t, "account: stands twice", `"account":"lab_a","account":"lab_b"`)
	badJSON(t, "Account: stands twice", `"account":"lab_a","Account":"lab_b"`)
	badJSON(t, "account: stands twice", `"account":"lab_a","acc\u006funt":null`)
	badJSON(t, "elapsed: stands twice", `"time":{"submission":1740985200,"start":1740988800,"end":1740992400,"elapsed":3600,"elapsed":3600}`)
	badJSON(t, "count: stands twice", `"tres":{"allocated":[{"type":"cpu","count":4,"count":8}]}`)
	badJSON(t, "number: stands twice", `"time":{"submission":1740985200,"start":1740988800,"end":1740992400,"elapsed":{"set":true,"number":1,"number":2}}`)
	badJSON(t, "tres: stands twice", `"tres":null,"tres":{"allocated":[{"type":"cpu","count":4}]}`)
	oneJSON(t, `"comment":{"job":1,"job":2},"comment":{}`) // not read
}

// A value of another kind is named; where the job's end can be told, it tells
// the month that the record keeps open.
func TestJSONKinds(t *testing.T) {
	f := func(reason string, end Instant, changes ...string) {
		t.Helper()
		jobs, report := mustRead(t, answerOf(changes...), Options{})
		require.Empty(t, jobs)
		require.Len(t, report.Quarantined, 1)
		require.Equal(t, reason, report.Quarantined[0].Reason)
		require.Equal(t, end, report.Quarantined[0].End)
	}
	f("time: a text stands where an object is due", None, `"time":"x"`)
	f("tres: a list stands where an object is due", 1740992400, `"tres":[]`)
	f("allocated: an object stands where a list is due", 1740992400, `"tres":{"allocated":{}}`)
	f("allocated: a truth value stands where an object is due", 1740992400, `"tres":{"allocated":[{},true]}`)
	f("current: a number stands where a list is due", 1740992400, `"state":{"current":5}`)
	f("current: an object stands where a text is due", 1740992400, `"state":{"current":["FAILED",{"a":1}]}`)
	f("steps: a text stands where an object is due", 1740992400, `"steps":["101.batch"]`)
	f("set: a number stands where true or false is due", 1740992400, `"allocation_nodes":{"set":1,"number":1}`)
	f("number: a text stands where a number is due", 1740992400, `"allocation_nodes":{"set":true,"number":"1a"}`)
	f("number: a list stands where a number is due", 1740992400, `"allocation_nodes":{"set":true,"number":[]}`)
	f("end: stands twice in one object", None, `"time":{"submission":1740985200,"start":1740988800,"end":1740992400,"end":1740992401,"elapsed":3600}`)
	f("the object has no job_id", 1740992400, `"job_id":0`)
}

// Bytes that are not UTF-8, and halves of surrogate pairs, would make one of
// two accounts; in a free text they are replaced.
func TestJSONUTF8(t *testing.T) {
	badJSON(t, `Account: "m\xfcll" is not UTF-8`, "\"account\":\"m\xfcll\"")
	badJSON(t, "is not UTF-8", `"account":"lab\ud800"`)
	badJSON(t, "is not UTF-8", `"user":"\udc00\ud800"`)
	require.Equal(t, "m\ufffdll", oneJSON(t, "\"name\":\"m\xfcll\"").Name)
	j := oneJSON(t, `"name":"a\ud800b"`)
	require.Equal(t, "a\ufffdb", j.Name)
	require.Equal(t, NoteInvalidUTF8, j.Notes)
	j = oneJSON(t, `"account":"caf\u00e9"`, `"name":"\uD83D\uDE00 \"\\\/\b\f\n\r\t\u0041"`, "\"comment\":\"\xff\"")
	require.Equal(t, "café", j.Account)
	require.Equal(t, "😀 \"\\/\b\f\n\r\tA", j.Name)
	require.Zero(t, j.Notes) // nothing was replaced
}

// Answers and Sonar's lists in one file have columns of their own.
func TestJSONMixed(t *testing.T) {
	sonar := `{"data":{"type":"slurm_jobs","attributes":{"slurm_jobs":[{"JobID":"7","JobIDRaw":"7","Account":"lab_b","User":"u2","State":"COMPLETED",` +
		`"Submit":"2025-03-20T05:59:05+01:00","Start":"2025-03-20T08:20:40+01:00","End":"2025-03-20T12:05:33+01:00","ElapsedRaw":"13493","AllocTRES":"cpu=1,node=1"%s}]}}}`
	jobs, report := mustRead(t, answerOf()+fmt.Sprintf(sonar, ""), Options{Cluster: "c2"})
	require.Empty(t, report.Quarantined)
	require.Equal(t, [2]string{"lab_a", "lab_b"}, [2]string{jobs[0].Account, jobs[1].Account})
	require.Equal(t, int64(13493), jobs[1].ElapsedSeconds)
	_, report = mustRead(t, fmt.Sprintf(sonar, `,"JobID":"8"`), Options{Cluster: "c2"})
	require.Equal(t, "JobID: stands twice in one object", report.Quarantined[0].Reason)
	_, report = mustRead(t, fmt.Sprintf(sonar, `,"Other":8`), Options{Cluster: "c2"})
	require.Equal(t, "Other: a number stands where a text is due", report.Quarantined[0].Reason)
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
