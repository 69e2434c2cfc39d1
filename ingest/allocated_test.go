package ingest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestC73AllocAgainstReq(t *testing.T) {
	j := oneA(t, "ReqTRES=billing=1,cpu=1,mem=8G,node=1", "AllocTRES=billing=36,cpu=36,gres/gpu=4,mem=180G,node=1")
	require.Equal(t, [5]int64{36, 184320, 4, 36, 1}, [5]int64{j.CPUs, j.MemoryMiB, j.GPUs, j.Billing, j.NodeCount})
	require.Equal(t, [4]int64{1, 8192, 0, 1}, [4]int64{j.ReqCPUs, j.ReqMemoryMiB, j.ReqGPUs, j.ReqNodeCount})
}

func TestC79NoMemory(t *testing.T) {
	require.Equal(t, Unknown, oneA(t, "AllocTRES=billing=4,cpu=4,node=1").MemoryMiB)
	require.Zero(t, oneA(t, "AllocTRES=billing=4,cpu=4,mem=0,node=1").MemoryMiB)
	require.Zero(t, oneA(t, "AllocTRES=cpu=4,node=1").Billing)
}

func TestC80ReqMem(t *testing.T) {
	f := func(text string, want int64) {
		t.Helper()
		require.Equal(t, want, oneA(t, "ReqTRES=", "ReqMem="+text, "NNodes=2", "AllocTRES=cpu=32,node=2").ReqMemoryMiB, text)
	}
	f("500", 500)
	f("4Gn", 8192)
	f("4G", 4096)
	f("0n", Unknown)
	f("", Unknown)
	require.Equal(t, int64(131072), requestedMemory("4Gc", 32, 1))
}

func TestC83Nodes(t *testing.T) {
	j := oneA(t, "NNodes=3", "NCPUS=0", "AllocTRES=cpu=4,node=2")
	require.Equal(t, int64(4), j.CPUs)
	require.Equal(t, int64(2), j.NodeCount)
	require.Equal(t, NoteNodesDisagree, j.Notes)
	j = oneA(t, "NCPUS=8") // of cpu=4
	require.Equal(t, int64(4), j.CPUs)
	require.Equal(t, NoteNodesDisagree, j.Notes)
}

func TestC88Accounts(t *testing.T) {
	for _, account := range []string{"Lab_A", "lab_a", "lab_a ", " LAB_A"} {
		require.Equal(t, "lab_a", oneA(t, "Account="+account).Account)
	}
	require.Empty(t, oneA(t, "Account=").Account) // C28: held later, not lost
}

func TestC140ZeroTask(t *testing.T) {
	j := oneA(t, "JobID=0_0", "JobIDRaw=501")
	require.Equal(t, uint64(501), j.JobIDRaw)
	require.Equal(t, NoteStrangeJobID, j.Notes)
}

func TestC142NothingAllocated(t *testing.T) {
	badA(t, "nothing is recorded as allocated", "NCPUS=0", "AllocTRES=")
	badA(t, "nothing is recorded as allocated", "NCPUS=4", "AllocTRES=") // AllocCPUS may repeat ReqTRES
	badA(t, "nothing is recorded as allocated", "NCPUS=0", "AllocTRES=energy=5")
	j := oneA(t, "NCPUS=4", "AllocTRES=", "ReqTRES=")
	require.Equal(t, [4]int64{4, Unknown, Unknown, Unknown}, [4]int64{j.CPUs, j.MemoryMiB, j.GPUs, j.Billing})
	require.Zero(t, oneA(t, "State=FAILED", "End=2025-03-03T09:00:00", "ElapsedRaw=0", "AllocTRES=").CPUs)
}
