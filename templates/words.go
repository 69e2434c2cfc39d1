package templates

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// DefaultLanguage is used where a group names none.
const DefaultLanguage = "en"

// ErrLanguage is wrapped by the error of In.
var ErrLanguage = errors.New("no words in this language")

// Words are the messages of one language.
type Words struct {
	Language string // the BCP 47 code, as in <html lang>
	text     map[string]string
}

// Languages lists the languages that there are words in, in order.
func Languages() []string {
	names, err := fs.Glob(files, "*.txt")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, ".txt")
	}
	return names
}

// In gives the words of a language, of DefaultLanguage for "". A language
// that there are no words in is an error that wraps ErrLanguage.
func In(language string) (Words, error) {
	if language == "" {
		language = DefaultLanguage
	}
	for _, known := range Languages() {
		if known == language {
			return Words{Language: language, text: parse(Page(language + ".txt"))}, nil
		}
	}
	return Words{}, fmt.Errorf("%w: %q is not one of %s", ErrLanguage, language, strings.Join(Languages(), ", "))
}

// parse reads lines of "key = text"; blank lines and lines that begin with #
// mean nothing.
func parse(file string) map[string]string {
	text := map[string]string{}
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, " =")
		if _, twice := text[key]; !ok || twice {
			panic("BUG: bad or doubled line in the words: " + line)
		}
		text[key] = strings.TrimSpace(value)
	}
	return text
}

// Say gives the message of a key, with {name} replaced by the value that
// follows name in pairs: Say("page", "number", "2").
func (w Words) Say(key string, pairs ...string) string {
	text, ok := w.text[key]
	if !ok {
		panic("BUG: no words for " + key + " in " + w.Language)
	}
	if len(pairs) == 0 {
		return text
	}
	old := make([]string, len(pairs))
	for i, p := range pairs {
		if i%2 == 0 {
			p = "{" + p + "}"
		}
		old[i] = p
	}
	return strings.NewReplacer(old...).Replace(text)
}

// Or gives the message of a key that may be missing, such as the name of a
// meter that a site made up, and otherwise the text given.
func (w Words) Or(key, otherwise string) string {
	if text, ok := w.text[key]; ok {
		return text
	}
	return otherwise
}

// Unit names a unit of the usual meters in the language; others keep their
// name.
func (w Words) Unit(unit string) string { return w.Or("unit."+unit, unit) }

// Number sets a plain decimal ("-1234.50") in the language's manner
// ("−1,234.50" in English, with the sign typographic).
func (w Words) Number(plain string) string {
	sign := ""
	if strings.HasPrefix(plain, "-") {
		sign, plain = "−", plain[1:]
	}
	whole, fraction, point := strings.Cut(plain, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(w.Say("number.group"))
		}
		b.WriteRune(digit)
	}
	if point {
		b.WriteString(w.Say("number.point") + fraction)
	}
	return b.String()
}

// Date sets a day: "31 March 2026".
func (w Words) Date(year, month, day int) string {
	return w.Say("date", "day", strconv.Itoa(day), "month", w.month(month), "year", strconv.Itoa(year))
}

// Month sets a calendar month: "March 2026".
func (w Words) Month(year, month int) string {
	return w.Say("date.month", "month", w.month(month), "year", strconv.Itoa(year))
}

func (w Words) month(month int) string { return w.Say("month." + strconv.Itoa(month)) }
