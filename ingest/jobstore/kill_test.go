package jobstore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
)

// The environment of a child process of TestAKilledIngestIsWholeOrNothing.
const (
	killDir  = "JOBSTORE_KILL_DIR"
	killStep = "JOBSTORE_KILL_STEP" // the step of the commit at which the child kills itself
)

// The dump that is being taken in when the child is killed: it revises jobs,
// repeats some and brings new ones, of two clusters and three months.
func killedDump() dump {
	d := dump{name: "second", at: december + 3*day}
	for raw := uint64(1); raw <= 40; raw++ {
		j := job(raw, november+ingest.Instant(raw)*day)
		if raw%3 == 0 {
			j.Cluster = "other"
		}
		d.jobs = append(d.jobs, j)
	}
	return d
}

func firstDump() dump {
	d := dump{name: "first", at: november + 20*day}
	for _, j := range killedDump().jobs[:30] {
		switch j.JobIDRaw % 4 {
		case 0:
			j.Account = "chem" // was changed later
		case 1:
			j.State, j.End = ingest.Running, ingest.None
			j.ElapsedSeconds = 60
		case 2:
			continue
		}
		d.jobs = append(d.jobs, j)
	}
	return d
}

// TestKillChild is the child: it does nothing when it is run as a test.
func TestKillChild(t *testing.T) {
	dir := os.Getenv(killDir)
	if dir == "" {
		return
	}
	s := smallParts(t, dir)
	last, _ := strconv.Atoi(os.Getenv(killStep))
	steps := 0
	s.at = func(string) {
		if steps++; steps == last {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	load(t, s, killedDump())
	fmt.Println("steps", steps)
}

func smallParts(t *testing.T, dir string) *Store {
	s := newStore(t, dir)
	s.partRows = 7
	s.sync = func(*os.File) error { return nil } // a killed process loses nothing that it wrote
	return s
}

func killChild(t *testing.T, dir string, step int, after time.Duration) {
	child := exec.Command(os.Args[0], "-test.run=^TestKillChild$")
	child.Env = append(os.Environ(), killDir+"="+dir, killStep+"="+strconv.Itoa(step))
	require.NoError(t, child.Start())
	if step == 0 {
		time.Sleep(after)
		_ = child.Process.Kill()
	}
	_ = child.Wait() // killed, or done before it could be
}

// TestAKilledIngestIsWholeOrNothing kills an ingest with SIGKILL 50 times:
// at the steps of its commit, and at random moments.
func TestAKilledIngestIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	reference := smallParts(t, filepath.Join(base, "reference"))
	load(t, reference, firstDump())
	before := all(t, reference)
	steps := 0
	reference.at = func(string) { steps++ }
	started := time.Now()
	load(t, reference, killedDump())
	took := time.Since(started)
	after := all(t, reference)
	require.NotEqual(t, before, after)
	require.Greater(t, steps, 40)
	require.NoError(t, reference.Compact())
	compacted := tree(t, reference)

	random := rand.New(rand.NewPCG(1, 2))
	var outcomes sync.Map
	t.Run("kills", func(t *testing.T) {
		for run := range 50 {
			step, wait := 0, time.Duration(0)
			if run < 40 {
				step = 1 + run*steps/39 // the last one is not reached: the child ends by itself
			} else {
				wait = 20*time.Millisecond + time.Duration(random.Int64N(int64(took)))
			}
			t.Run(fmt.Sprintf("step %d wait %s", step, wait), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				load(t, smallParts(t, dir), firstDump())
				killChild(t, dir, step, wait)
				whole := requireWholeOrNothing(t, dir, before, after, compacted)
				outcomes.Store(whole, true)
			})
		}
	})
	for _, whole := range []bool{true, false} {
		_, seen := outcomes.Load(whole)
		require.True(t, seen, "no kill left an ingest that was whole: %t", whole)
	}
}

// requireWholeOrNothing opens the store of a killed ingest, looks at it, and
// takes the dump in if it is not there.
func requireWholeOrNothing(t *testing.T, dir string, before, after []ingest.Job, compacted map[string]string) (whole bool) {
	s := smallParts(t, dir)
	whole, err := s.Has(killedDump().digest())
	require.NoError(t, err)
	want, ingests := before, 1
	if whole {
		want, ingests = after, 2
	}
	require.Equal(t, want, all(t, s))
	records, err := s.Ingests()
	require.NoError(t, err)
	require.Len(t, records, ingests)
	if !whole {
		load(t, s, killedDump())
	}
	require.Equal(t, after, all(t, s))
	require.NoError(t, s.Compact()) // finds no stray file either
	require.Equal(t, compacted, tree(t, s))
	return whole
}
