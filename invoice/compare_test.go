package invoice

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

func TestCompareFindsNothing(t *testing.T) {
	before, after := printed(t), printed(t)
	after.Number, after.Issued, after.Period = "", "", "2026-04"
	after.Lines[0].CardDigest, after.Lines[0].Description = "d2", "in other words"
	require.Empty(t, Compare([]Invoice{before}, []Invoice{after}))
	require.Empty(t, Compare(nil, nil))
}

func TestCompareByGroup(t *testing.T) {
	a, b, c := printed(t), printed(t), printed(t)
	a.Group.ID, b.Group.ID, c.Group.ID = "a", "b", "c"
	b2 := printed(t)
	b2.Group.ID, b2.Total, b2.Jobs = "b", 7, 2
	changes := Compare([]Invoice{a, b}, []Invoice{b2, c})
	require.Len(t, changes, 3)
	require.Equal(t, "a", changes[0].Group)
	require.Nil(t, changes[0].After)
	require.Equal(t, money.Amount(-5), changes[0].Delta())
	require.Len(t, changes[0].Lines, 2)
	require.Equal(t, []string{"jobs"}, changes[1].Other)
	require.Equal(t, money.Amount(2), changes[1].Delta())
	require.Nil(t, changes[2].Before)
	require.Equal(t, "Biology", changes[2].Name)
}

func TestCompareOther(t *testing.T) {
	f := func(name string, change func(*Invoice)) {
		t.Helper()
		before, after := printed(t), printed(t)
		change(&after)
		changes := Compare([]Invoice{before}, []Invoice{after})
		require.Len(t, changes, 1)
		require.Equal(t, []string{name}, changes[0].Other)
	}
	f("issuer", func(inv *Invoice) { inv.Issuer.Footer = "x" })
	f("recipient", func(inv *Invoice) { inv.Group.Contacts = inv.Group.Contacts[:1] })
	f("recipient", func(inv *Invoice) { inv.Group.Fund = "123" })
	f("zone", func(inv *Invoice) { inv.Zone = "UTC" })
	f("currency", func(inv *Invoice) { inv.Currency.Code = "EUR" })
	f("rounding", func(inv *Invoice) { inv.Rounding = money.HalfEven })
	f("balances", func(inv *Invoice) { inv.Balances[0].Until = rates.Date{Year: 2026, Month: 7, Day: 1} })
}

func TestCompareLines(t *testing.T) {
	line := func(cluster, price, quantity string) Line {
		return Line{Kind: Usage, Cluster: cluster, Meter: "su", Price: exact(t, price), Quantity: exact(t, quantity)}
	}
	f := func(before, after []Line, want ...string) {
		t.Helper()
		var got []string
		text := func(l *Line) string {
			if l == nil {
				return "-"
			}
			return l.Cluster + "@" + l.Price.String() + "×" + l.Quantity.String()
		}
		for _, c := range compareLines(before, after) {
			got = append(got, text(c.Before)+" → "+text(c.After))
		}
		require.Equal(t, want, got)
	}
	a, b := line("a", "1", "10"), line("b", "2", "20")
	f([]Line{a, b}, []Line{b, a})
	f([]Line{a}, []Line{a, b}, "- → b@2×20")
	f([]Line{a, b}, []Line{a}, "b@2×20 → -")
	f([]Line{a}, []Line{line("a", "1", "11")}, "a@1×10 → a@1×11")
	f([]Line{a}, []Line{line("a", "3", "10")}, "a@1×10 → a@3×10")
	// The line at the same price is the same line; the other one is new.
	f([]Line{a}, []Line{line("a", "3", "5"), line("a", "1", "10")}, "- → a@3×5")
	f([]Line{line("a", "1", "10"), line("a", "2", "5")}, []Line{line("a", "2", "6"), line("a", "3", "1")},
		"a@2×5 → a@2×6", "a@1×10 → a@3×1")
}
