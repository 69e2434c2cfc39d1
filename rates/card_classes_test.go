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

// A class, a group or a cluster that the site does not have is never asked for
// in vain without a word.
func TestStrangers(t *testing.T) {
	known := rates.Known{Classes: []string{"internal", "partner"}, Groups: []string{"chem", "physics"}, Clusters: []string{"h2p"}}
	f := func(version string, want ...string) {
		t.Helper()
		c, err := rates.LoadCard("c.yaml", []byte("card: c\ncurrency: EUR\nversions:\n  - from: 2025-01-01\n    meters: {su: {unit: SU, price: 1}, tb: {unit: TB, price: 1}}\n"+version))
		require.NoError(t, err)
		var found []string
		for _, fault := range c.Strangers(known) {
			found = append(found, fault.Error()+" | "+fault.Hint())
		}
		require.Equal(t, want, found)
	}
	all := "    rules: [{name: all, charge: {su: cpus}}]\n"
	f(all)
	f("    factor: {class: {externl: 3}}\n"+all, "c.yaml:6:22: class: no group has the class externl | did you mean external?")
	f("    factor: {class: {external: 3, industry: 4, \"part*\": 2}}\n" + all)
	f("    rules: [{name: a, match: {class: [\"!intern\", partnr]}, charge: {su: 2}}, {name: all, charge: {su: cpus}}]\n",
		"c.yaml:6:39: class: no group has the class intern | did you mean internal?", "c.yaml:6:50: class: no group has the class partnr | did you mean partner?")
	f("    rules: [{name: a, match: {group: chm}, exclude: theirs}, {name: all, charge: {su: {rate: cpus, factor: {group: {\"bio*\": 2}}}}}]\n",
		"c.yaml:6:38: group: no group is called chm | did you mean chem?", "c.yaml:6:117: group: no group is called bio* | one of chem, physics")
	f("    hardware: {n: {match: {cluster: h2}, cores: 2}, m: {match: {cluster: other}, cores: 2}}\n"+all, "c.yaml:6:37: cluster: no cluster of this card is called h2 | did you mean h2p?")
	f("    storage: [{name: s, match: {group: fysics}, charge: {tb: quota_tb}}]\n", "c.yaml:6:40: group: no group is called fysics | did you mean physics?")
	f("    limits: [{match: {cluster: h2pp}, gpus_per_job: 4}]\n"+all, "c.yaml:6:32: cluster: no cluster of this card is called h2pp | did you mean h2p?")
}
