package ingest

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The scanner takes for a value what the standard library takes for one, and
// reads texts as it does.
func FuzzJSONScan(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+7,true,false,null,"x"],"b":{},"c":[]}`, `"\ud83d\ude00\/\b\f\n\r\t\"\\"`, `"\u12"`, "\"a\x01\"", `01`, `1.`, `-`, `[1,]`, `{"a":1,}`,
		`{"a" :1}`, `[}`, `{]`, `nulx`, "\"m\xfcll, which is longer than eight bytes\"", "[\n          1 ,\t2\r\n]", strings.Repeat("[", 64) + strings.Repeat("]", 64),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := scanner{text: text + " "}
		from := s.space(0)
		if from < 0 {
			require.False(t, json.Valid([]byte(text)))
			return
		}
		s.at = from
		s.skip()
		if s.due == tooDeep {
			return
		}
		ok := s.stop == notStopped && s.space(s.at) < 0 // nothing follows
		require.Equal(t, json.Valid([]byte(text)), ok, s.due)
		var want string
		if !ok || text[from] != '"' || json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		s = scanner{text: text, at: from}
		if got := s.str(); utf8.ValidString(got) {
			require.Equal(t, want, got)
		} else {
			require.Contains(t, want, "\ufffd")
		}
	})
}
