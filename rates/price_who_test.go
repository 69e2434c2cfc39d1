package rates_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
)

func TestSubjectOfPrice(t *testing.T) {
	f := func(price, label string, want rates.PriceSubject, besides, ok bool) {
		t.Helper()
		c, err := rates.LoadCard("c.yaml", []byte("card: c\ncurrency: USD\nversions:\n  - from: 2026-01-01\n    meters: {m: {unit: h, "+price+"}}\n    rules: [{name: r, charge: {m: cpus}}]\n"))
		require.NoError(t, err)
		subject, also, found := c.Versions[0].Meters["m"].SubjectOf(label)
		require.Equal(t, ok, found)
		require.Equal(t, want, subject)
		require.Equal(t, besides, also)
	}
	f(`price: 1`, "", rates.PriceOfUse, false, true)
	f(`price: 1`, "x", rates.PriceOfUse, false, false)
	f(`price: {internal: 1, external: 2}`, "internal", rates.PriceOfClass, false, true)
	f(`price: {internal: 1, "*": 2}`, "other", rates.PriceOfClass, false, true)
	f(`price_by: qos, price: {debug: 1, regular: 2}`, "debug", rates.PriceOfUse, true, true)
	f(`price_by: account, price: {a: 1, "*": 2}`, "other", rates.PriceOfPayer, false, true)
	f(`price_by: group, price: {a: 1, "*": 2}`, "a", rates.PriceOfPayer, false, true)
	f(`price_by: qos, price: {debug: 1}`, "gone", rates.PriceOfUse, false, false)
	list := `price: [{match: {class: internal, gpu_type: h100}, label: H100, price: 2}, {match: {user: u1}, label: friend, price: 0.5}, {label: list, price: 3}]`
	f(list, "H100", rates.PriceOfClass, true, true)
	f(list, "friend", rates.PriceOfPayer, false, true)
	f(list, "list", rates.PriceOfPayer, true, true) // what is left
}
