//go:build race

package history

// underRace thins out the slowest tests: SQLite in Go runs some thirty times
// slower under the race detector.
const underRace = true
