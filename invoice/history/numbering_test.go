package history

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
)

func TestNumber(t *testing.T) {
	f := func(n Numbering, period string, serial int, want string) {
		t.Helper()
		require.NoError(t, n.Check())
		year, err := n.FiscalYear(period)
		require.NoError(t, err)
		require.Equal(t, want, n.Number(year, serial))
	}
	f(Numbering{Series: "HPC"}, "2026-03", 1, "HPC-2026-00001")
	f(Numbering{Series: "HPC"}, "2026-12", 99999, "HPC-2026-99999")
	f(Numbering{Series: "HPC"}, "2027-01", 100000, "HPC-2027-100000")
	f(Numbering{Series: "HPC", FiscalYearStart: time.July}, "2026-06", 7, "HPC-2026-00007")
	f(Numbering{Series: "HPC", FiscalYearStart: time.July}, "2026-07", 1, "HPC-2027-00001")
	f(Numbering{Series: "R", Format: "{fy}{series}{seq}", FiscalYearStart: time.January}, "2026-07", 12, "2026R12")
	f(Numbering{Series: "R", Format: "{seq:03}.{series}.{fy}"}, "2026-07", 12, "012.R.2026")
}

func TestNumberingRefuses(t *testing.T) {
	f := func(n Numbering, part string) {
		t.Helper()
		require.ErrorContains(t, n.Check(), part)
	}
	f(Numbering{}, `series ""`)
	f(Numbering{Series: "a b"}, `series "a b"`)
	f(Numbering{Series: "a/b"}, `series "a/b"`)
	f(Numbering{Series: "H", Format: "{series}-{seq}"}, "lacks {fy}")
	f(Numbering{Series: "H", Format: "{fy}-{seq}"}, "lacks {series}")
	f(Numbering{Series: "H", Format: "{series}-{fy}"}, "lacks {seq}")
	f(Numbering{Series: "H", Format: "{series}-{fy}-{seq}-{seq}"}, "stands twice")
	f(Numbering{Series: "H", Format: "{series}-{fy}-{seq:5}"}, "{seq:5} is not one of")
	f(Numbering{Series: "H", Format: "{series}-{year}-{seq}"}, "{year} is not one of")
	f(Numbering{Series: "H", Format: "../{series}-{fy}-{seq}"}, "slashes")
	f(Numbering{Series: "H", Format: "{series}-{fy}-{seq}}"}, "braces")
	f(Numbering{Series: "H", FiscalYearStart: 13}, "13 is no month")
}

func TestNumbersSortBySerialAndRestartEachYear(t *testing.T) {
	db, _ := open(t)
	n := Numbering{Series: "H", Format: "{series}{fy}-{seq}"}
	issueWith := func(period string, drafts ...invoice.Invoice) {
		is := issueOf(period, drafts...)
		is.Numbering = n
		_, err := db.Issue(ctx, is)
		require.NoError(t, err)
	}
	var many []invoice.Invoice
	for _, g := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"} {
		many = append(many, draft("2026-11", g, 1))
	}
	issueWith("2026-11", many...)
	issueWith("2026-12", draft("2026-12", "a", 1))
	issueWith("2027-01", draft("2027-01", "a", 1))
	all, err := db.Invoices(ctx, Filter{})
	require.NoError(t, err)
	require.Equal(t, []string{
		"H2026-1", "H2026-2", "H2026-3", "H2026-4", "H2026-5", "H2026-6", "H2026-7", "H2026-8", "H2026-9", "H2026-10",
		"H2026-11", "H2026-12", "H2027-1",
	}, numbers(all))
	one, err := db.Invoices(ctx, Filter{Group: "a", Period: "2026-12"})
	require.NoError(t, err)
	require.Equal(t, []string{"H2026-12"}, numbers(one))

	// A format that would give out an old number again fails clean.
	is := issueOf("2027-02", draft("2027-02", "a", 1))
	is.Numbering = Numbering{Series: "I", Format: "H{fy}-{seq}", FiscalYearStart: 0}
	_, err = db.Issue(ctx, is)
	require.ErrorContains(t, err, "lacks {series}")
	is.Numbering = Numbering{Series: "H2", Format: "{series}{fy}-{seq}"}
	_, err = db.Issue(ctx, is)
	require.NoError(t, err, "H22027-1 is no old number")
	require.NoError(t, db.VerifyChain(ctx))
}
