package ingest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDuration(t *testing.T) { // case C43
	f := func(text string, seconds int64, milli int) {
		t.Helper()
		s, m, ok := parseDuration(text)
		require.True(t, ok, text)
		require.Equal(t, seconds, s, text)
		require.Equal(t, milli, m, text)
	}
	bad := func(text string) {
		t.Helper()
		_, _, ok := parseDuration(text)
		require.False(t, ok, text)
	}
	f("00:00:00", 0, 0)
	f("00:00:17", 17, 0)
	f("05:03", 303, 0)
	f("00:24.041", 24, 41)
	f("01:57.5", 117, 500)
	f("23:59:59", 86399, 0)
	f("1-00:00:00", 86400, 0)
	f("1-02:24:13", 95053, 0)
	f("100-00:00:00", 8640000, 0)
	f("451-06:00:24", 38988024, 0)
	f("11291-21:00:48", 975618048, 0)
	f("8-15", 745200, 0)
	f("8-15:30", 747000, 0)
	f("36:00:00", 129600, 0)
	f("49710-06:28:13", 4294967293, 0)
	bad("49710-06:28:14") // NO_VAL printed as a time
	bad("2982616-04:14:00")
	bad("")
	bad("-16")
	bad("-1")
	bad("16")
	bad("00:54:74")
	bad("00:60:00")
	bad("1-24:00:00")
	bad("1:2:3")
	bad("1-")
	bad("-00:00:01")
	bad("00:00:00:00")
	bad("00:00.")
	bad("00:00.1234")
	bad("UNLIMITED")
	bad("9999999999999999999-00:00:00")
	bad("000000000000000000001:00:00")
}

func TestTimelimit(t *testing.T) { // case C44
	f := func(text string, want int64) {
		t.Helper()
		require.Equal(t, want, parseTimelimit(text), text)
	}
	f("", Unknown)
	f("UNLIMITED", NoLimit)
	f("Partition_Limit", Unknown)
	f("INVALID", Unknown)
	f("01:00", 60)
	f("1-00:00:00", 86400)
	f("nonsense", Unknown)
	require.Equal(t, int64(86400), parseTimelimitRaw("1440"))
	require.Equal(t, NoLimit, parseTimelimitRaw("UNLIMITED"))
	require.Equal(t, Unknown, parseTimelimitRaw("Partition_Limit"))
	require.Equal(t, Unknown, parseTimelimitRaw(""))
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	require.NoError(t, err)
	return loc
}

func TestStamp(t *testing.T) {
	f := func(loc *time.Location, text string, want int64) {
		t.Helper()
		s, ok := newClock(loc).parse(text)
		require.True(t, ok, text)
		require.Equal(t, Instant(want), s.at, text)
		require.Equal(t, None, s.later, text)
	}
	bad := func(loc *time.Location, text string) {
		t.Helper()
		_, ok := newClock(loc).parse(text)
		require.False(t, ok, text)
	}
	berlin := zone(t, "Europe/Berlin")
	// case C41: one instant
	f(berlin, "2025-03-03T09:00:00", 1740988800)
	f(time.UTC, "2025-03-03T09:00:00+0100", 1740988800)
	f(berlin, "2025-03-03T09:00:00+01:00", 1740988800)
	f(berlin, "2025-03-03T08:00:00Z", 1740988800)
	f(berlin, "2025-03-03T07:00:00-01", 1740988800)
	f(berlin, "1740988800", 1740988800)
	f(berlin, "2025-07-01T00:00:00", 1751320800) // CEST, two hours
	// case C32: nothing
	for _, none := range []string{"Unknown", "None", "N/A", "", "0", "1970-01-01T01:00:00", "4294967294", "4294967295"} {
		f(berlin, none, 0)
	}
	f(zone(t, "America/New_York"), "1969-12-31T19:00:00", 0)
	// case C47
	f(time.UTC, "2024-02-29T12:00:00", 1709208000)
	f(time.UTC, "2016-12-31T23:59:60", 1483228800)
	f(time.UTC, "2000-03-01T00:00:00", 951868800)
	f(time.UTC, "2100-02-28T23:59:59", 4107542399)
	bad(time.UTC, "2025-02-29T00:00:00")
	bad(time.UTC, "2100-02-29T00:00:00")
	bad(time.UTC, "2025-13-01T00:00:00")
	bad(time.UTC, "2025-00-01T00:00:00")
	bad(time.UTC, "2025-01-32T00:00:00")
	bad(time.UTC, "2025-01-00T00:00:00")
	bad(time.UTC, "2025-01-01T24:00:00")
	bad(time.UTC, "2025-01-01T00:60:00")
	bad(time.UTC, "2025-01-01T00:00:61")
	bad(time.UTC, "Ystday 11:00")
	bad(time.UTC, "25 Apr 10:00")
	bad(time.UTC, "#######")
	bad(time.UTC, "2025-01-01T00:00:00+")
	bad(time.UTC, "2025-01-01T00:00:00+1")
	bad(time.UTC, "2025-01-01T00:00:00 CET")
	bad(berlin, "2025-03-30T02:30:00") // an hour that was skipped
}

func TestStampRepeated(t *testing.T) { // case C40
	s, ok := newClock(zone(t, "Europe/Berlin")).parse("2025-10-26T02:30:00")
	require.True(t, ok)
	require.Equal(t, Instant(1761438600), s.at)
	require.Equal(t, Instant(1761442200), s.later)
}

// Every local time that a zone prints is read back, whatever its rules.
func TestStampEveryZone(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns", "Africa/Casablanca"} {
		loc := zone(t, name)
		c := newClock(loc)
		for at := int64(1262304000); at < 1767225600; at += 5701 {
			text := time.Unix(at, 0).In(loc).Format("2006-01-02T15:04:05")
			s, ok := c.parse(text)
			require.True(t, ok, "%s %s", name, text)
			require.Contains(t, s.either(), Instant(at), "%s %s", name, text)
		}
	}
}

func TestSizeMiB(t *testing.T) {
	f := func(text string, mib int64, rounded bool) {
		t.Helper()
		got, r, ok := parseSizeMiB(text)
		require.True(t, ok, text)
		require.Equal(t, mib, got, text)
		require.Equal(t, rounded, r, text)
	}
	bad := func(text string) {
		t.Helper()
		_, _, ok := parseSizeMiB(text)
		require.False(t, ok, text)
	}
	f("0", 0, false)
	f("4000", 4000, false) // 15.08 printed no suffix
	f("1000M", 1000, false)
	f("1G", 1024, false)
	f("1.50G", 1536, false)
	f("62.50G", 64000, false)
	f("2.50G", 2560, false)
	f("257000M", 257000, false)
	f("1T", 1048576, false)
	f("1.50T", 1572864, true) // or 1573376
	f("1.00T", 1048576, true) // 1049088, or anything with --units
	f("1.25G", 1280, true)
	f("2P", 2147483648, false)
	f("2048K", 2, false)
	bad("512K")
	bad("0.10G") // 100M with --units=G
	bad("15.62G")
	bad("")
	bad("G")
	bad("1.G")
	bad("-1G")
	bad("1 G")
	bad("4Gn")
	bad("99999999999E")
	bad("1e3")
}

func TestTRES(t *testing.T) {
	f := func(text string, cpus, mem, nodes, gpus, billing int64, notes Notes) {
		t.Helper()
		got, fault := parseTRES(text)
		require.Nil(t, fault, text)
		require.Equal(t, tres{cpus, mem, nodes, gpus, billing, notes}, got, text)
	}
	bad := func(text, reason string) {
		t.Helper()
		_, fault := parseTRES(text)
		require.NotNil(t, fault, text)
		require.Contains(t, fault.reason(), reason)
	}
	f("billing=4,cpu=4,mem=8G,node=1", 4, 8192, 1, -1, 4, 0)
	f("billing=67,cpu=67,mem=536000M,node=1", 67, 536000, 1, -1, 67, 0)
	f("cpu=1,mem=4000M,node=1", 1, 4000, 1, -1, -1, 0)
	// case C67
	f("gres/gpu=2,gres/gpu:a100=2", -1, -1, -1, 2, -1, 0)
	f("gres/gpu:a100=2", -1, -1, -1, 2, -1, 0)
	f("gres/gpu=4,gres/gpu:a100=2,gres/gpu:v100=2", -1, -1, -1, 4, -1, 0)
	f("gres/gpu:a100=2,gres/gpu:v100=2", -1, -1, -1, 4, -1, 0)
	f("gres/gpu:mi100=8,gres/gpu=8", -1, -1, -1, 8, -1, 0)
	f("gres/gpu=0", -1, -1, -1, 0, -1, 0)
	f("gres/gpu=2,gres/gpu:tesla=1", -1, -1, -1, 2, -1, NoteGPUTypesDisagree)
	f("gres/gpu=1,gres/gpu:tesla=2", -1, -1, -1, 1, -1, NoteGPUTypesDisagree)
	f("gres/gpu:(null)=2", -1, -1, -1, 2, -1, 0) // case C68
	// case C71
	f("cpu=4,gres/gpumem=40G,gres/gpuutil=97,gres/tmp=262144000", 4, -1, -1, -1, -1, 0)
	f("cpu=4,gres/shard=40,gres/shard:nvidia_gb10=40", 4, -1, -1, -1, -1, 0) // case C70
	// case C25
	f("energy=18446744073709551614,billing=4,cpu=4", 4, -1, -1, -1, 4, 0)
	f("billing=18446744073709551614,cpu=4,mem=18446744073709551615", 4, -1, -1, -1, -1, 0)
	f("billing=NONE,cpu=4,mem=NONE", 4, -1, -1, -1, -1, 0)
	f("1002=4,cpu=2", 2, -1, -1, -1, -1, 0)
	f("cpu=2,license/matlab@srv.example=1,bb/datawarp=100G", 2, -1, -1, -1, -1, 0)
	f("cpu=1024,mem=1.00T", 1024, 1048576, -1, -1, -1, NoteMemoryRounded)
	bad("cpu=1,mem=0.10G", "mem=0.10G is not a whole number of MiB")
	bad("cpu", `"cpu" is not a TRES`)
	bad("cpu=", `"cpu=" is not a TRES`)
	bad("cpu=4,mem=1G,", "ends in a comma")
	bad("cpu=4,,mem=1G", `"" is not a TRES`)
	bad("cpu=1K", "cpu=1K is not a whole count")
	bad("cpu=-4", "cpu=-4 is not a whole count")
	bad("cpu=4,cpu=8", "cpu occurs twice")
	bad("mem=4G,mem=4G", "mem occurs twice")
	// no wrong number that looks right: signs for none, and keys that are not sacct's
	for _, text := range []string{"cpu=4294967294", "node=4294967295", "gres/gpu=4294967294", "gres/gpu:a100=4294967294", "billing=4294967294", "cpu=999999999999"} {
		bad("energy=5,"+text, text+" is not a whole count")
	}
	bad("mem=4294967294M", "mem=4294967294M")
	f("billing=5000000000,cpu=4", 4, -1, -1, -1, 5000000000, 0)
	bad("1=4,2=8192,4=1,1001=2", "1= is the number of a TRES")
	for _, key := range []string{"CPU", "Mem", "NODE", "Billing", " cpu", `"cpu`} {
		bad("energy=5,"+key+"=4", "is no TRES that sacct prints")
	}
	bad("cpu=4,gres/gpu/a100=2", "is no TRES that sacct prints")
	bad("cpu=4,GRES/GPU=2", "is no TRES that sacct prints")
	f("cpu=4,gres/mps=50,gres/shard=2,ic/ofed=7", 4, -1, -1, -1, -1, 0)
	bad("billing=9223372036854775808", "billing=9223372036854775808 is not a whole count")
}

func TestJobTRES(t *testing.T) {
	j := Job{AllocTRES: "billing=9,cpu=4,gres/gpu:a100=2,gres/gpu:a100_1g.5gb=3,gres/shard:x=40,license/matlab=2,mem=1.50G"}
	f := func(name string, want int64, found bool) {
		t.Helper()
		n, ok := j.TRES(name)
		require.Equal(t, found, ok, name)
		require.Equal(t, want, n, name)
	}
	f("cpu", 4, true)
	f("mem", 1536, true)
	f("gres/gpu:a100", 2, true)
	f("gres/gpu", 5, true) // the sum of the types
	f("gres/shard", 40, true)
	f("license/matlab", 2, true)
	f("license/ansys", 0, false)
	f("gres/gp", 0, false)
	require.Equal(t, int64(3), j.GPUsOfType("a100_1g.5gb"))
	require.Equal(t, int64(0), j.GPUsOfType("h100"))
}

func TestState(t *testing.T) { // case C64
	f := func(text string, word State, by string) {
		t.Helper()
		w, b, ok := parseState(text)
		require.True(t, ok, text)
		require.Equal(t, word, w, text)
		require.Equal(t, by, b, text)
	}
	f("COMPLETED", Completed, "")
	f("CANCELLED by 1001", Cancelled, "1001")
	f("CANCELLED by 0", Cancelled, "0")
	f("CANCELLED by -1294967296", Cancelled, "3000000000")
	f("CANCELLED", Cancelled, "")
	f("CANCELLED+", Cancelled, "")
	f("OUT_OF_ME+", OutOfMemory, "")
	f("NEW_STATE", State("NEW_STATE"), "")
	for _, bad := range []string{"", "completed", "2025-01-01T00:00:00", "CANCELLED by", "CANCELLED by x", "RE+", "12"} {
		_, _, ok := parseState(bad)
		require.False(t, ok, bad)
	}
}

func TestJobIDForm(t *testing.T) {
	f := func(text string, want jobIDForm) {
		t.Helper()
		require.Equal(t, want, jobIDFormOf(text), text)
	}
	f("812", plainID)
	f("903_7", arrayTask)
	f("0_0", arrayTask) // case C140
	f("600+1", hetPart)
	f("903_[7-20%2]", arrayRange)
	f("903_[1,3,5,...]", arrayRange)
	f("903_[1-400", arrayRange) // cut at 34 characters
	for _, step := range []string{"101.batch", "101.extern", "101.0", "101.interactive", "101.bat+", "101.ba+", "101.interac+", "101.TBD", "600+0.batch", "600+1.0", "123.0+1", "903_7.batch"} {
		f(step, stepID) // case C49
	}
	for _, bad := range []string{"", "x", "101 ", "102 done", "101.", "_1", "1_", "1_[", "1_[]", "1+", "1__2", "1.ba tch", "-1", "JobID", "123456789012345678901"} {
		f(bad, notJobID)
	}
}

func TestTaskCount(t *testing.T) { // case C56
	f := func(id string, want int64) {
		t.Helper()
		require.Equal(t, want, (&Job{JobID: id}).TaskCount(), id)
	}
	f("500_[3-10%2]", 8)
	f("500_[1,5]", 2)
	f("500_[9-11,13,16-20]", 9)
	f("500_[0-4:2]", 3)
	f("500_[1%1]", 1)
	f("500_[9201-10000%500]", 800)
	f("500_[1,3,...]", 0)
	f("500_7", 1)
	f("500", 1)
}

func TestSLUID(t *testing.T) {
	require.Equal(t, uint64(14147616068585127941), parseSLUID("sC8NKDVDNA0005"))
	require.Equal(t, uint64(14147616068585127941), parseSLUID("sc8nkdvdnaOOo5"))
	require.Zero(t, parseSLUID("s0000000000000"))
	require.Zero(t, parseSLUID("C8NKDVDNA0005"))
	require.Zero(t, parseSLUID(""))
}

func FuzzDuration(f *testing.F) {
	f.Add("1-02:24:13")
	f.Add("00:24.041")
	f.Fuzz(func(t *testing.T, s string) {
		seconds, milli, ok := parseDuration(s)
		if ok {
			require.True(t, seconds >= 0 && seconds <= maxElapsedSeconds && milli >= 0 && milli < 1000)
		}
	})
}

func FuzzStamp(f *testing.F) {
	f.Add("2025-10-26T02:30:00")
	f.Add("1740988800")
	f.Add("2025-03-03T09:00:00+01:00")
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := newClock(berlin).parse(s)
		want, err := time.ParseInLocation("2006-01-02T15:04:05", s, berlin)
		if ok && err == nil && len(s) == 19 && got.at != None {
			require.Contains(t, got.either(), Instant(want.Unix()))
		}
	})
}

func FuzzTRES(f *testing.F) {
	f.Add("billing=8,cpu=2,gres/gpu:a100=1,gres/gpu=1,mem=40G,node=1")
	f.Add("mem=1.50T,energy=18446744073709551614")
	f.Fuzz(func(t *testing.T, s string) {
		got, fault := parseTRES(s)
		if fault != nil {
			return
		}
		text := ""
		for _, e := range []struct {
			name string
			n    int64
		}{{"cpu", got.cpus}, {"mem", got.memoryMiB}, {"node", got.nodes}, {"billing", got.billing}, {"gres/gpu", got.gpus}} {
			require.GreaterOrEqual(t, e.n, Unknown)
			if e.n >= 0 {
				text += "," + e.name + "=" + decimal(uint64(e.n))
			}
		}
		if text != "" {
			again, fault := parseTRES(text[1:])
			require.Nil(t, fault)
			again.notes, got.notes = 0, 0
			require.Equal(t, got, again)
		}
	})
}
