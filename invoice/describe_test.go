package invoice

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

func TestDescriptions(t *testing.T) {
	f := func(language string, l Line, want string) {
		t.Helper()
		w := languageOf(language)
		if l.Kind.Reduces() {
			require.Equal(t, want, w.reduction(&l))
			return
		}
		l.Exact = l.Quantity.Mul(l.Price)
		require.Equal(t, want, w.list(&l, usd))
	}
	usage := Line{Kind: Usage, Cluster: "h2p", Unit: "SU", Quantity: exact(t, "243057109291/1000000"), Price: exact(t, "0.012"), Jobs: 4110}
	f("en", usage, "4,110 jobs on h2p: 243,057.109291 SU at 0.012 USD per SU")
	f("es", usage, "4.110 trabajos en h2p: 243.057,109291 SU a 0,012 USD por SU")
	f("", usage, "4,110 jobs on h2p: 243,057.109291 SU at 0.012 USD per SU")
	f("fr", usage, "4,110 jobs on h2p: 243,057.109291 SU at 0.012 USD per SU")

	core := Line{Kind: Usage, Cluster: "owens", Unit: "core-hour", PriceLabel: "gpu", Quantity: exact(t, "8"), Price: exact(t, "0.03"), Jobs: 1}
	f("en", core, "1 job on owens: 8 core-hours at 0.03 USD per core-hour (gpu)")
	f("es", core, "1 trabajo en owens: 8 horas-núcleo a 0,03 USD por hora-núcleo (gpu)")
	core.Quantity = money.Int(1)
	f("en", core, "1 job on owens: 1 core-hour at 0.03 USD per core-hour (gpu)")

	storage := Line{Kind: Storage, Cluster: "ix", Unit: "TB-month", Quantity: exact(t, "15/31"), Price: exact(t, "3.20")}
	f("en", storage, "Storage on ix: 0.483871 TB-months at 3.2 USD per TB-month")
	f("es", storage, "Almacenamiento en ix: 0,483871 TB-meses a 3,2 USD por TB-mes")
	storage.Price = exact(t, "0.0000087890625")
	f("en", storage, "Storage on ix: 0.483871 TB-months at 0.0000087890625 USD per TB-month")

	draw := Line{Kind: Prepaid, Unit: "SU", Quantity: money.Int(-1), Reason: "FY26", Of: 2}
	f("en", draw, "Drawn on allocation FY26: 1 SU of line 2")
	f("es", draw, "Con cargo a la asignación FY26: 1 SU de la línea 2")
	draw.Kind = Overdraft
	f("en", draw, "Beyond allocation FY26, waived: 1 SU of line 2")
	f("es", draw, "Fuera de la asignación FY26, condonado: 1 SU de la línea 2")
	waiver := Line{Kind: Waiver, Cluster: "ix", Unit: "TB-month", Quantity: money.Int(-2), Reason: "moving", Of: 1}
	f("en", waiver, "Waived (moving): 2 TB-months of line 1")
	waiver.Jobs = 2
	f("es", waiver, "Condonado (moving): 2 TB-meses de la línea 1, de 2 trabajos en ix")
}

func TestOrderOfReductions(t *testing.T) {
	require.Equal(t, []string{
		"list charges", "waivers and refunds", "class discount and subsidies", "allowances", "caps", "prepaid balance",
		"manual adjustments", "prior-period items", "overhead", "tax", "rounding", "total", "split over funds",
	}, Order())
	// The kinds of line are printed in the order of their steps.
	step := map[Kind]string{
		Usage: "list charges", Storage: "list charges", Waiver: "waivers and refunds",
		Discount: "class discount and subsidies", Allowance: "allowances", Cap: "caps",
		Prepaid: "prepaid balance", Overdraft: "prepaid balance", Manual: "manual adjustments", Prior: "prior-period items",
		Overhead: "overhead", Tax: "tax",
	}
	last := 0
	for _, kind := range kinds {
		i := slices.Index(Order(), step[kind])
		require.GreaterOrEqual(t, i, last, kind)
		last = i
	}
}

func TestRosterIsCopied(t *testing.T) {
	g := &rates.Group{ID: "a", Contacts: []string{"x"}}
	r := recipient(g)
	g.Contacts[0] = "y"
	require.Equal(t, []string{"x"}, r.Contacts)
	require.Equal(t, "en", r.Language)
}
