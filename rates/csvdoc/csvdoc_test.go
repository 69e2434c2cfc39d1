package csvdoc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func file() *File {
	return &File{Name: "a.csv", Columns: []string{"id", "name", "day"}, Needed: [][]string{{"id"}, {"name", "day"}}, Begin: "id,name"}
}

func TestRead(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		doc := file()
		var got []string
		for _, r := range doc.Read([]byte(text)) {
			got = append(got, r.Cell("id")+"|"+r.Cell("name")+"|"+r.Cell("day"))
		}
		require.Empty(t, doc.Faults)
		require.Equal(t, want, got)
	}
	f("id,name\n1,x\n", "1|x|")
	f("\ufeffNAME , ID,,\r\n x ,1,,\r\n\r\n,,,\r\ny,2\r\n", "1|x|", "2|y|")
	f("id;name\n1;\"x;y\"\n", "1|x;y|")
	f("id,day\n\"a\"\"b\",2026\n", "a\"b||2026")
	f("id,name\n")
}

func TestFaults(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		doc := file()
		doc.Read([]byte(text))
		var got []string
		for _, fault := range doc.Faults {
			got = append(got, fault.Error())
		}
		require.Equal(t, want, got)
	}
	f("", "a.csv: is empty")
	f("\n ,\n", "a.csv: is empty")
	f("id\n1\n", "a.csv:1: name: the column is missing")
	f("id,nam,id\n", "a.csv:1: nam: unknown column", "a.csv:1: id: the column occurs twice", "a.csv:1: name: the column is missing")
	f("id,name\n1,x,y\n2,z\n", `a.csv:2:5: there is a cell beyond the last column: "y"`)
	f("id,name\n1,\"x\ny\n", "a.csv:2: extraneous or missing \" in quoted-field")
	f("id,name\n1,x\n2,\xff\n", "a.csv:3: is not UTF-8")
	f(strings.Repeat("x", maxBytes+1), "a.csv: the file is longer than 16 MiB")
}

func TestPlacesAndOneLine(t *testing.T) {
	doc := file()
	rows := doc.Read([]byte("id,name,day\n1,\"x\ny\",2026\n"))
	require.Len(t, rows, 1)
	require.Equal(t, 2, rows[0].Line())
	line, column := rows[0].Place("day")
	require.Equal(t, [2]int{3, 4}, [2]int{line, column})
	rows[0].OneLine()
	require.EqualError(t, doc.Faults, `a.csv:2: "x\ny" has a line break or a control character`)
}

func FuzzRead(f *testing.F) {
	f.Add("id,name\n1,x\n")
	f.Add("\ufeffid;day\n\"a\";\n")
	f.Fuzz(func(t *testing.T, text string) {
		doc := file()
		for _, r := range doc.Read([]byte(text)) {
			require.Positive(t, r.Line())
			_ = r.Cell("id") + r.Cell("day")
			r.OneLine()
		}
	})
}
