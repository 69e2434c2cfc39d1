package yamldoc_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates/yamldoc"
)

// What is no YAML is said in words, at the line that has to be mended.
func TestSyntaxFaults(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		y := yamldoc.File{Name: "f"}
		require.Nil(t, y.Parse([]byte(text)))
		require.Len(t, y.Faults, 1)
		require.Equal(t, want, y.Faults[0].Error()+" | "+y.Faults[0].Hint())
	}
	lost := "look for a lost quote, comma, } or ]"
	f("", "f: is empty | ")
	f("a: 1\n\tb: 2\n", "f:2:1: a tab indents this line | indent with spaces")
	f("a:\n  - b: 1\n\u00a0   c:\n      d: 1\n    e: 1\n", "f:3:1: a non-breaking space indents this line | indent with plain spaces")
	f("a: 1\nb: @x\n", "f:2:4: a text begins with a sign that means something else in YAML | put a text that begins with one of > @ % ` | in quotes: \"> 128\"")
	f("a: b: c\n", "f:1:5: a colon stands where a value has begun already | put a text that has a colon in quotes; or the line is indented too far")
	f("a: 1\nb: {c: 1\nd: 2\n", "f:2:4: a { } or [ ] that begins here is not closed, or lacks a comma | "+lost)
	f("a: [", "f:1:4: a { } or [ ] that begins here or above is not closed | "+lost)
	f("a: 1\nb: \"c\n", "f:2:4: a quote, { or [ that was opened is not closed | look for it at or above this line")
	f("a:\n  - b: 1\n    c: 2\n   d: 3\n", "f:4:4: is indented by 3 spaces, as nothing beside it is | indent it exactly like the keys that it belongs with")
	f("a:\n    b: 1\n   c: 2\n", "f:3:4: is indented by 3 spaces, as nothing beside it is | indent it exactly like the keys that it belongs with")
	f("a: &x 1\nb: *y\n", `f:2:4: *y refers to no &y above it | a text that begins with * stands in quotes: "*y"`)
	f("a: [1, *y]\n", `f:1:8: *y refers to no &y above it | a text that begins with * stands in quotes: "*y"`)
	f("\xff\xfea\x00", "f: is UTF-16 | save it as UTF-8")
	f("a: 1\nb: \xe4\n", "f:2:4: the byte 0xe4 is not UTF-8 | save the file as UTF-8")
	f("a: 1\n---\nb: 2\n", "f:2:1: a second document begins here | keep one document in a file: remove the --- line")
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"a: 1\n", "a:\n  - b: 1\n   c: 2\n", "a: *b", "\xff", "{a: [1, 2", "- - - a\n b"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		y := yamldoc.File{Name: "f"}
		if root := y.Parse(text); root == nil {
			require.NotEmpty(t, y.Faults)
			var fault yamldoc.Fault
			require.True(t, errors.As(y.Faults, &fault))
			require.GreaterOrEqual(t, fault.Line, 0)
		}
	})
}
