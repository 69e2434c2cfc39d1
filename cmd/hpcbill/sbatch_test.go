package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseScript(t *testing.T) {
	f := func(lines string, want request) {
		t.Helper()
		got, err := parseScript("job.sh", "#!/bin/bash\n"+lines)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	// long and short, joined and apart
	f("#SBATCH --partition=smp --cpus-per-task=4\n#SBATCH --mem=16G\n#SBATCH -t 2:00:00", request{partition: "smp", nodes: 1, cpus: 4, memoryMiB: 16384, seconds: 7200})
	f("#SBATCH -psmp -c4 -t120", request{partition: "smp", nodes: 1, cpus: 4, seconds: 7200})
	f("#SBATCH -p smp # the small one\n#SBATCH -A chem\n#SBATCH -q debug", request{partition: "smp", account: "chem", qos: "debug", nodes: 1, cpus: 1})
	// tasks
	f("#SBATCH -N 2 --ntasks-per-node=28", request{nodes: 2, cpus: 56})
	f("#SBATCH -N 2-4 -n 10 -c 3", request{nodes: 2, cpus: 30})
	// memory of a CPU, a node, a GPU
	f("#SBATCH -n 8 --mem-per-cpu=4000", request{nodes: 1, cpus: 8, memoryMiB: 32000})
	f("#SBATCH -N 2 --mem=1T", request{nodes: 2, cpus: 2, memoryMiB: 2 * 1048576})
	f("#SBATCH -G 2 --mem-per-gpu=20G", request{nodes: 1, cpus: 1, gpus: 2, memoryMiB: 40960})
	// GPUs
	f("#SBATCH --gres=gpu:a100:2 -N 2", request{nodes: 2, cpus: 2, gpus: 4, gpuType: "a100"})
	f("#SBATCH --gres=gpu:1", request{nodes: 1, cpus: 1, gpus: 1})
	f("#SBATCH --gres=gpu:a100", request{nodes: 1, cpus: 1, gpus: 1, gpuType: "a100"})
	f("#SBATCH --gpus-per-node=a100 -N 3 --gpus=3", request{nodes: 3, cpus: 3, gpus: 3, gpuType: "a100"})
	f("#SBATCH -G a100=2 -L matlab:2,ansys", request{nodes: 1, cpus: 1, gpus: 2, gpuType: "a100", licenses: []resource{{"matlab", "", 2}, {"ansys", "", 1}}})
	f("#SBATCH --gpus-per-task=1 -n 3 --cpus-per-gpu=4", request{nodes: 1, cpus: 12, gpus: 3})
	f("#SBATCH --gres=fpga:2 -N 2 -J gaussian-opt", request{nodes: 2, cpus: 2, gres: []resource{{"fpga", "", 4}}, name: "gaussian-opt"})
	f("#SBATCH --gres=gpu:a100:2,nvme:100,tmpdisk:2K,shard --job-name=x", request{nodes: 1, cpus: 1, gpus: 2, gpuType: "a100", gres: []resource{{"nvme", "", 100}, {"tmpdisk", "", 2048}, {"shard", "", 1}}, name: "x"})
	f("#SBATCH --gres=gpumem:40G", request{nodes: 1, cpus: 1, gres: []resource{{"gpumem", "", 42949672960}}})
	f("#SBATCH --gres=none", request{nodes: 1, cpus: 1})
	f("#SBATCH --gres=fpga:u280", request{nodes: 1, cpus: 1, gres: []resource{{"fpga", "u280", 1}}})
	// times
	f("#SBATCH --time=1-12", request{nodes: 1, cpus: 1, seconds: 36 * 3600})
	f("#SBATCH --time=1-02:03:04", request{nodes: 1, cpus: 1, seconds: 26*3600 + 3*60 + 4})
	f("#SBATCH --time=90:30", request{nodes: 1, cpus: 1, seconds: 90*60 + 30})
	// what follows the first command is not read
	f("#SBATCH -c 2\nsrun ./a\n#SBATCH -c 64", request{nodes: 1, cpus: 2})

	bad := func(lines, want string) {
		t.Helper()
		_, err := parseScript("job.sh", "#!/bin/bash\n"+lines)
		require.EqualError(t, err, want)
	}
	bad("#SBATCH -c four", `job.sh:2: --cpus-per-task: "four" is no number`)
	bad("#SBATCH --mem=lots", `job.sh:2: --mem: "lots" is no amount of memory`)
	bad("#SBATCH -c 1\n#SBATCH --time=soon", `job.sh:3: --time: "soon" is not a time`)
	bad("#SBATCH --gres=gpu:a100:1,gpu:v100:1", `job.sh:2: --gres: names GPUs of two types`)
	bad("#SBATCH --gres=gpu:a100:1\n#SBATCH --gpus=v100:1", `job.sh:3: --gpus: names GPUs of two types`)
	bad("#SBATCH --gres=gpu:a100:x", `job.sh:2: --gres: "gpu:a100:x" is not NAME, NAME:COUNT, NAME:TYPE or NAME:TYPE:COUNT`)
	bad("#SBATCH --gpus-per-node=-1", `job.sh:2: --gpus-per-node: "-1" is not COUNT, TYPE or TYPE:COUNT`)
	bad("#SBATCH -L matlab:x", `job.sh:2: --licenses: "matlab:x" is not NAME or NAME:COUNT`)
	bad("#SBATCH --tres-per-task=gres/gpu:2", `job.sh:2: --tres-per-task: is not read by estimate, and may cost`)
}

func FuzzParseScript(f *testing.F) {
	f.Add("#SBATCH -p smp -c4 --mem=4G --gres=gpu:a100:2 -t 1-02:03:04")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseScript("job.sh", text)
		if err == nil && r.check() == nil {
			require.GreaterOrEqual(t, r.seconds, int64(1))
			require.GreaterOrEqual(t, r.job(1).CPUs, int64(1))
		}
	})
}
