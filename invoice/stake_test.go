package invoice

import (
	"encoding/json"
	"testing"

	"hpcbill/rates/money"
	"hpcbill/rating"

	"github.com/stretchr/testify/require"
)

// Two halves of a month, counted apart: what is at stake is the sum of both,
// and is read again as it was written.
func TestStakeOfMergedHalves(t *testing.T) {
	stake := func(low, high int64, unpriced int64) rating.Outcome {
		o := held(t, rating.Held, rating.NoGroup, "account=y", 10)
		o.Stake = &rating.Stake{Low: money.Ratio(low, 3), High: money.Int(high), Unpriced: unpriced}
		return o
	}
	a, b := newComposer(t, chemistry()), newComposer(t, chemistry())
	require.NoError(t, a.AddJob(new(stake(1, 2, 0))))
	require.NoError(t, b.AddJob(new(stake(2, 3, 0))))
	require.NoError(t, b.AddJob(new(stake(0, 0, 1))))
	a.Merge(b)
	_, s := compose(t, a)
	require.Len(t, s.Causes, 1)
	require.Equal(t, "1", s.Causes[0].Stake.Low.String())
	require.Equal(t, "5", s.Causes[0].Stake.High.String())
	require.Equal(t, int64(1), s.Causes[0].Stake.Unpriced)

	text, err := json.Marshal(s)
	require.NoError(t, err)
	var again Summary
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, s.Causes[0].Stake.High.String(), again.Causes[0].Stake.High.String())
	require.Equal(t, s.Causes[0].Stake.Unpriced, again.Causes[0].Stake.Unpriced)
}
