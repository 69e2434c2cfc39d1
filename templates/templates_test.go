package templates_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"hpcbill/templates"
)

func in(t *testing.T, language string) templates.Words {
	t.Helper()
	w, err := templates.In(language)
	require.NoError(t, err)
	return w
}

// keys are those of a file of words, read apart from the package.
func keys(language string) []string {
	var all []string
	for line := range strings.Lines(templates.Page(language + ".txt")) {
		if key, _, ok := strings.Cut(line, " ="); ok && !strings.HasPrefix(line, "#") {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

func TestLanguagesSayTheSame(t *testing.T) {
	require.Equal(t, []string{"en", "es"}, templates.Languages())
	// English units need no translation: they are the units' names.
	others := slices.DeleteFunc(keys("es"), func(key string) bool { return strings.HasPrefix(key, "unit.") && key != "unit.price" })
	require.Equal(t, keys("en"), others)
}

// TestNoIdleWords finds words that no document says any more.
func TestNoIdleWords(t *testing.T) {
	var said strings.Builder
	for _, path := range sources(t) {
		said.WriteString(path)
	}
	for _, key := range keys("en") {
		if family, _, ok := strings.Cut(key, "."); ok && slices.Contains([]string{"month", "meaning", "per"}, family) {
			continue
		}
		require.Contains(t, said.String(), `"`+key+`"`)
	}
}

func TestIn(t *testing.T) {
	require.Equal(t, "en", in(t, "").Language)
	_, err := templates.In("de")
	require.ErrorIs(t, err, templates.ErrLanguage)
	_, err = templates.In("../en")
	require.ErrorIs(t, err, templates.ErrLanguage)
}

func TestSay(t *testing.T) {
	require.Equal(t, "Page", in(t, "en").Say("page"))
	require.Equal(t, "1–31 de marzo de 2026", in(t, "es").Say("period.range", "last", in(t, "es").Date(2026, 3, 31)))
	// A value that looks like a place for another one is not filled.
	require.Equal(t, "{units} of 2 SU left", in(t, "en").Say("balance.of", "left", "{units}", "units", "2", "unit", "SU"))
	require.Panics(t, func() { in(t, "en").Say("no such key") })
}

func TestNumber(t *testing.T) {
	f := func(plain, english, spanish string) {
		t.Helper()
		require.Equal(t, english, in(t, "en").Number(plain))
		require.Equal(t, spanish, in(t, "es").Number(plain))
	}
	f("0", "0", "0")
	f("123", "123", "123")
	f("1234", "1,234", "1.234")
	f("-1234567.890", "−1,234,567.890", "−1.234.567,890")
	f("0.0000087890625", "0.0000087890625", "0,0000087890625")
}

func TestDate(t *testing.T) {
	require.Equal(t, "29 February 2028", in(t, "en").Date(2028, 2, 29))
	require.Equal(t, "29 de febrero de 2028", in(t, "es").Date(2028, 2, 29))
}

func TestUnit(t *testing.T) {
	require.Equal(t, "GPU-hour", in(t, "en").Unit("GPU-hour"))
	require.Equal(t, "hora-GPU", in(t, "es").Unit("GPU-hour"))
	require.Equal(t, "furlong", in(t, "es").Unit("furlong"))
}

func TestVisible(t *testing.T) {
	f := func(text, one, lines string) {
		t.Helper()
		require.Equal(t, one, templates.Visible(text))
		require.Equal(t, lines, templates.VisibleLines(text))
	}
	f("", "", "")
	f("Ärzte 漢字 😀", "Ärzte 漢字 😀", "Ärzte 漢字 😀")
	f("a\tb", "a␉b", "a␉b")
	f("a\r\nb\nc\rd", "a␍␊b␊c␍d", "a\nb\nc␍d")
	f("nul\x00 esc\x1b us\x1f del\x7f", "nul␀ esc␛ us␟ del␡", "nul␀ esc␛ us␟ del␡")
	f("\xff|\u0085|\ufffe", "\ufffd|\ufffd|\ufffd", "\ufffd|\ufffd|\ufffd")
	f("a\u2028b", "a␤b", "a␤b")
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x00b\xff\u0085")
	f.Fuzz(func(t *testing.T, text string) {
		got := templates.Visible(text)
		require.True(t, utf8.ValidString(got))
		require.False(t, strings.ContainsFunc(got, unicode.IsControl))
		require.Equal(t, got, templates.Visible(got))
		require.Equal(t, utf8.RuneCountInString(strings.ToValidUTF8(text, "\ufffd")), utf8.RuneCountInString(got))
	})
}
