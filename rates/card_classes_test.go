package rates_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
)

// A class that no row of a price table names is found before it holds a month.
func TestUnpricedClasses(t *testing.T) {
	c, err := rates.LoadCard("c.yaml", []byte(`card: c
currency: EUR
versions:
  - from: 2025-01-01
    meters:
      su: {unit: SU, price: {internal: "0.01", extrenal: "0.02"}}
      gpu: {unit: GPU-hour, price: {internal: "1", "*": "2"}}
      qos: {unit: h, price_by: qos, price: {high: 1}}
    rules: [{name: all, charge: {su: cpus, gpu: gpus, qos: 1}}]
`))
	require.NoError(t, err)
	require.Empty(t, c.UnpricedClasses([]string{"internal"}))
	found := c.UnpricedClasses([]string{"external", "industry", "internal"})
	require.Len(t, found, 2)
	require.Equal(t, "c.yaml:6:7: meters.su: has no price for the class external, which groups have: what they are charged of it is held", found[0].Error())
	require.Equal(t, "it has one for extrenal: write external, if that is meant", found[0].Hint())
	require.Equal(t, `add a row  industry: …  or  "*": …`, found[1].Hint())

	// "internal" mistyped beside a row for the rest is nobody's price.
	c, err = rates.LoadCard("c.yaml", []byte(`card: c
currency: EUR
versions:
  - from: 2025-01-01
    meters: {su: {unit: SU, price: {Internal: "0.01", partner: "0.02", "*": "0.05"}}}
    rules: [{name: all, charge: {su: cpus}}]
`))
	require.NoError(t, err)
	found = c.UnpricedClasses([]string{"external", "internal"})
	require.Len(t, found, 1)
	require.Equal(t, "c.yaml:5:37: meters.su.price.Internal: no group has the class Internal, and internal has no row", found[0].Error())
	require.Equal(t, "did you mean internal?", found[0].Hint())

	// So is a group's, beside the groups that are of the class.
	c, err = rates.LoadCard("c.yaml", []byte(`card: c
currency: EUR
versions:
  - from: 2025-01-01
    meters: {su: {unit: SU, price: {internal: "0.01", "part*": "0.02", "*": "0.05"}}}
    rules: [{name: all, charge: {su: cpus}}]
`))
	require.NoError(t, err)
	require.Empty(t, c.UnpricedClasses([]string{"external", "industry", "internal", "partner", "partners"}))
	found = c.UnpricedClasses([]string{"internal", "internl"})
	require.Len(t, found, 1)
	require.Equal(t, `c.yaml:5:14: meters.su: groups have the class internl, which has no row and pays what "*" says`, found[0].Error())
	require.Equal(t, "did you mean internal?", found[0].Hint())
}
