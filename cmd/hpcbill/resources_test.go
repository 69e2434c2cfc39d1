package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The expected values are what Slurm's own reader of TRES makes of each text
// (slurm_get_next_tres, and for licenses _build_license_list).
func TestReadGres(t *testing.T) {
	f := func(list string, want ...resource) {
		t.Helper()
		got, err := readGres("gres", list)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	f("gpu", resource{"gpu", "", 1})
	f("gpu:2", resource{"gpu", "", 2})
	f("gpu=2", resource{"gpu", "", 2})
	f("gpu:a100", resource{"gpu", "a100", 1})
	f("gpu:a100:2", resource{"gpu", "a100", 2})
	f("gpu:a100=2", resource{"gpu", "a100", 2})
	f("gres/gpu:2,gres:fpga", resource{"gpu", "", 2}, resource{"fpga", "", 1})
	// what is no number is a type, whatever it begins with
	f("gpu:1g.5gb", resource{"gpu", "1g.5gb", 1})
	f("gpu:2080ti:3", resource{"gpu", "2080ti", 3})
	f("gpu:3090", resource{"gpu", "", 3090})
	// counts in powers of 1024, and of 1000
	f("nvme:2K,gpumem:40g,tmp:3MiB,x:4kb,y:1T,z:2pb", resource{"nvme", "", 2048}, resource{"gpumem", "", 42949672960},
		resource{"tmp", "", 3145728}, resource{"x", "", 4000}, resource{"y", "", 1099511627776}, resource{"z", "", 2000000000000000})
	// two types of one thing; none; nothing between commas
	f("fpga:u280,fpga:u50:2", resource{"fpga", "u280", 1}, resource{"fpga", "u50", 2})
	f("gpu:0,fpga:u50:0,,nic:1,", resource{"nic", "", 1})
	f("none")
	f("NONE")
	f("")

	bad := func(list, want string) {
		t.Helper()
		_, err := readGres("gres", list)
		require.EqualError(t, err, "--gres: "+want)
	}
	for _, item := range []string{"gpu:", "gpu=", "gpu=a100", "gpu=a100:2", "gpu:a100:x", "gpu:a100:1:2", "gpu::2", ":2", "2", "2K", "gpu:-1", "gpu:2.5",
		"gpu:1;gpu:2", "gpu: 2", "gpu:99999999999999999999", "gpu:9007199254740993", "gpu:99999999999999999999K"} {
		bad(item, `"`+item+`" is not NAME, NAME:COUNT, NAME:TYPE or NAME:TYPE:COUNT`)
	}
	bad("fpga:1,fpga:2", "names fpga twice")
	bad("fpga:u50,fpga:2", "names fpga twice")
	bad("GPU:2", "Slurm knows gpu, and no GPU")
}

func TestReadGPUs(t *testing.T) {
	f := func(list string, want ...resource) {
		t.Helper()
		got, err := readGPUs("gpus", list)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	f("2", resource{"gpu", "", 2})
	f("a100", resource{"gpu", "a100", 1})
	f("a100:2", resource{"gpu", "a100", 2})
	f("a100=2", resource{"gpu", "a100", 2})
	f("1K", resource{"gpu", "", 1024})
	f("0")
	f("a100:1,v100:2", resource{"gpu", "a100", 1}, resource{"gpu", "v100", 2})
	f("")
	bad := func(list, want string) {
		t.Helper()
		_, err := readGPUs("gpus", list)
		require.EqualError(t, err, "--gpus: "+want)
	}
	for _, item := range []string{"a100:x", "-1", "a100:1:2", "a100:"} {
		bad(item, `"`+item+`" is not COUNT, TYPE or TYPE:COUNT`)
	}
	bad("2,a100:1", "names gpu twice")
}

func TestReadLicenses(t *testing.T) {
	f := func(list string, want ...resource) {
		t.Helper()
		got, err := readLicenses("licenses", list)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	f("matlab:2,ansys@db", resource{"matlab", "", 2}, resource{"ansys@db", "", 1})
	f("matlab=2;ansys", resource{"matlab", "", 2}, resource{"ansys", "", 1})
	f("matlab,matlab:2,idl:0", resource{"matlab", "", 3})
	f("")
	bad := func(list, want string) {
		t.Helper()
		_, err := readLicenses("licenses", list)
		require.EqualError(t, err, "--licenses: "+want)
	}
	for _, item := range []string{"matlab:", "matlab:2K", "matlab:x", "matlab:-1", "matlab:1:2", ":2", "mat lab", "matlab:3000000000"} {
		bad(item, `"`+item+`" is not NAME or NAME:COUNT`)
	}
	bad("matlab:1|octave:1", `"matlab:1|octave:1" is one or the other`)
}

func TestTRESOfResources(t *testing.T) {
	require.Equal(t, ",license/matlab=2,license/ansys@db=1", asTRES("license/", []resource{{"matlab", "", 2}, {"ansys@db", "", 1}}))
	require.Equal(t, ",gres/nvme=100,gres/fpga:u280=1,gres/fpga:u50=2,gres/fpga=3",
		asTRES("gres/", []resource{{"nvme", "", 100}, {"fpga", "u280", 1}, {"fpga", "u50", 2}}))
	require.Empty(t, asTRES("gres/", nil))
}

// Whatever a list says, a script and a flag say the same with it.
func FuzzResources(f *testing.F) {
	for _, text := range []string{"gpu:a100:2,fpga:u50", "gpu=2", "nvme:2K", "gpu:1g.5gb", "none"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, list string) {
		var flags request
		byFlag := flags.setResources("", list, "")
		script, byScript := (&script{values: map[string]string{"gres": list}}).request()
		require.Equal(t, byFlag == nil, byScript == nil)
		if byFlag == nil {
			require.Equal(t, []any{flags.gpus, flags.gpuType, flags.gres}, []any{script.gpus, script.gpuType, script.gres})
		}
	})
}
