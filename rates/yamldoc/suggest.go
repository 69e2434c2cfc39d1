package yamldoc

import (
	"fmt"
	"strings"
)

// Suggest names the known word that is nearest to a wrong one, or lists them
// all where none is near.
func Suggest(wrong string, known []string) string {
	best, distance := "", len(wrong)/2+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(wrong), k); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return "one of " + strings.Join(known, ", ")
	}
	return fmt.Sprintf("did you mean %s?", best)
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
