// Package nearest finds the word that a mistyped one was meant to be.
package nearest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// longestList is how many characters of known words a message lists: the keys
// of any one mapping fit, the groups of a university do not.
const longestList = 300

// shortestBeginning is how many letters a word has to share with the beginning
// of another to be meant by it.
const shortestBeginning = 3

// Remedy is what to do about a word that is not among those known: the one
// that it was most likely meant to be, or else what there is.
func Remedy(wrong string, known []string) string {
	if word, ok := Word(wrong, known); ok {
		return fmt.Sprintf("did you mean %s?", word)
	}
	return OneOf(known)
}

// OneOf lists the known words in their order, and says how many more there
// are where all of them would not be read.
func OneOf(known []string) string {
	if len(known) == 0 {
		return ""
	}
	length := 0
	for i, word := range known {
		if length += utf8.RuneCountInString(word) + len(", "); length > longestList && i > 0 {
			return fmt.Sprintf("one of %s and %d more", strings.Join(known[:i], ", "), len(known)-i)
		}
	}
	return "one of " + strings.Join(known, ", ")
}

// Word gives the known word that a wrong one is most likely meant to be,
// if any is near: at most a third of its letters, and never fewer than one,
// wrong, missing or swapped; or else one of which it has the beginning, or
// which is its own beginning, as max is of maximum.
func Word(wrong string, known []string) (word string, ok bool) {
	w := strings.ToLower(wrong)
	best := max(1, len(w)/3) + 1
	for _, k := range known {
		if d := editDistance(w, strings.ToLower(k)); d < best {
			best, word, ok = d, k, true
		}
	}
	if ok {
		return word, true
	}
	shared := shortestBeginning - 1
	for _, k := range known {
		short, long := w, strings.ToLower(k)
		if len(short) > len(long) {
			short, long = long, short
		}
		if len(short) > shared && strings.HasPrefix(long, short) {
			shared, word, ok = len(short), k, true
		}
	}
	return word, ok
}

// editDistance counts the letters to insert, delete, replace or swap with
// their neighbour to make one word of the other (optimal string alignment).
func editDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
