package chargestore

import (
	"iter"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rating"
)

// atDesks fills the rows of several lexicons in a goroutine each, while those that
// are full are taken in: as whoever rates does.
func atDesks(t *testing.T, outcomes []rating.Outcome, desks, at, remembered int) iter.Seq2[*Rows, error] {
	return func(yield func(*Rows, error) bool) {
		full, free := make([]chan *Rows, desks), make([]chan *Rows, desks)
		for d := range desks {
			full[d], free[d] = make(chan *Rows, 3), make(chan *Rows, 3)
			l := NewLexicon()
			l.rememberedBytes = remembered
			for range 3 {
				free[d] <- l.NewRows()
			}
			go func() {
				defer close(full[d])
				for first := d * at; first < len(outcomes); first += desks * at {
					rows := <-free[d]
					rows.Reset()
					for i := first; i < min(first+at, len(outcomes)); i++ {
						if err := rows.Add(&outcomes[i]); err != nil {
							t.Error(err)
						}
					}
					full[d] <- rows
				}
			}()
		}
		for n := 0; n*at < len(outcomes); n++ {
			rows := <-full[n%desks]
			if !yield(rows, nil) {
				t.Error("the rows are not taken")
			}
			free[n%desks] <- rows
		}
	}
}

// Desks that go on while their rows are taken in write the file that one alone
// writes, whatever is forgotten meanwhile, on either side.
func TestDesksAtOnce(t *testing.T) {
	for seed := range uint64(6) {
		outcomes := wordy(seed, 1500)
		var files [][]byte
		for _, desks := range []int{1, 4} {
			dir := t.TempDir()
			w := writing{keptRows: 700, keptTextBytes: []int{60_000, 600_000, keptTextBytes}[seed%3], at: func(string) {}}
			require.NoError(t, w.write(dir, march, atDesks(t, outcomes, desks, 64, []int{rememberedTextBytes, 20_000, 0}[seed/2])))
			require.Equal(t, rowsTold(outcomes), readTold(t, dir))
			file, err := os.ReadFile(fileOf(dir, march))
			require.NoError(t, err)
			files = append(files, file)
		}
		require.True(t, string(files[0]) == string(files[1]), "seed %d", seed)
	}
}
