package rates_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hpcbill/rates"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func newYork(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	return zone
}

func TestParseInstant(t *testing.T) {
	zone := newYork(t)
	f := func(text, want string) {
		t.Helper()
		got, err := rates.ParseInstant(text, zone)
		require.NoError(t, err)
		require.Equal(t, want, got.UTC().Format(time.RFC3339))
	}
	f("2026-03-04T10:00", "2026-03-04T15:00:00Z")
	f("2026-03-04 10:00:09", "2026-03-04T15:00:09Z")
	f("2026-03-04T10:00Z", "2026-03-04T10:00:00Z")
	f("2026-03-04T10:00:30+05:30", "2026-03-04T04:30:30Z")
	f("2026-03-04", "2026-03-04T05:00:00Z")
	f("2026-07-04", "2026-07-04T04:00:00Z")
	f("2026-03-08T03:00", "2026-03-08T07:00:00Z")
	f("2026-11-01T00:59:59", "2026-11-01T04:59:59Z")
	f("2026-11-01T02:00", "2026-11-01T07:00:00Z")
	f("2026-11-01T01:30-04:00", "2026-11-01T05:30:00Z")
	f("2026-11-01T01:30-05:00", "2026-11-01T06:30:00Z")

	bad := func(text, message string) {
		t.Helper()
		_, err := rates.ParseInstant(text, zone)
		require.EqualError(t, err, message)
	}
	bad("2026-03-08T02:30", "the clocks of America/New_York are set forward over 2026-03-08T02:30")
	bad("2026-11-01T01:30", "2026-11-01T01:30 comes twice in America/New_York, where the clocks are set back")
	for _, text := range []string{"", "10:00", "2026-02-30", "2026-02-30T10:00", "2026-03-04T24:00", "2026-03-04T10:60", "2026-03-04T10:00:00.5", "2026-03-04T10", "2026-03-04T10:00 EST", "2026-03-04T10:00+0100", "04.03.2026", "now"} {
		bad(text, `"`+text+`" is not a time such as 2026-03-04T10:00`)
	}
}

// Every moment has a local time that is read as this moment, unless that time
// comes twice, and then its offset tells.
func TestParseInstantReadsWhatIsPrinted(t *testing.T) {
	zone := newYork(t)
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 0).In(zone)
		if got, err := rates.ParseInstant(at.Format("2006-01-02T15:04:05"), zone); err != nil {
			require.ErrorContains(t, err, "comes twice")
		} else {
			require.True(t, at.Equal(got))
		}
		got, err := rates.ParseInstant(at.Format("2006-01-02T15:04:05-07:00"), zone)
		require.NoError(t, err)
		require.True(t, at.Equal(got))
	})
}

func TestHosts(t *testing.T) {
	f := func(set, nodeList string, met, known bool) {
		t.Helper()
		h, err := rates.ParseHosts(set)
		require.NoError(t, err)
		gotMet, gotKnown := h.Meets(nodeList)
		require.Equal(t, []bool{met, known}, []bool{gotMet, gotKnown})
	}
	f("node[01-12]", "node07", true, true)
	f("node[01-12]", "node7", false, true)
	f("node[1-12]", "node07", false, true)
	f("node[8-12]", "node[01-07,12]", true, true)
	f("node[8-12]", "node[01-07],gpu1", false, true)
	f("node[098-101]", "node[099-100]", true, true)
	f("a,b", "b", true, true)
	f("gpu*", "cpu[1-3],gpu9", true, true)
	f("gpu?", "gpu10", false, true)
	f("g*[1-2]", "gpu2", true, true)
	f("r[1-2]n[01-02]", "r2n01", true, true)
	f("r[1-2]n[01-02]", "r3n01", false, true)
	f("r1n01", "r[1-2]n[01-02]", true, true)
	f("n[1,3]x", "n3x", true, true)
	f("a", "", false, false)
	f("a", "None assigned", false, false)
	f("a", "b,c[1-", false, false)
	f("a", "b[2-1]", false, false)
	f("a", "b[1-99999999]", false, false)
	f("b", "(null)", false, false)
	for _, text := range []string{"", ",", "a,", "a,,b", "a[1-2", "a]1[", "a[x]", "a[3-1]", "a[]", "a b", "a[1-9999999]", "a[-1]", "a[+1]", "a[[1]]", "a[1-1000]b[1-2000]", "a\tb"} {
		_, err := rates.ParseHosts(text)
		require.Error(t, err, text)
	}
}

const goodOutages = `
outages:
  - name: cooling-2026-03
    from: 2026-03-04T10:00
    until: 2026-03-04T14:30
    match: {cluster: h2p, partition: "gpu*"}
    node_list: ["gpu[01-12]", login1]
    mode: whole
    reason: the chilled water failed
    author: jd
  - {name: net, from: 2026-02-01, until: 2026-02-02T00:00Z, reason: network, billed_from: 2026-03}
`

func TestLoadOutages(t *testing.T) {
	o, err := rates.LoadOutages("outages.yaml", []byte(goodOutages), newYork(t))
	require.NoError(t, err)
	require.Len(t, o.All, 2)
	net, cooling := o.All[0], o.All[1]
	require.Equal(t, "net overlap network 11", strings.Join([]string{net.Name, net.Mode.String(), net.Reason, "11"}, " "))
	require.Equal(t, 11, net.Line)
	require.Equal(t, time.Date(2026, 2, 1, 5, 0, 0, 0, time.UTC).Unix(), net.From)
	require.Equal(t, time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC).Unix(), net.Until)
	require.Equal(t, time.Date(2026, 3, 1, 5, 0, 0, 0, time.UTC), net.BilledFrom.UTC())
	require.Nil(t, net.Nodes)
	require.True(t, net.Match.IsCatchAll())
	require.Equal(t, rates.OutageWhole, cooling.Mode)
	require.Equal(t, "jd", cooling.Author)
	require.Equal(t, 3, cooling.Line)
	require.Equal(t, int64(4*3600+1800), cooling.Until-cooling.From)
	require.True(t, o.AskForNodes())

	none, err := rates.LoadOutages("outages.yaml", []byte("outages:\n"), time.UTC)
	require.NoError(t, err)
	require.Empty(t, none.All)
	require.Empty(t, none.Meeting(nil, 0, 1<<40))
}

// An outage says the same in another order of keys, without its author, and
// with the mode that is meant where none is written.
func TestOutageDigest(t *testing.T) {
	f := func(text string) string {
		t.Helper()
		o, err := rates.LoadOutages("outages.yaml", []byte("outages: [{"+text+"}]"), time.UTC)
		require.NoError(t, err)
		return o.All[0].Digest
	}
	same := f("name: a, from: 2026-01-01, until: 2026-01-02, reason: r")
	require.Equal(t, same, f("reason: r, until: 2026-01-02, mode: overlap, from: 2026-01-01, name: a, author: jd"))
	for _, other := range []string{
		"name: b, from: 2026-01-01, until: 2026-01-02, reason: r", "name: a, from: 2026-01-01, until: 2026-01-03, reason: r",
		"name: a, from: 2026-01-01, until: 2026-01-02, reason: s", "name: a, from: 2026-01-01, until: 2026-01-02, reason: r, mode: whole",
		"name: a, from: 2026-01-01, until: 2026-01-02, reason: r, match: {partition: x}", "name: a, from: 2026-01-01, until: 2026-01-02, reason: r, node_list: x",
	} {
		require.NotEqual(t, same, f(other))
	}
}

func TestBadOutages(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		_, err := rates.LoadOutages("o.yaml", []byte(text), newYork(t))
		var faults rates.Faults
		require.ErrorAs(t, err, &faults)
		var got []string
		for _, fault := range faults {
			got = append(got, fault.Error())
		}
		require.Equal(t, want, got)
	}
	f("", "o.yaml: is empty")
	f("windows: []", `o.yaml:1:1: windows: unknown key "windows"`)
	f("outages: []\nother: 1", `o.yaml:2:1: other: unknown key "other"`)
	f("outages: [{name: a, from: 2026-03-04, until: 2026-03-05}]", "o.yaml:1:11: outages[0]: has no reason")
	f("outages:\n- {name: a, from: 2026-03-05, until: 2026-03-05, reason: r}", "o.yaml:2:3: outages[0].until: is not after from")
	f("outages:\n- {name: a b, from: 2026-03-04, until: 2026-03-05, reason: r}", `o.yaml:2:10: outages[0].name: "a b" cannot name an outage`)
	f("outages:\n- {name: a, from: 2026-03-04, until: 2026-03-05, reason: r}\n- {name: a, from: 2026-03-04, until: 2026-03-05, reason: r}",
		"o.yaml:3:10: outages[1].name: a is the name of line 2 already")
	f("outages:\n- {name: a, from: 2026-03-08T02:30, until: 2026-11-01T01:30, mode: part, reason: \"\\n\", billed_from: soon}",
		"o.yaml:2:19: outages[0].from: the clocks of America/New_York are set forward over 2026-03-08T02:30",
		"o.yaml:2:44: outages[0].until: 2026-11-01T01:30 comes twice in America/New_York, where the clocks are set back",
		`o.yaml:2:68: outages[0].mode: unknown choice "part"`,
		"o.yaml:2:82: outages[0].reason: is empty, of several lines, or has a control character",
		`o.yaml:2:101: outages[0].billed_from: "soon" is not a period such as 2026-03`)
	f("outages:\n- {name: a, from: 2026-03-04, until: 2026-03-05, reason: r, match: {partiton: x}, node_list: \"n[1-\", nodes: 3}",
		`o.yaml:2:69: outages[0].match.partiton: unknown key "partiton"`,
		`o.yaml:2:94: outages[0].node_list: "n[1-" lacks its closing bracket`,
		`o.yaml:2:102: outages[0].nodes: unknown key "nodes"`)
}

// Meeting finds the windows that meet a span, in their order, whatever the
// order of the file.
func TestMeetingFindsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var windows []string
		for i := range rapid.IntRange(0, 12).Draw(t, "n") {
			from := rapid.Int64Range(0, 40).Draw(t, "from")
			until := from + rapid.Int64Range(1, 20).Draw(t, "length")
			at := func(n int64) string { return time.Unix(n*60, 0).UTC().Format("2006-01-02T15:04Z") }
			windows = append(windows, "- {name: w"+string(rune('a'+i))+", from: "+at(from)+", until: "+at(until)+", reason: r}\n")
		}
		load := func(windows []string) *rates.Outages {
			o, err := rates.LoadOutages("o.yaml", []byte("outages:\n"+strings.Join(windows, "")), time.UTC)
			require.NoError(t, err)
			return o
		}
		start := 60 * rapid.Int64Range(-5, 65).Draw(t, "start")
		end := start + rapid.Int64Range(1, 1200).Draw(t, "span")
		o := load(windows)
		var want, got, permuted []string
		for _, w := range o.All {
			if w.From < end && w.Until > start {
				want = append(want, w.Name)
			}
		}
		for _, w := range o.Meeting(nil, start, end) {
			got = append(got, w.Name)
		}
		slices.Reverse(windows)
		for _, w := range load(windows).Meeting(nil, start, end) {
			permuted = append(permuted, w.Name)
		}
		require.Equal(t, want, got)
		require.Equal(t, want, permuted)
	})
}

func FuzzLoadOutages(f *testing.F) {
	f.Add([]byte(goodOutages))
	f.Add([]byte("outages: [{name: a, from: 2026-03-04, until: 2026-03-05 10:00, reason: r, match: {hour: 8..17}}]"))
	f.Add([]byte("outages: &x [*x]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := rates.LoadOutages("o.yaml", text, time.UTC)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		for _, w := range o.All {
			require.Less(t, w.From, w.Until)
			require.NotEmpty(t, w.Reason)
			require.Contains(t, o.Meeting(nil, w.From, w.From+1), w)
		}
	})
}

func FuzzParseHosts(f *testing.F) {
	f.Add("node[01-12],gpu*", "node07")
	f.Add("r[1-2]n[01-04]", "r[2-3]n1")
	f.Fuzz(func(t *testing.T, set, nodeList string) {
		if h, err := rates.ParseHosts(set); err == nil {
			h.Meets(nodeList)
			if !strings.ContainsAny(set, "*?") {
				met, known := h.Meets(set)
				require.True(t, met && known)
			}
		}
	})
}
