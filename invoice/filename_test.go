package invoice_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/invoice"
)

func TestFileStem(t *testing.T) {
	f := func(id, name, want string) {
		t.Helper()
		require.Equal(t, want, invoice.Recipient{ID: id, Name: name}.FileStem())
	}
	f("bio_g00", "", "bio_g00")
	f("chem-lab", "Chem Lab", "chem-lab")
	f("g7", `R&D <"Ärzte"> / Lab, 1`, "r-d-arzte-lab-1--g7")
	f("g8", "Straße & Łódź", "strasse-lodz--g8")
	f("g9", "実験室", "g9")
	f("g10", strings.Repeat("abcdefghi ", 7), strings.Repeat("abcdefghi-", 6)[:59]+"--g10")
	// The digests are of sha256sum.
	f("../etc", "", "etc.f7f9121fdb")
	f("Lab", "", "lab.efdcf466b5")
	f("nul", "", "id.99e6242759")
	f("..", "", "id.5ec1f7e700")
}

func TestFileStemIsLegal(t *testing.T) {
	legal := regexp.MustCompile(`^[a-z0-9_][a-z0-9_.-]{0,139}$`)
	rapid.Check(t, func(t *rapid.T) {
		r := invoice.Recipient{ID: rapid.String().Draw(t, "id"), Name: rapid.String().Draw(t, "name")}
		require.Regexp(t, legal, r.FileStem())
		require.NotContains(t, r.FileStem(), "..")
	})
}

func TestFileStemIsUnique(t *testing.T) {
	parts := rapid.StringMatching(`[aA_.-]{1,3}(--)?[b-]{0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		a := invoice.Recipient{ID: parts.Draw(t, "id"), Name: parts.Draw(t, "name")}
		b := invoice.Recipient{ID: parts.Draw(t, "other id"), Name: parts.Draw(t, "other name")}
		if a.ID != b.ID {
			require.NotEqual(t, a.FileStem(), b.FileStem())
		}
	})
}
