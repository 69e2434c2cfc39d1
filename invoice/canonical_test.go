package invoice

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// printed is an invoice with every field set.
func printed(t testing.TB) Invoice {
	t.Helper()
	return Invoice{
		Number: "HPC-2026-00001", Issued: "2026-04-02T06:30:00Z", Period: "2026-03", Zone: "Europe/Berlin",
		Issuer: Party{Name: "Centre", Address: "1 Road\nTown", Email: "bill@example.org", TaxID: "DE1", Footer: "Danke, ñ"},
		Group: Recipient{
			ID: "bio_g00", Name: "Biology", PI: "P. I.", Department: "Life", Class: "internal", Address: "2 Road",
			PO: "PO-7", Fund: "00123", Language: "es", Contacts: []string{"a@example.org", "b@example.org"},
		},
		Currency: usd, Rounding: money.HalfUp,
		Lines: []Line{
			{
				Position: 1, Kind: Usage, Cluster: "h2p", Meter: "su", Unit: "SU", Description: "1 job", PriceLabel: "gpu",
				Quantity: exact(t, "80047/1800"), Price: exact(t, "0.012"), Exact: exact(t, "80047/150000"), Amount: 53, Jobs: 1,
				Card: "pitt-crc", CardDigest: "d1", Version: rates.Date{Year: 2025, Month: 7, Day: 1},
			},
			{
				Position: 2, Kind: Prepaid, Cluster: "h2p", Meter: "su", Unit: "SU", Description: "drawn", PriceLabel: "gpu",
				Quantity: exact(t, "-40"), Price: exact(t, "0.012"), Exact: exact(t, "-0.48"), Amount: -48,
				Code: CodePrepaid, Reason: "FY26", Of: 1, Card: "pitt-crc", CardDigest: "d1", Version: rates.Date{Year: 2025, Month: 7, Day: 1},
			},
		},
		List: 53, Reductions: -48, Total: 5, Jobs: 1,
		Balances: []Balance{{
			Allocation: "FY26", Meter: "su", Unit: "SU", Units: exact(t, "100"), From: rates.Date{Year: 2025, Month: 7, Day: 1},
			Overdraft: rates.OverdraftWaive, Opening: exact(t, "40"), Drawn: exact(t, "40"), Beyond: exact(t, "8047/1800"),
		}},
	}
}

// golden is written out by hand from the format's description.
const golden = `hpcbill invoice=1:1
number=14:HPC-2026-00001
issued=20:2026-04-02T06:30:00Z
period=7:2026-03
zone=13:Europe/Berlin
issuer.name=6:Centre
issuer.address=11:1 Road
Town
issuer.email=16:bill@example.org
issuer.tax_id=3:DE1
issuer.footer=9:Danke, ñ
group.id=7:bio_g00
group.name=7:Biology
group.pi=5:P. I.
group.department=4:Life
group.class=8:internal
group.address=6:2 Road
group.po=4:PO-7
group.fund=5:00123
group.language=2:es
group.contacts=1:2
group.contact=13:a@example.org
group.contact=13:b@example.org
currency=3:USD
currency.digits=1:2
rounding=7:half_up
lines=1:2
line.position=1:1
line.kind=5:usage
line.cluster=3:h2p
line.meter=2:su
line.unit=2:SU
line.description=5:1 job
line.price_label=3:gpu
line.quantity=10:80047/1800
line.price=5:0.012
line.exact=12:80047/150000
line.amount=2:53
line.jobs=1:1
line.code=0:
line.reason=0:
line.of=1:0
line.card=8:pitt-crc
line.card_digest=2:d1
line.version=10:2025-07-01
line.position=1:2
line.kind=7:prepaid
line.cluster=3:h2p
line.meter=2:su
line.unit=2:SU
line.description=5:drawn
line.price_label=3:gpu
line.quantity=3:-40
line.price=5:0.012
line.exact=5:-0.48
line.amount=3:-48
line.jobs=1:0
line.code=7:prepaid
line.reason=4:FY26
line.of=1:1
line.card=8:pitt-crc
line.card_digest=2:d1
line.version=10:2025-07-01
list=2:53
reductions=3:-48
total=1:5
balances=1:1
balance.allocation=4:FY26
balance.meter=2:su
balance.unit=2:SU
balance.units=3:100
balance.from=10:2025-07-01
balance.until=0:
balance.overdraft=5:waive
balance.opening=2:40
balance.drawn=2:40
balance.left=1:0
balance.beyond=9:8047/1800
jobs=1:1
`

func TestCanonicalText(t *testing.T) {
	inv := printed(t)
	require.Equal(t, golden, string(inv.Canonical()))
	sum := sha256.Sum256([]byte(golden))
	require.Equal(t, hex.EncodeToString(sum[:]), inv.Digest())
	require.NoError(t, inv.Check())
}

func TestContentDigest(t *testing.T) {
	inv := printed(t)
	content := inv.ContentDigest()
	inv.Number, inv.Issued, inv.Lines[0].CardDigest = "", "", "another edition of the file"
	require.Equal(t, content, inv.ContentDigest())
	inv.Lines[0].Version.Day++
	require.NotEqual(t, content, inv.ContentDigest())
}

func TestJSONKeepsEverything(t *testing.T) {
	inv := printed(t)
	body, err := json.Marshal(inv)
	require.NoError(t, err)
	var back Invoice
	require.NoError(t, json.Unmarshal(body, &back))
	require.Equal(t, golden, string(back.Canonical()))
	require.Contains(t, string(body), `"amount":"0.53"`)
	require.Contains(t, string(body), `"quantity":"80047/1800"`)
	require.Contains(t, string(body), `"fund":"00123"`)

	// Nothing that is marshalled is left out of the digest, and the other way
	// round: a change of any text in the JSON changes the digest.
	var values []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case string:
			if v != "" {
				values = append(values, v)
			}
		}
	}
	var tree any
	require.NoError(t, json.Unmarshal(body, &tree))
	walk(tree)
	require.Greater(t, len(values), 50)
	for _, v := range []string{"Centre", "bill@example.org", "DE1", "P. I.", "Life", "PO-7", "drawn", "80047/150000", "8047/1800", "a@example.org"} {
		var other Invoice
		changed := strings.Replace(string(body), `"`+v+`"`, `"9`+v+`"`, 1)
		require.NotEqual(t, string(body), changed, v)
		require.NoError(t, json.Unmarshal([]byte(changed), &other), v)
		require.NotEqual(t, inv.Digest(), other.Digest(), v)
	}
}

func TestJSONRefuses(t *testing.T) {
	inv := printed(t)
	body, err := json.Marshal(inv)
	require.NoError(t, err)
	f := func(old, new string) {
		t.Helper()
		require.Contains(t, string(body), old)
		var back Invoice
		require.Error(t, json.Unmarshal([]byte(strings.Replace(string(body), old, new, 1)), &back))
	}
	f(`"amount":"0.53"`, `"amount":"0.531"`)
	f(`"amount":"0.53"`, `"amount":"1e2"`)
	f(`"total":"0.05"`, `"total":"99999999999999999999"`)
	f(`"quantity":"80047/1800"`, `"quantity":"80047/0"`)
	f(`"version":"2025-07-01"`, `"version":"2025-07-32"`)
	f(`"rounding":"half_up"`, `"rounding":"half"`)
	f(`"overdraft":"waive"`, `"overdraft":"?"`)
}

func TestCheckFindsWhatDoesNotAddUp(t *testing.T) {
	f := func(part string, spoil func(*Invoice)) {
		t.Helper()
		inv := printed(t)
		spoil(&inv)
		require.ErrorContains(t, inv.Check(), part)
		require.ErrorContains(t, inv.Check(), "BUG: invoice of bio_g00 for 2026-03")
	}
	f("line 1 is 80047/150000 but prints 54", func(inv *Invoice) { inv.Lines[0].Amount, inv.List, inv.Total = 54, 54, 6 })
	f("lines sum to 53 and -48", func(inv *Invoice) { inv.Total++ })
	f("lines sum to 53 and -48", func(inv *Invoice) { inv.List, inv.Total = inv.List+1, inv.Total+1 })
	f("line 3 stands at 2", func(inv *Invoice) { inv.Lines[1].Position = 3 })
	f("reduces line 2, which is no list line", func(inv *Invoice) { inv.Lines[1].Of = 2 })
	f("reduces line 0", func(inv *Invoice) { inv.Lines[1].Of = 0 })
	f("is a reduction and positive", func(inv *Invoice) { inv.Lines[1].Amount, inv.Reductions, inv.Total = 48, 48, 101 })
	f("reduced by more than it is", func(inv *Invoice) { inv.Lines[1].Amount, inv.Reductions, inv.Total = -54, -54, -1 })
	f("the lines draw 40, the balance says 41", func(inv *Invoice) {
		inv.Balances[0].Drawn, inv.Balances[0].Left = exact(t, "41"), exact(t, "-1")
	})
	f("40 and deposits of 0 less refunds of 0 and 40 is not 1", func(inv *Invoice) { inv.Balances[0].Left = exact(t, "1") })
	f("draws on 1 allocations without a balance", func(inv *Invoice) { inv.Balances = nil })
}
