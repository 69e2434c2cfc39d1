package chargestore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates/money"
)

// The place of a long id fits its 32 bits, or the job is refused.
func TestLongIDsThatAreTooMany(t *testing.T) {
	j := smpJob(1)
	j.JobID = "1_[" + strings.Repeat("1,", 10) + "2]"
	o := outcomeOf(j, smpCharge(money.Int(1), money.Int(1)))
	rows := NewLexicon().NewRows()
	require.NoError(t, rows.Add(&o))
	rows.longIDs = make(longIDs, mostLongIDs+1) // nobody touches its memory
	require.ErrorContains(t, rows.Add(&o), "the job ids of 1 rows have more than")
	rows.Reset()
	require.NoError(t, rows.Add(&o))
}
