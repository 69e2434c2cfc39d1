package rating

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
)

// The published examples of decay and of weights of priority, where their
// collection is at hand. uq-bunya-03 is a negative case: its digits are those
// of a double, and end …681 where the number goes on …6790673.
func TestPublishedShares(t *testing.T) {
	f, err := os.Open("../../shared/facts/charging-examples.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("external test data not present")
	}
	require.NoError(t, err)
	defer f.Close()
	tried := 0
	for decoder := json.NewDecoder(f); decoder.More(); {
		var e struct {
			ID, Kind   string
			Expected   any
			Exact      any
			Parameters map[string]any `json:"model_params"`
			Inputs     map[string]any
		}
		require.NoError(t, decoder.Decode(&e))
		halfLife, decays := e.Parameters["half_life_days"].(float64)
		switch {
		case e.Kind == "priority-weights":
			var weights []money.Exact
			for _, name := range []string{"Age", "JobSize", "FairShare", "QOS"} {
				weights = append(weights, money.Int(int64(e.Parameters[name].(float64))))
			}
			for i, part := range PriorityParts(weights) {
				percent := part.Mul(money.Int(100))
				require.Equal(t, e.Expected.([]any)[i], percent.Decimal(2, money.HalfUp), e.ID)
			}
		case e.Kind != "decay" || !decays:
			continue
		case e.Inputs["week"] != nil:
			weeks := int64(e.Inputs["week"].(float64)) - 1
			used := money.Int(int64(e.Inputs["usage_gpu_hours"].(float64)))
			require.Equal(t, e.Expected, used.Mul(NewDecay(int64(halfLife)*day).Exact(weeks*week)).String(), e.ID)
		default:
			left := NewDecay(int64(halfLife) * day).Exact(int64(e.Inputs["days"].(float64)) * day)
			lost := money.Int(1).Sub(left).Mul(money.Int(100))
			expected := e.Expected.(string)
			_, places, _ := strings.Cut(expected, ".")
			require.Equal(t, expected, lost.Decimal(len(places), money.HalfUp), e.ID)
			if e.ID == "uq-bunya-03" {
				require.Equal(t, "2.445135794742679", lost.Decimal(15, money.HalfUp))
				require.NotEqual(t, e.Exact, lost.Decimal(15, money.HalfUp))
			}
		}
		tried++
	}
	require.Equal(t, 7, tried) // six of decay, one of weights
}
