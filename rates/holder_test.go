package rates

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHolderSpans(t *testing.T) {
	roster := &Roster{Groups: []*Group{{ID: "bio"}, {ID: "chem"}}}
	day := func(text string) Date {
		if text == "" {
			return Date{}
		}
		d, err := ParseDate(text)
		require.NoError(t, err)
		return d
	}
	rule := func(names, filesystems, group, ignore, from, until string) HolderRule {
		return HolderRule{strings.Fields(names), strings.Fields(filesystems), group, ignore, day(from), day(until), 1}
	}
	rules := []HolderRule{
		rule("root #0", "", "", "the system's own", "", ""),
		rule("p_*", "/scratch*", "", "scratch is free", "2026-02-01", ""),
		rule("p_1", "", "chem", "", "", "2026-01-15"),
		rule("p_1 p_2", "", "bio", "", "", ""),
		rule("chem", "", "bio", "", "2026-01-01", "2026-02-01"),
	}
	f := func(kind, name, filesystem, want string) {
		t.Helper()
		var got []string
		for _, s := range HolderSpans(rules, roster, kind, name, filesystem) {
			got = append(got, strings.TrimSpace(s.From.String()+" "+s.Group+s.Ignore))
		}
		require.Equal(t, want, strings.Join(got, ", "))
	}
	f("project", "root", "/d", "the system's own")
	f("project", "p_1", "/d", "chem, 2026-01-15 bio")
	f("project", "p_1", "/scratch", "chem, 2026-01-15 bio, 2026-02-01 scratch is free")
	f("project", "p_3", "/d", "")
	// The ID of a group stands for it, where no rule says otherwise.
	f("project", "bio", "/d", "bio")
	f("user", "bio", "/d", "")
	f("group", "chem", "/d", "chem, 2026-01-01 bio, 2026-02-01 chem")
}
