package history

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

var (
	ctx = context.Background()
	usd = money.Currency{Code: "USD", Digits: 2}
	may = time.Date(2026, 5, 1, 6, 30, 0, 0, time.UTC)
)

// open makes a history in a temporary folder.
func open(t testing.TB) (*DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.db")
	db, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, path
}

// draft is an invoice of one line: units of SU at 0.012.
func draft(period, group string, units int64) invoice.Invoice {
	price := money.Ratio(12, 1000)
	exact := money.Int(units).Mul(price)
	amount, _ := usd.Amount(exact, money.HalfUp)
	return invoice.Invoice{
		Period: period, Zone: "UTC", Issuer: invoice.Party{Name: "Centre"}, Currency: usd, Rounding: money.HalfUp,
		Group: invoice.Recipient{ID: group, Name: "Group " + group, Class: "internal", Fund: "00123", Contacts: []string{group + "@example.org"}},
		Lines: []invoice.Line{{
			Position: 1, Kind: invoice.Usage, Cluster: "h2p", Meter: "su", Unit: "SU", Description: "some jobs",
			Quantity: money.Int(units), Price: price, Exact: exact, Amount: amount, Jobs: 3,
			Card: "pitt-crc", CardDigest: "c0ffee", Version: rates.Date{Year: 2025, Month: 7, Day: 1},
		}},
		List: amount, Total: amount, Jobs: 3,
	}
}

// prepaid adds a balance to a draft whose one line it covers.
func prepaid(inv invoice.Invoice, opening int64) invoice.Invoice {
	l := inv.Lines[0]
	l.Position, l.Kind, l.Of, l.Code, l.Reason = 2, invoice.Prepaid, 1, invoice.CodePrepaid, "FY26"
	l.Quantity, l.Exact, l.Amount = l.Quantity.Neg(), l.Exact.Neg(), -l.Amount
	inv.Lines = append(inv.Lines, l)
	inv.Reductions, inv.Total = l.Amount, 0
	drawn := l.Quantity.Neg()
	inv.Balances = []invoice.Balance{{
		Allocation: "FY26", Meter: "su", Unit: "SU", Units: money.Int(1000), From: rates.Date{Year: 2025, Month: 7, Day: 1},
		Until: rates.Date{Year: 2026, Month: 7, Day: 1}, Opening: money.Int(opening), Drawn: drawn, Left: money.Int(opening).Sub(drawn),
	}}
	return inv
}

// issueOf is an issue of the drafts as the command would ask for it.
func issueOf(period string, drafts ...invoice.Invoice) Issue {
	s := invoice.Summary{Period: period, Currency: usd, Invoices: len(drafts)}
	for _, inv := range drafts {
		s.List, s.Reductions, s.Total = s.List+inv.List, s.Reductions+inv.Reductions, s.Total+inv.Total
		s.Charges = s.Charges.Add(inv.Lines[0].Exact)
	}
	return Issue{
		Period: period, Invoices: drafts,
		Evidence: Evidence{
			Program: "hpcbill test", Summary: s,
			Texts: []Text{{Kind: "card", Name: "rates/pitt.yaml", Body: []byte("card: pitt-crc\n")}, {Kind: "roster", Name: "groups.yaml", Body: []byte("groups: []\n")}},
		},
		Numbering: Numbering{Series: "HPC"}, At: may, Actor: "tester",
	}
}

func issue(t testing.TB, db *DB, period string, drafts ...invoice.Invoice) []invoice.Invoice {
	t.Helper()
	issued, err := db.Issue(ctx, issueOf(period, drafts...))
	require.NoError(t, err)
	require.NoError(t, db.VerifyChain(ctx))
	return issued
}

func numbers(invoices []invoice.Invoice) []string {
	var all []string
	for _, inv := range invoices {
		all = append(all, inv.Number)
	}
	return all
}

func TestIssueNumbersAndKeeps(t *testing.T) {
	db, path := open(t)
	issued := issue(t, db, "2026-03", draft("2026-03", "bio", 100), draft("2026-03", "chem", 250))
	require.Equal(t, []string{"HPC-2026-00001", "HPC-2026-00002"}, numbers(issued))
	require.Equal(t, "2026-05-01T06:30:00Z", issued[0].Issued)
	issue(t, db, "2026-04", draft("2026-04", "bio", 7))

	reader, err := OpenReadOnly(path)
	require.NoError(t, err)
	defer reader.Close()
	all, err := reader.Invoices(ctx, Filter{})
	require.NoError(t, err)
	require.Equal(t, []string{"HPC-2026-00001", "HPC-2026-00002", "HPC-2026-00003"}, numbers(all))
	one, err := reader.Invoice(ctx, "HPC-2026-00002")
	require.NoError(t, err)
	require.Equal(t, issued[1].Digest(), one.Digest())
	require.Equal(t, "00123", one.Group.Fund)
	_, err = reader.Invoice(ctx, "HPC-2026-00009")
	require.ErrorIs(t, err, ErrNotFound)

	p, err := reader.Period(ctx, "2026-03")
	require.NoError(t, err)
	require.Equal(t, Issued, p.State)
	require.Equal(t, int64(2), p.Invoices)
	require.Equal(t, money.Amount(420), p.Total)
	require.Equal(t, "USD", p.Currency)
	require.NotEmpty(t, p.Hash)
	open, err := reader.Period(ctx, "2026-05")
	require.NoError(t, err)
	require.Equal(t, Period{Period: "2026-05", State: Untouched}, open)

	ev, err := reader.Evidence(ctx, "2026-03")
	require.NoError(t, err)
	require.Equal(t, "hpcbill test", ev.Program)
	require.Equal(t, "card: pitt-crc\n", string(ev.Texts[0].Body))
	require.Equal(t, money.Amount(420), ev.Summary.Total)

	texts, err := reader.IssuedTexts(ctx, "2026-03", "card")
	require.NoError(t, err)
	require.Equal(t, ev.Texts[:1], texts)
	for _, none := range [][2]string{{"2026-03", "outages"}, {"2026-05", "card"}} {
		texts, err = reader.IssuedTexts(ctx, none[0], none[1])
		require.NoError(t, err)
		require.Empty(t, texts)
	}
}

func TestIssueAgainGivesTheFirst(t *testing.T) {
	db, _ := open(t)
	first := issue(t, db, "2026-03", draft("2026-03", "bio", 100))
	before, _, err := db.Head(ctx)
	require.NoError(t, err)

	again := issueOf("2026-03", draft("2026-03", "bio", 100))
	again.At, again.Actor = may.AddDate(0, 1, 0), "somebody else"
	again.Invoices[0].Lines[0].CardDigest = "the card gained a version"
	second, err := db.Issue(ctx, again)
	require.NoError(t, err)
	require.Equal(t, first[0].Digest(), second[0].Digest())
	after, _, err := db.Head(ctx)
	require.NoError(t, err)
	require.Equal(t, before, after, "nothing was added")

	_, err = db.Issue(ctx, issueOf("2026-03", draft("2026-03", "bio", 101)))
	var differs *DiffersError
	require.ErrorAs(t, err, &differs)
	require.Contains(t, err.Error(), "bio: 1.20 to 1.21 USD")
	_, err = db.Issue(ctx, issueOf("2026-03"))
	require.ErrorAs(t, err, &differs)
	require.Contains(t, err.Error(), "bio: 1.20 to nothing USD")
}

func TestIssueInOrder(t *testing.T) {
	db, _ := open(t)
	march := issueOf("2026-03", draft("2026-03", "bio", 1))
	march.Earlier = []string{"2026-01", "2026-02"}
	_, err := db.Issue(ctx, march)
	var order *OrderError
	require.ErrorAs(t, err, &order)
	require.Equal(t, "2026-01", order.Missing)

	issue(t, db, "2026-01") // nothing due is issued too
	issue(t, db, "2026-02", draft("2026-02", "bio", 1))
	_, err = db.Issue(ctx, march)
	require.NoError(t, err)

	_, err = db.Issue(ctx, issueOf("2025-12", draft("2025-12", "bio", 1)))
	require.ErrorAs(t, err, &order)
	require.Equal(t, "2026-01", order.Later)
}

func TestIssueRefusesHeld(t *testing.T) {
	db, _ := open(t)
	is := issueOf("2026-03", draft("2026-03", "bio", 1))
	is.Evidence.Summary.Jobs = invoice.JobCounts{Read: 2, Held: 2}
	_, err := db.Issue(ctx, is)
	var held *HeldError
	require.ErrorAs(t, err, &held)
	require.Equal(t, int64(2), held.Held)

	is.AcceptedHeld = "test accounts"
	_, err = db.Issue(ctx, is)
	require.NoError(t, err)
	ev, err := db.Evidence(ctx, "2026-03")
	require.NoError(t, err)
	require.Equal(t, "test accounts", ev.AcceptedHeld)
}

func TestLedgerReplays(t *testing.T) {
	db, _ := open(t)
	issue(t, db, "2026-01", prepaid(draft("2026-01", "bio", 600), 1000))
	_, err := db.Issue(ctx, issueOf("2026-02", prepaid(draft("2026-02", "bio", 300), 1000)))
	var stale *StaleError
	require.ErrorAs(t, err, &stale)
	require.Equal(t, "400", stale.Ledger.String())

	issue(t, db, "2026-02", prepaid(draft("2026-02", "bio", 300), 400))
	ledger, err := db.Ledger(ctx, "2026-02")
	require.NoError(t, err)
	require.Len(t, ledger, 1)
	require.Equal(t, "600", ledger[0].Units.String())
	all, err := db.Ledger(ctx, "")
	require.NoError(t, err)
	require.Len(t, all, 2)
}

func TestDrafts(t *testing.T) {
	db, _ := open(t)
	_, err := db.LastDraft(ctx, "2026-03")
	require.ErrorIs(t, err, ErrNotFound)
	is := issueOf("2026-03", draft("2026-03", "bio", 100))
	d := Draft{Period: is.Period, Invoices: is.Invoices, Evidence: is.Evidence, At: may, Actor: "tester"}
	saved, err := db.SaveDraft(ctx, d)
	require.NoError(t, err)
	require.True(t, saved)
	saved, err = db.SaveDraft(ctx, d)
	require.NoError(t, err)
	require.False(t, saved, "the same draft is kept once")

	is = issueOf("2026-03", draft("2026-03", "bio", 200))
	saved, err = db.SaveDraft(ctx, Draft{Period: is.Period, Invoices: is.Invoices, Evidence: is.Evidence, At: may, Actor: "tester"})
	require.NoError(t, err)
	require.True(t, saved)
	last, err := db.LastDraft(ctx, "2026-03")
	require.NoError(t, err)
	require.Equal(t, "200", last.Invoices[0].Lines[0].Quantity.String())
	p, err := db.Period(ctx, "2026-03")
	require.NoError(t, err)
	require.Equal(t, Drafted, p.State)

	issue(t, db, "2026-03", is.Invoices...)
	saved, err = db.SaveDraft(ctx, Draft{Period: is.Period, Invoices: is.Invoices, Evidence: is.Evidence, At: may, Actor: "tester"})
	require.NoError(t, err)
	require.False(t, saved)
	_, err = db.SaveDraft(ctx, d)
	var differs *DiffersError
	require.ErrorAs(t, err, &differs)
}

func TestIngests(t *testing.T) {
	db, _ := open(t)
	in := Ingest{
		ID: "i1", At: may, Cluster: "h2p", File: "march.txt.gz", Digest: "abc", Bytes: 10,
		Records: 10, Steps: 4, New: 3, Revised: 1, Unchanged: 1, Quarantined: 1, FirstEnd: may.AddDate(0, -2, 0), LastEnd: may,
	}
	require.NoError(t, db.RecordIngest(ctx, in, "tester", "v1"))
	require.NoError(t, db.RecordIngest(ctx, in, "tester", "v1"))
	other := in
	other.New = 4
	require.Error(t, db.RecordIngest(ctx, other, "tester", "v1"))
	all, err := db.Ingests(ctx)
	require.NoError(t, err)
	require.Equal(t, []Ingest{in}, all)

	is := issueOf("2026-03", draft("2026-03", "bio", 1))
	is.Evidence.Ingests = []string{"i2"}
	_, err = db.Issue(ctx, is)
	require.ErrorContains(t, err, "i2")
	is.Evidence.Ingests = []string{"i1"}
	_, err = db.Issue(ctx, is)
	require.NoError(t, err)
	ev, err := db.Evidence(ctx, "2026-03")
	require.NoError(t, err)
	require.Equal(t, []Ingest{in}, ev.Sources)
	require.NoError(t, db.VerifyChain(ctx))
}

func TestDocuments(t *testing.T) {
	db, _ := open(t)
	docs := []Document{{Number: "HPC-2026-00001", Name: "bio.html", Digest: "d1", Bytes: 12}, {Name: "all.csv", Digest: "d2", Bytes: 3}}
	require.ErrorIs(t, db.RecordDocuments(ctx, "2026-03", docs, may, "tester", "v1"), ErrNotFound)
	issue(t, db, "2026-03", draft("2026-03", "bio", 1))
	require.NoError(t, db.RecordDocuments(ctx, "2026-03", docs, may, "tester", "v1"))
	before, _, err := db.Head(ctx)
	require.NoError(t, err)
	require.NoError(t, db.RecordDocuments(ctx, "2026-03", docs, may, "tester", "v1"))
	after, _, err := db.Head(ctx)
	require.NoError(t, err)
	require.Equal(t, before, after)
	docs[1].Digest = "d3"
	require.NoError(t, db.RecordDocuments(ctx, "2026-03", docs, may, "tester", "v1"))
	kept, err := db.Documents(ctx, "2026-03")
	require.NoError(t, err)
	require.Equal(t, []Document{docs[1], docs[0]}, kept)
	require.NoError(t, db.VerifyChain(ctx))
}
