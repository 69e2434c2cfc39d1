package invoice

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Half off for the group of another class makes its units cheaper than list.
func TestNetPrices(t *testing.T) {
	roster := rosterOf(t, "- {id: a}\n- {id: b}\n- {id: x, class: external}\n")
	invoices := under(t, roster, `discounts: [{name: d, class: external, percent: 50}, {name: s, group: b, percent: 100, up_to: 10}]`, nil,
		use(t, 3, "a", "su", "10"), use(t, 3, "b", "su", "30"), use(t, 3, "x", "su", "7"))
	var got []string
	for _, n := range NetPrices(invoices, func(*Line) string { return "" }) {
		price, ok := n.Price()
		require.True(t, ok)
		got = append(got, n.Meter+" "+n.For.String()+" "+n.Class+" "+price.String())
	}
	// Internal groups pay 30 of 40.
	require.Equal(t, []string{"su h2p pitt-crc 2025-07-01 external 0.5", "su h2p pitt-crc 2025-07-01 internal 0.75"}, got)

	free := under(t, roster, `allowances: [{name: f, class: external, meter: su, units: 3}]`, nil, use(t, 3, "a", "su", "10"), use(t, 3, "x", "su", "6"))
	net := NetPrices(free, func(*Line) string { return "" })
	price, _ := net[0].Price()
	require.Equal(t, "0.5", price.String(), "what is free is a price of nothing")
}
