package main

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

// What billed an issued period is read as it was, though somebody who wrote it
// today would be told of a fault.
func TestIssuedInputsAreReadAsTheyWere(t *testing.T) {
	texts := map[string]string{
		"hpcbill.yaml": "organisation: {name: A}\ncurrency: USD\ntimezone: UTC\nfirst_period: 2026-01\nclusters: {lab: {card: card.yaml}}\nsources: [{files: \"*.txt\", cluster: lab}]\n",
		"card.yaml":    "card: a\ncurrency: USD\nversions:\n- from: 2026-01-01\n  meters: {h: {unit: core-hour, price: 1}}\n  rules: [{name: all, charge: {h: cpus}}]\n",
		"groups.yaml":  "groups:\n- {id: chem, jobs: [{account: chem}], allocations: [{name: grant, meter: core_hours, units: 10, from: 2026-01-01, until: 2027-01-01, overdraft: bill}]}\n",
	}
	site := siteTexts{
		read: func(name string) ([]byte, error) {
			if text, there := texts[name]; there {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
		match: func(string) ([]string, error) { return nil, nil },
	}
	_, err := readInputs(site)
	require.ErrorContains(t, err, `groups.yaml:2: allocations.meter: no card has a meter "core_hours"`)
	site.issued = true
	in, err := readInputs(site)
	require.NoError(t, err)
	require.True(t, in.settings().Issued)
	require.Equal(t, "core_hours", in.roster.Groups[0].Allocations[0].Meter)
}
