package history

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
)

// The child of the kill test is this test program, told by its environment
// which history to issue on and at which step to die.
const killPath, killStep = "HISTORY_TEST_PATH", "HISTORY_TEST_STEP"

func TestMain(m *testing.M) {
	if path := os.Getenv(killPath); path != "" {
		step, _ := strconv.Atoi(os.Getenv(killStep))
		dieWhileIssuing(path, step)
	}
	os.Exit(m.Run())
}

// marchIssue is what the kill test issues.
func marchIssue() Issue {
	return issueOf("2026-03", prepaid(draft("2026-03", "bio", 600), 1000), draft("2026-03", "chem", 5), draft("2026-03", "phys", 7))
}

// dieWhileIssuing kills its own process at the given step, and says at which.
func dieWhileIssuing(path string, step int) {
	db, err := Open(path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	db.step = func(point string) {
		if step--; step == 0 {
			fmt.Println(point)
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {}
		}
	}
	if _, err := db.Issue(ctx, marchIssue()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("done")
	os.Exit(0)
}

func TestKilledWhileIssuing(t *testing.T) {
	points := make(map[string]bool)
	kills, stride := 0, 1
	if underRace {
		stride = 5
	}
	for step := 1; ; step += stride {
		_, path := open(t)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), killPath+"="+path, killStep+"="+strconv.Itoa(step))
		output, err := child.CombinedOutput()
		point := strings.TrimSpace(string(output))
		if err == nil {
			require.Equal(t, "done", point)
			break
		}
		points[point] = true
		kills++

		after, err := Open(path)
		require.NoError(t, err, point)
		require.NoError(t, after.VerifyChain(ctx), point)
		p, err := after.Period(ctx, "2026-03")
		require.NoError(t, err)
		all, err := after.Invoices(ctx, Filter{})
		require.NoError(t, err)
		if point == "committed" {
			require.Equal(t, Issued, p.State)
			require.Len(t, all, 3)
		} else {
			require.Equal(t, Untouched, p.State, point)
			require.Empty(t, all, point)
			entries, _, err := after.Head(ctx)
			require.NoError(t, err)
			require.Zero(t, entries, point)
		}
		issued, err := after.Issue(ctx, marchIssue())
		require.NoError(t, err, point)
		require.Equal(t, []string{"HPC-2026-00001", "HPC-2026-00002", "HPC-2026-00003"}, numbers(issued))
		require.NoError(t, after.VerifyChain(ctx), point)
		require.NoError(t, after.Close())
	}
	if underRace {
		return
	}
	require.GreaterOrEqual(t, kills, 20)
	for _, point := range []string{"begun", "texts", "runs", "invoices", "invoice_lines", "ledger", "entry invoice", "events", "before commit", "committed"} {
		require.True(t, points[point], point)
	}
}

// TestIssuedTwiceAtOnce issues from two processes' worth of handles.
func TestIssuedTwiceAtOnce(t *testing.T) {
	f := func(first, second Issue) (issued [2][]invoice.Invoice, errs [2]error) {
		t.Helper()
		one, path := open(t)
		two, err := Open(path)
		require.NoError(t, err)
		defer two.Close()
		var wait sync.WaitGroup
		for i, db := range []*DB{one, two} {
			wait.Add(1)
			go func() {
				defer wait.Done()
				issued[i], errs[i] = db.Issue(ctx, []Issue{first, second}[i])
			}()
		}
		wait.Wait()
		require.NoError(t, one.VerifyChain(ctx))
		all, err := one.Invoices(ctx, Filter{})
		require.NoError(t, err)
		require.Len(t, all, 3)
		return issued, errs
	}
	for range 5 {
		later := marchIssue()
		later.At = later.At.Add(time.Hour)
		issued, errs := f(marchIssue(), later)
		require.NoError(t, errs[0])
		require.NoError(t, errs[1])
		for i := range issued[0] {
			require.Equal(t, issued[0][i].Digest(), issued[1][i].Digest())
		}

		other := issueOf("2026-03", draft("2026-03", "bio", 1), draft("2026-03", "chem", 2), draft("2026-03", "phys", 3))
		_, errs = f(marchIssue(), other)
		var differs *DiffersError
		require.ErrorAs(t, errors.Join(errs[0], errs[1]), &differs)
		require.True(t, errs[0] == nil || errs[1] == nil, "one of them wins")
	}
}

// TestManyWritersOneChain appends from several handles at once.
func TestManyWritersOneChain(t *testing.T) {
	_, path := open(t)
	const writers, each = 4, 10
	var wait sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			db, err := Open(path)
			for i := 0; err == nil && i < each; i++ {
				err = db.RecordIngest(ctx, Ingest{ID: fmt.Sprintf("%d-%d", w, i), Digest: "d", At: may}, "tester", "v1")
			}
			errs[w] = errors.Join(err, db.Close())
		}()
	}
	wait.Wait()
	require.NoError(t, errors.Join(errs...))
	db, err := OpenReadOnly(path)
	require.NoError(t, err)
	defer db.Close()
	entries, _, err := db.Head(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(writers*each), entries)
	require.NoError(t, db.VerifyChain(ctx))
}

// TestReadingDuringAWrite shows that a reader sees the history as it was, at
// once, while an issue is under way.
func TestReadingDuringAWrite(t *testing.T) {
	db, path := open(t)
	issue(t, db, "2026-02", draft("2026-02", "bio", 1))
	writing, goOn := make(chan struct{}), make(chan struct{})
	db.step = func(point string) {
		if point == "before commit" {
			close(writing)
			<-goOn
		}
	}
	done := make(chan error)
	go func() {
		_, err := db.Issue(ctx, marchIssue())
		done <- err
	}()
	<-writing
	reader, err := OpenReadOnly(path)
	require.NoError(t, err)
	defer reader.Close()
	for _, from := range []*DB{db, reader} {
		all, err := from.Invoices(ctx, Filter{})
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.NoError(t, from.VerifyChain(ctx))
	}
	close(goOn)
	require.NoError(t, <-done)
	all, err := reader.Invoices(ctx, Filter{})
	require.NoError(t, err)
	require.Len(t, all, 4)
}
