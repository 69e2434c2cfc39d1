package invoice

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// BenchmarkAddJob adds jobs of 64 groups at three meters each, with the
// quantities that a card such as pitt-crc gives.
func BenchmarkAddJob(b *testing.B) {
	roster := &rates.Roster{}
	for i := range 64 {
		roster.Groups = append(roster.Groups, &rates.Group{ID: fmt.Sprintf("g%02d", i)})
	}
	c := newComposer(b, roster)
	random := rand.New(rand.NewPCG(1, 2))
	outcomes := make([]rating.Outcome, 4096)
	for i := range outcomes {
		group := roster.Groups[random.IntN(64)].ID
		seconds := random.Int64N(200_000)
		cores := 1 + random.Int64N(64)
		var charges []rating.Charge
		for m, rate := range []money.Exact{money.Ratio(cores*8, 10), money.Int(cores), money.Int(cores / 16)} {
			ch := charge(b, group, "1", "0.012")
			ch.Meter = []string{"su", "core_hours", "gpu_hours"}[m]
			ch.Quantity = rate.Mul(money.Ratio(seconds, 3600))
			ch.Amount = ch.Quantity.Mul(ch.Price)
			charges = append(charges, ch)
		}
		outcomes[i] = job(b, 1+random.IntN(28), rating.Charged, seconds, charges...)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if err := c.AddJob(&outcomes[i%len(outcomes)]); err != nil {
			require.NoError(b, err)
		}
	}
}
