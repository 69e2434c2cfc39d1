package ingest

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escapeEnd returns where the escape at i ends.
func (s *scanner) escapeEnd(i int) int {
	if i+1 >= len(s.text) {
		return s.ends()
	}
	switch s.text[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if k >= len(s.text) || hexDigit(s.text[k]) < 0 {
				return s.badOrEnds(k, "stands where a hexadecimal digit is due")
			}
		}
		return i + 6
	}
	return s.bad(i+1, "stands behind a backslash")
}

func hexDigit(c byte) rune {
	switch {
	case c-'0' < 10:
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

// unescape resolves the escapes of a text whose form has been checked.
func unescape(text string) string {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b = append(b, text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r := hexRune(text[i+1:])
			i += 4
			if utf16.IsSurrogate(r) && strings.HasPrefix(text[i+1:], `\u`) {
				if pair := utf16.DecodeRune(r, hexRune(text[i+3:])); pair != utf8.RuneError {
					r, i = pair, i+6
				}
			}
			b = appendRune(b, r)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

func hexRune(text string) (r rune) {
	for k := range 4 {
		r = r<<4 | hexDigit(text[k])
	}
	return r
}

// appendRune appends r as UTF-8, and half of a surrogate pair in the same way,
// which is no UTF-8 then.
func appendRune(b []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
	}
	return utf8.AppendRune(b, r)
}
