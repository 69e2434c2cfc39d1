package rates

import _ "embed"

//go:embed cards.md
var guide string

// Guide is the documentation of rate cards, for the people who write them:
// Markdown in lines of at most 100 characters.
func Guide() []byte { return []byte(guide) }
