package invoice

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// The longest parts of a file's name, in bytes.
const (
	longestNameSlug = 60
	longestID       = 60
	idDigestDigits  = 10
)

// FileStem is what the names of a group's files begin with: the group's name
// made plain, and its ID ("r-d-arzte-lab-1--bio_g07"). It is legal on every
// usual file system, the same for the same group, and different for different
// IDs also where case is not told apart.
//
// A plain ID stands as it is; any other is made plain and marked with a digest.
// A name's slug holds no "--" and an ID that does is not plain, so the two can
// always be told apart.
func (r Recipient) FileStem() string {
	id := fileID(r.ID)
	name := strings.TrimRight(cutBytes(slug(r.Name), longestNameSlug), "-")
	if name == "" || name == slug(r.ID) {
		return id
	}
	return name + "--" + id
}

func fileID(id string) string {
	if plainID(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	digest := hex.EncodeToString(sum[:])[:idDigestDigits]
	if s := strings.TrimRight(cutBytes(slug(id), longestID), "-"); s != "" && !device(s) {
		return s + "." + digest
	}
	return "id." + digest
}

// plainID reports whether an ID can be a file's name as it is: small letters,
// digits, '_' and single inner '-', and no device of Windows.
func plainID(id string) bool {
	if id == "" || len(id) > longestID || strings.Contains(id, "--") || id[0] == '-' || id[len(id)-1] == '-' || device(id) {
		return false
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func device(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")) && name[3] >= '0' && name[3] <= '9'
}

// slug keeps the letters and digits of a text, small and without accents, and
// joins its words by '-'.
func slug(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(text) {
		plain := unaccented(r)
		if plain == "" {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteString(plain)
	}
	return b.String()
}

// unaccented gives the plain letters of a small Latin letter, "" for all that
// is neither letter nor digit or has no plain letter.
func unaccented(r rune) string {
	switch {
	case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
		return string(r)
	case r < 0x80:
		return ""
	}
	for _, of := range accented {
		if strings.ContainsRune(of.letters, r) {
			return of.plain
		}
	}
	return ""
}

var accented = [...]struct{ plain, letters string }{
	{"a", "àáâãäåāăą"}, {"ae", "æ"}, {"c", "çćĉċč"}, {"d", "ðďđ"}, {"e", "èéêëēĕėęě"}, {"g", "ĝğġģ"}, {"h", "ĥħ"},
	{"i", "ìíîïĩīĭįı"}, {"j", "ĵ"}, {"k", "ķ"}, {"l", "ĺļľŀł"}, {"n", "ñńņňŋ"}, {"o", "òóôõöøōŏő"}, {"oe", "œ"},
	{"r", "ŕŗř"}, {"s", "śŝşšș"}, {"ss", "ß"}, {"t", "ţťŧț"}, {"th", "þ"}, {"u", "ùúûüũūŭůűų"}, {"w", "ŵ"}, {"y", "ýÿŷ"}, {"z", "źżž"},
}

// cutBytes cuts an ASCII text.
func cutBytes(text string, longest int) string { return text[:min(len(text), longest)] }
