package invoice_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

func TestPricesPaid(t *testing.T) {
	line := func(cluster, label, price, quantity string) invoice.Line {
		p, err := money.ParseDecimal(price)
		require.NoError(t, err)
		q, err := money.ParseDecimal(quantity)
		require.NoError(t, err)
		return invoice.Line{
			Kind: invoice.Usage, Cluster: cluster, Meter: "core_hours", Unit: "core-hour", PriceLabel: label,
			Price: p, Quantity: q, Exact: p.Mul(q), Card: "card", Version: rates.Date{Year: 2025, Month: 1, Day: 1},
		}
	}
	group := func(id, class string, lines ...invoice.Line) invoice.Invoice {
		return invoice.Invoice{Group: invoice.Recipient{ID: id, Class: class}, Lines: lines}
	}
	label := func(l *invoice.Line) string { return l.PriceLabel }
	f := func(prices, discriminates bool, want []int, invoices ...invoice.Invoice) {
		t.Helper()
		all := invoice.PricesPaid(invoices, label)
		var counts []int
		one, bad := true, false
		for i := range all {
			counts = append(counts, len(all[i].Prices))
			one, bad = one && all[i].One(), bad || all[i].Discriminates()
		}
		require.Equal(t, want, counts)
		require.Equal(t, prices, one)
		require.Equal(t, discriminates, bad)
	}
	f(true, false, nil)
	f(true, false, []int{1}, group("a", "internal", line("c1", "", "0.02", "4")), group("b", "internal", line("c1", "", "0.020", "8")))
	// Two classes are looked at apart.
	f(true, false, []int{1, 1}, group("a", "internal", line("c1", "internal", "0.02", "4")), group("b", "external", line("c1", "external", "0.05", "8")))
	// The price depends on the QoS, for all alike.
	f(false, false, []int{2}, group("a", "internal", line("c1", "debug", "0.02", "4"), line("c1", "regular", "0.03", "4")), group("b", "internal", line("c1", "regular", "0.03", "8")))
	// The same line of the schedule at two prices.
	f(false, true, []int{2}, group("a", "internal", line("c1", "", "0.02", "4")), group("b", "internal", line("c1", "", "0.03", "8")))
	// What was not used was not paid.
	f(true, false, []int{1}, group("a", "internal", line("c1", "", "0.02", "4")), group("b", "internal", line("c1", "", "0.03", "0")))

	all := invoice.PricesPaid([]invoice.Invoice{
		group("b", "internal", line("c2", "", "0.03", "1")), group("a", "internal", line("c1", "", "0.02", "1"), line("c2", "", "0.03", "1")),
	}, label)
	require.Equal(t, []string{"a"}, all[0].Prices[0].Groups)
	require.Equal(t, []string{"a", "b"}, all[0].Prices[1].Groups)
	require.Equal(t, "c2 card 2025-01-01", all[0].Prices[1].For[0].String())
	require.False(t, all[0].Prices[0].Formula)

	rounded := line("c1", "", "0.02", "0.3")
	rounded.Exact = money.Ratio(1, 100)
	require.True(t, invoice.PricesPaid([]invoice.Invoice{group("a", "internal", rounded)}, label)[0].Prices[0].Formula)
}
