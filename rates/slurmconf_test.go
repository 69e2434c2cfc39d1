package rates_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rates"
	"hpcbill/rates/formula"
)

var importedFrom = rates.Date{Year: 2026, Month: 4, Day: 1}

const smallBlocks = `PartitionName=cpu
   AllowGroups=ALL AllowAccounts=bio,chem AllowQos=ALL
   AllocNodes=ALL Default=YES CpuBind=cores  QoS=N/A
   MaxNodes=UNLIMITED MaxTime=7-00:00:00 Hidden=NO
   Nodes=n[1-4]
   State=UP TotalCPUs=128 TotalNodes=4 JobDefaults=(null)
   DefMemPerCPU=4000 MaxMemPerNode=UNLIMITED
   TRES=cpu=128,mem=500G,node=4,billing=102
   TRESBillingWeights=CPU=0.8,Mem=0.102G

PartitionName=gpu
   Default=NO Hidden=YES
   Nodes=g[1-3]
   State=DOWN TotalCPUs=96 TotalNodes=3
   DefMemPerNode=UNLIMITED
   TRES=cpu=96,mem=1T,node=3,billing=40,gres/gpu=10,gres/gpu:A100=10
   TRESBillingWeights=GRES/gpu:a100=4,license/matlab@srv=2.50

PartitionName=free
   State=UP TotalCPUs=8 TotalNodes=1
   TRES=cpu=8,mem=16000M,node=1
   TRESBillingWeights=CPU=0

PartitionName=old
   State=DRAIN TotalCPUs=8 TotalNodes=0
   TRES=(null)
`

const smallQoS = "Name|Priority|UsageFactor|MaxWall\nnormal|0|1.000000|\nhigh|10|2.500000|1-00:00:00\nthird|0|0.333333|\nscavenger|0|0.000000|\nunset|0||\n"

// What a person gets: every partition with its facts, every thing that Slurm
// cannot know marked.
func TestImportCard(t *testing.T) {
	text, notes, err := rates.ImportCard("mine", []rates.ImportFile{{"part.txt", []byte(smallBlocks)}, {"qos.txt", []byte(smallQoS)}},
		rates.ImportOptions{From: importedFrom, Currency: "EUR", PriorityFlags: []string{"MAX_TRES"}})
	require.NoError(t, err)
	require.Equal(t, `# Imported from part.txt, qos.txt. It passes check and is not finished:
# what Slurm does not know stands beside the word decide.
card: mine
currency: EUR
source: scontrol show partition, sacctmgr show qos # decide: where the policy is published
versions:
  - from: 2026-04-01 # decide: the first day on which these rules hold; jobs of earlier days are held
    # What Slurm shows of the nodes of each partition, as if all of them were alike. Cores are CPUs as
    # Slurm counts them: hardware threads, where it counts those.
    hardware:
      cpu:
        match: {partition: cpu}
        cores: 32 # 128 CPUs on 4 nodes
        mem_gib: 125 # 512000 MiB on 4 nodes
        mem_per_core_gib: 3.90625 # DefMemPerCPU=4000
        tres_weights: "CPU=0.8,Mem=0.102G"
        priority_flags: [MAX_TRES]
      gpu:
        match: {partition: gpu}
        cores: 32 # 96 CPUs on 3 nodes
        # decide: the nodes are not alike, with 1048576 MiB, 10 GPUs on 3 nodes; where formulas need a node's
        # figures, write one entry for each node type, with a match that tells their jobs apart
        tres_weights: "GRES/gpu:a100=4,license/matlab@srv=2.50"
        priority_flags: [MAX_TRES]
      free:
        match: {partition: free}
        cores: 8
        mem_gib: 15.625
        tres_weights: "CPU=0"
        priority_flags: [MAX_TRES]
      old:
        match: {partition: old}
        tres_weights: "" # none: Slurm bills the allocated CPUs
        priority_flags: [MAX_TRES]
    meters:
      su: {unit: SU, price: "0.01"} # decide: the price of one SU; this one is a placeholder
    # decide: Slurm applies a UsageFactor to fair-share alone, never to what sacct and sreport show
    factor:
      - qos:
          high: 2.5
          third: 0.333333 # decide: Slurm shows six digits; a fraction such as 1/3 may be meant
          scavenger: 0 # decide: free of charge?
    rules: # the first that matches decides; a job that none matches is held
      # decide: these formulas are exact. Slurm cuts its figure to a whole number: slurm_billing
      # gives that from the weights, billing gives what Slurm recorded of each job.
      # State=UP, the default partition, Nodes=n[1-4]
      # MaxTime=7-00:00:00, AllowAccounts=bio,chem
      - {name: cpu, match: {partition: cpu}, charge: {su: "max(cpus*0.8, mem_gib*0.102)"}}
      # State=DOWN (starts no jobs), hidden, Nodes=g[1-3]
      - {name: gpu, match: {partition: gpu}, charge: {su: 'gpu("A100")*4 + tres("license/matlab@srv")*2.5'}}
      # State=UP
      # decide: every weight is 0: Slurm bills nothing
      - {name: free, match: {partition: free}, exclude: its TRESBillingWeights are 0}
      # State=DRAIN (takes no new jobs)
      - {name: old, match: {partition: old}, charge: {su: cpus}}
`, string(text))
	require.Equal(t, []string{
		"4 partitions, 5 QoS of which 3 have a UsageFactor other than 1",
		"not up: gpu (DOWN), old (DRAIN)",
		"hidden: gpu",
		`9 things to decide: look for "# decide:"`,
	}, notes)
	card, err := rates.LoadCard("mine.yaml", text)
	require.NoError(t, err)
	require.Empty(t, card.Warnings)
}

// ruleOf imports one partition and gives its rule with the comments above.
func ruleOf(t require.TestingT, weights string, flags []string, more string) string {
	text, _, err := rates.ImportCard("c", []rates.ImportFile{{"p", []byte("PartitionName=p State=UP TotalNodes=1 TotalCPUs=64 " + more + " TRESBillingWeights=" + weights + "\n")}},
		rates.ImportOptions{From: importedFrom, Currency: "USD", PriorityFlags: flags})
	require.NoError(t, err)
	_, rule, _ := strings.Cut(string(text), "# State=UP\n")
	return strings.TrimSpace(rule)
}

func TestImportFormulas(t *testing.T) {
	f := func(weights, flags, want string) {
		t.Helper()
		rule := ruleOf(t, weights, strings.Fields(flags), "")
		rule = strings.TrimPrefix(rule, "- {name: p, match: {partition: p}, ")
		require.Equal(t, want, strings.TrimSuffix(rule, "}"))
	}
	f("CPU=1.0,Mem=0.25G,GRES/gpu=2.0", "", `charge: {su: "cpus*1 + mem_gib*0.25 + gpus*2"}`)
	f("CPU=1.0,Mem=0.25G,GRES/gpu=2.0", "MAX_TRES", `charge: {su: "max(cpus*1, mem_gib*0.25, gpus*2)"}`)
	f("CPU=1.0,Mem=0.25G,GRES/gpu=2.0", "MAX_TRES_GRES", `charge: {su: "max(cpus*1, mem_gib*0.25) + gpus*2"}`)
	f("CPU=1,Node=40,license/x=3,bb/cray=1G", "MAX_TRES", `charge: {su: 'max(cpus*1, nodes*40) + tres("license/x")*3 + tres("bb/cray")*1/1024'}`)
	f("CPU=1", "MAX_TRES", `charge: {su: cpus}`)
	f("cpu=.5", "", `charge: {su: cpus*0.5}`)
	f("CPU=1.", "", `charge: {su: cpus}`)
	f("CPU=+2.e1", "", `charge: {su: cpus*20}`)
	f("CPU=1K", "", `charge: {su: cpus*1/1024}`)
	f("Mem=512T", "", `charge: {su: mem_gib*512/1024}`)
	f("Mem=512P", "", `charge: {su: mem_gib*512/1048576}`)
	f("CPU=0,Mem=0,GRES/gpu=8.0", "MAX_TRES", `charge: {su: gpus*8}`)
	f("GRES/gpu:h100_nvl=14,GRES/shard=0.5", "MAX_TRES", `charge: {su: 'max(gpu("h100_nvl")*14, tres("gres/shard")*0.5)'}`)
	f("Energy=0,CPU=2", "", `charge: {su: cpus*2}`)
}

func TestImportAsks(t *testing.T) {
	f := func(weights string, flags []string, more, want string) {
		t.Helper()
		require.Contains(t, ruleOf(t, weights, flags, more), want)
	}
	f("Mem=0.25", []string{}, "", "# decide: Mem=0.25 is per MiB; per GiB would be Mem=0.25G\n")
	f("CPU=1,CPU=2", nil, "", "# decide: CPU is listed twice: of 1 and 2 Slurm takes the later\n")
	f("CPU=1,Mem=1G", nil, "", "# decide: the weights as a sum, or the largest? PriorityFlags in slurm.conf tells: import with --priority-flags\n")
	f("CPU=1", nil, "TRES=cpu=64,node=1,billing=64,gres/gpu=4", "# decide: its 4 GPUs have no weight, and cost nothing\n")
	f("CPU=1,Mem=1G", nil, "TRES=cpu=64,mem=128G,node=1,billing=128",
		"# decide: Slurm shows billing=128 for the whole partition, and these weights give 192; they give it with --priority-flags MAX_TRES\n")
	f("CPU=1,Mem=1G", []string{"MAX_TRES"}, "TRES=cpu=64,mem=128G,node=1,billing=192",
		"# decide: Slurm shows billing=192 for the whole partition, and these weights give 128; as a sum they give it: without --priority-flags\n")
	f("CPU=1,Mem=1G", []string{"MAX_TRES"}, "TRES=cpu=64,mem=128G,node=1,billing=7", "billing=7 for the whole partition, and these weights give 128\n")
	// Where Slurm's own figure proves the sum, nothing is asked.
	require.NotContains(t, ruleOf(t, "CPU=1,Mem=1G", nil, "TRES=cpu=64,mem=128G,node=1,billing=192"), "decide")
	// Weights that are no formula are left to Slurm's own arithmetic.
	f("CPU=0.00000000000000000000000000000000000000000000001", nil, "", "# decide: as a formula the weights do not pass: not a decimal number")
	f("Mem=4000000", nil, "", "an invoice can hold\n      - {name: p, match: {partition: p}, charge: {su: slurm_billing}}")
}

// The formula of an imported card is Slurm's own computation but for its cut:
// on any counts the two differ by what doubles differ from decimals.
func TestImportedFormulaIsSlurms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := map[string]int64{}
		var weights []string
		for _, w := range []string{"CPU", "Mem", "Node", "GRES/gpu", "GRES/gpu:a100", "license/x"} {
			name := strings.ToLower(w)
			counts[name] = rapid.Int64Range(0, 1_000_000).Draw(t, name)
			if rapid.Bool().Draw(t, "weighted") {
				suffix := rapid.SampledFrom([]string{"", "K", "M", "G"}).Draw(t, "suffix")
				weights = append(weights, fmt.Sprintf("%s=%d.%02d%s", w, rapid.IntRange(0, 40).Draw(t, "whole"), rapid.IntRange(0, 99).Draw(t, "part"), suffix))
			}
		}
		slices.Sort(weights)
		flags := []string{rapid.SampledFrom([]string{"FAIR_TREE", "MAX_TRES", "MAX_TRES_GRES"}).Draw(t, "flags")}
		text, _, err := rates.ImportCard("c", []rates.ImportFile{{"p", []byte("PartitionName=p State=UP TRESBillingWeights=" + strings.Join(weights, ",") + "\n")}},
			rates.ImportOptions{From: importedFrom, PriorityFlags: flags})
		require.NoError(t, err)
		card, err := rates.LoadCard("c.yaml", text)
		require.NoError(t, err)
		v := card.Versions[0]
		trace, err := v.Hardware[0].SlurmBilling.Trace(func(tres string) (int64, bool) { return counts[tres], true })
		require.NoError(t, err)
		slurms, err := strconv.ParseFloat(trace.Double, 64)
		require.NoError(t, err)
		if v.Rules[0].Exclude != "" {
			require.Zero(t, slurms)
			return
		}
		values := &formula.Values{TRES: func(name string) (int64, bool) { n, ok := counts[name]; return n, ok }}
		for slot, name := range map[formula.Slot]string{formula.CPUs: "cpu", formula.MemoryMiB: "mem", formula.Nodes: "node", formula.GPUs: "gres/gpu"} {
			values.SetInt(slot, counts[name])
		}
		values.SetInt(formula.SlurmBilling, int64(slurms))
		x, err := v.Rules[0].Charges[0].Rate.Eval(values)
		require.NoError(t, err)
		ours, _ := x.Rat().Float64()
		if v.Rules[0].Charges[0].Rate.Text == "slurm_billing" {
			require.Contains(t, string(text), "as a formula the weights do not pass: a job of 10^6 nodes")
			return
		}
		require.InEpsilon(t, ours+1, slurms+1, 1e-12)
	})
}

const smallJSON = `{
  "partitions": [
    {
      "name": "cpu", "flags": ["DEFAULT", "HIDDEN"],
      "nodes": {"configured": "n[1-4]", "total": 4}, "cpus": {"total": 128, "task_binding": 0},
      "tres": {"billing_weights": "CPU=0.8,Mem=0.102G", "configured": "cpu=128,mem=500G,node=4,billing=102"},
      "partition": {"state": ["UP"]},
      "defaults": {"memory_per_cpu": -9223372036854771808, "partition_memory_per_cpu": {"set": true, "infinite": false, "number": 4000},
        "partition_memory_per_node": {"set": false, "infinite": false, "number": 0}},
      "maximums": {"time": {"set": true, "infinite": false, "number": 1505}, "nodes": {"set": false, "infinite": true, "number": 0},
        "cpus_per_node": {"set": false, "infinite": true, "number": 0}},
      "accounts": {"allowed": "bio,chem", "deny": ""}, "groups": {"allowed": ""}, "qos": {"allowed": "", "deny": "", "assigned": "part"}
    },
    {"name": "plain", "nodes": {"total": 2}, "cpus": {"total": 16}, "tres": {"billing_weights": "", "configured": ""},
      "partition": {"state": "INACTIVE"}, "defaults": {"partition_memory_per_cpu": "Infinity"}, "maximums": {"time": 60, "nodes": null}}
  ],
  "meta": {"slurm": {"release": "26.05.0"}}, "errors": [], "warnings": []
}
`

func TestImportJSON(t *testing.T) {
	text, notes, err := rates.ImportCard("mine", []rates.ImportFile{{"p.json", []byte(smallJSON)}},
		rates.ImportOptions{From: importedFrom, PriorityFlags: []string{"MAX_TRES"}})
	require.NoError(t, err)
	for _, want := range []string{
		"        cores: 32 # 128 CPUs on 4 nodes\n        mem_gib: 125 # 512000 MiB on 4 nodes\n        mem_per_core_gib: 3.90625 # DefMemPerCPU=4000\n",
		"      # State=UP, the default partition, hidden, Nodes=n[1-4]\n      # MaxTime=1-01:05:00, QoS=part, AllowAccounts=bio,chem\n",
		`{name: cpu, match: {partition: cpu}, charge: {su: "max(cpus*0.8, mem_gib*0.102)"}}`,
		"        cores: 8 # 16 CPUs on 2 nodes\n        tres_weights: \"\" #",
		"      # State=INACTIVE (takes and starts no jobs)\n      # MaxTime=01:00:00\n      - {name: plain, match: {partition: plain}, charge: {su: cpus}}\n",
		"currency: USD # decide: ",
	} {
		require.Contains(t, string(text), want)
	}
	require.Contains(t, notes, "p.json does not tell which partitions are hidden, nor which is the default")
}

func TestImportFaults(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		card, _, err := rates.ImportCard("mine", []rates.ImportFile{{"in", []byte(text)}}, rates.ImportOptions{From: importedFrom})
		require.Nil(t, card)
		var faults rates.Faults
		require.ErrorAs(t, err, &faults)
		got := []string{}
		for _, x := range faults {
			got = append(got, x.Error())
		}
		require.Equal(t, want, got)
	}
	const up = " State=UP TotalNodes=1 TotalCPUs=8"
	f("", "in: is empty")
	f("\n \n", "in: is empty")
	f("slurm_load_partitions error: Unable to contact slurm controller (connect failure)", "in:1: is an error message: slurm_load_partitions error: Unable to contact slurm controller (connect failure)")
	f("sacctmgr: error: slurmdbd: down\nName|UsageFactor\n", "in:1: is an error message: sacctmgr: error: slurmdbd: down")
	f("Partition gpu not found\n", "in:1: is an error message: Partition gpu not found")
	f("hello\n", `in:1: is nothing that can be imported: it begins with "hello"`)
	f("\n  Name   Priority  UsageFactor \n", "in:1: is cut to columns of fixed width")
	f("PartitionName=a"+up+"\nx\xff\n", "in:2: is not UTF-8")
	f("PartitionName=smp Nodes=ALL Default=YES\n", "in:1: smp: has no State")
	f("PartitionName=a"+up+"\nPartitionName=a"+up+"\n", "in:2: a: this partition was shown before, at in:1")
	f("PartitionName=a"+up+" State=DOWN\n", "in:1: State: is given twice, first on line 1")
	f("PartitionName=a\n   State=UP TotalNodes=many\n", "in:2: a.TotalNodes: \"many\" is not a count")
	f("PartitionName=a"+up+"\n   TRES=cpu=8,mem=12X,=3,node\n", "in:2: a.TRES: mem=12X is not a TRES such as cpu=4", "in:2: a.TRES: =3 is not a TRES such as cpu=4", "in:2: a.TRES: node is not a TRES such as cpu=4")
	f("PartitionName=a"+up+"\n   TRESBillingWeights=CPU=1,GPU=8\n", "in:2: a.TRESBillingWeights: GPU is not the type of a TRES (at character 7 of CPU=1,GPU=8)")
	f("PartitionName=a"+up+"\n   TRESBillingWeights=CPU=-1,Energy=1\n",
		"in:2: a.TRESBillingWeights: the weight -1 is negative: Slurm's billing would be no count (at character 5 of CPU=-1,Energy=1)",
		"in:2: a.TRESBillingWeights: Slurm does not know a job's energy when it computes billing, and bills a sentinel of 2^64 instead (at character 8 of CPU=-1,Energy=1)")
	f("PartitionName=a*"+up+"\nPartitionName=!b"+up+"\nPartitionName=a,b"+up+"\nPartitionName="+up+"\n",
		`in:1: PartitionName: its name "a*" would be a pattern in a card`, `in:2: PartitionName: its name "!b" would be a pattern in a card`,
		`in:3: PartitionName: its name "a,b" would be a list of names`, "in:4: PartitionName: has no name")
	f("PartitionName=a"+up+"\nstray\n\n   Key=1\n", "in:2: belongs to no partition: stray", "in:4: belongs to no partition:    Key=1")
	f("CLUSTER: one\nPartitionName=a"+up+"\nCLUSTER: two\nPartitionName=b"+up+"\n", "in:3: a second cluster begins here")
	f("PartitionName=a"+up+" =x\n", "in:1: =x is not Key=Value")

	f("Name|Priority\nnormal|0\n", "in:1: is not the header of  sacctmgr show qos -P: it has no column Name, or no UsageFactor")
	f("Name|UsageFactor\nnormal|1.000000\n", "no partition is shown: there is nothing to charge")
	f("Name|UsageFactor\na|1|2\nb|x\nc|-1\nc*|1\n|1\nd|1\nd|1\n",
		"in:2: has 3 columns, the header 2", `in:3: b: its UsageFactor is not a decimal number: "x"`, "in:4: c: its UsageFactor -1 is negative",
		`in:5: QoS: its name "c*" would be a pattern in a card`, "in:6: QoS: has no name", "in:8: d: this QoS was shown before, at in:7")

	f("{", "in:1: ends in the middle of its JSON")
	f("{\"a\": 1,\n \"partitions\": [{\"name\": \"x\"", "in:2: ends in the middle of its JSON")
	f("{\"a\":\n1 2}", "in:2: is not JSON: invalid character '2' after object key:value pair")
	f("{}", "in:1: is a JSON answer without partitions")
	f(`{"partitions": {}}`, "in:1: is not JSON: partitions is not a list")
	f("{\"partitions\": [\n {\"name\": \"a\", \"partition\": {\"state\": [\"UP\"]}},\n {\"name\": 7}]}", "in:3: partitions[1]: name is a number, which it is not in the JSON of Slurm 23.02 and later")
	f(`{"partitions": [{"name": "old", "nodes": "n[1-4]", "total_cpus": 8}]}`, "in:1: partitions[0]: nodes is a string, which it is not in the JSON of Slurm 23.02 and later")
	f("{\"partitions\": [],\n\"errors\": [{\"error\": \"no permission\", \"description\": \"x\"}]}", "in:2: errors: the answer is an error: no permission x")
	f(`{"partitions": []}`, "no partition is shown: there is nothing to charge")
}

func TestImportOptions(t *testing.T) {
	f := func(name string, o rates.ImportOptions, want string) {
		t.Helper()
		_, _, err := rates.ImportCard(name, []rates.ImportFile{{"p", []byte(smallBlocks)}}, o)
		require.EqualError(t, err, want)
		require.False(t, errors.As(err, &rates.Faults{}))
	}
	f("my card", rates.ImportOptions{From: importedFrom}, `"my card" is not a card's name: begin with a letter; then letters, digits, _ and -`)
	f("c", rates.ImportOptions{}, "the first day of the card is missing")
	f("c", rates.ImportOptions{From: importedFrom, Currency: "Euro"}, `"Euro" is not an ISO 4217 currency code such as USD`)
	f("c", rates.ImportOptions{From: importedFrom, PriorityFlags: []string{"MAXTRES"}}, `"MAXTRES" is not a flag of PriorityFlags: did you mean MAX_TRES?`)
}

// A factor that no formula can bear is said at the import.
func TestImportTooLarge(t *testing.T) {
	_, _, err := rates.ImportCard("c", []rates.ImportFile{{"p", []byte("PartitionName=p State=UP\n")}, {"q", []byte("Name|UsageFactor\nbig|1000000000\n")}},
		rates.ImportOptions{From: importedFrom})
	require.EqualError(t, err, "p: the card made of it does not pass check: a job of 10^6 nodes and 10 years would cost more than the 92233720368547758 USD that an invoice can hold")
}

// Names are the cluster's own: whatever they are, the card has them as they
// are, or none is made.
func TestImportHostileNames(t *testing.T) {
	for _, name := range []string{"no", "null", "7", "1e3", "0012", "a:b", "a#b", "{x}", "'q'", `"q"`, "é", "-", "~", "<<", "a'b\"c", "x\\n", "%", "@at", "\u2028"} {
		text, _, err := rates.ImportCard("c", []rates.ImportFile{{"p\n# card: x", []byte("PartitionName=" + name + " State=UP\n")}}, rates.ImportOptions{From: importedFrom})
		if name == "<<" {
			require.ErrorContains(t, err, "would be a pattern")
			continue
		}
		if name == "\u2028" {
			require.ErrorContains(t, err, "blank")
			continue
		}
		require.NoError(t, err, name)
		card, err := rates.LoadCard("c.yaml", text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, name, card.Versions[0].Rules[0].Name)
		require.Equal(t, name, card.Versions[0].Hardware[0].Name)
		facts := &rates.Facts{Values: &formula.Values{}}
		facts.Text[rates.Partition] = name
		rule, err := card.Versions[0].Select(facts)
		require.NoError(t, err)
		require.NotNil(t, rule, name)
	}
}

func FuzzImportCard(f *testing.F) {
	for _, seed := range []string{smallBlocks, smallQoS, smallJSON, "PartitionName=a State=UP TRES=mem=1.50T TotalNodes=2", "{\"partitions\":[{}]}", "CLUSTER: x\n"} {
		f.Add([]byte(seed), "MAX_TRES")
	}
	f.Fuzz(func(t *testing.T, text []byte, flag string) {
		files := []rates.ImportFile{{"base", []byte("PartitionName=zz State=UP\n")}, {"in", text}}
		options := rates.ImportOptions{From: importedFrom}
		if flag != "" {
			options.PriorityFlags = []string{"MAX_TRES"}
		}
		card, _, err := rates.ImportCard("c", files, options)
		if err != nil {
			var faults rates.Faults
			require.ErrorAs(t, err, &faults)
			require.NotEmpty(t, faults)
			return
		}
		again, _, err := rates.ImportCard("c", files, options)
		require.NoError(t, err)
		require.Equal(t, string(card), string(again))
		loaded, err := rates.LoadCard("c.yaml", card)
		require.NoError(t, err)
		v := loaded.Versions[0]
		require.Equal(t, len(v.Hardware), len(v.Rules))
		for i, h := range v.Hardware {
			require.Equal(t, h.Name, v.Rules[i].Name)
			require.NotNil(t, h.SlurmBilling)
		}
	})
}

// importShared imports files of real clusters.
func importShared(t *testing.T, flags []string, names ...string) (*rates.Card, []string) {
	t.Helper()
	var files []rates.ImportFile
	for _, name := range names {
		text, err := os.ReadFile("../../shared/data/" + name)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("external test data not present: " + name)
		}
		require.NoError(t, err)
		files = append(files, rates.ImportFile{Name: name, Text: text})
	}
	text, notes, err := rates.ImportCard("c", files, rates.ImportOptions{From: importedFrom, PriorityFlags: flags})
	require.NoError(t, err)
	card, err := rates.LoadCard("c.yaml", text)
	require.NoError(t, err)
	return card, notes
}

// Both forms of the lab's partitions give the same rules, and Slurm's own
// billing of each whole partition agrees with its weights.
func TestImportLab(t *testing.T) {
	blocks, notes := importShared(t, []string{"MAX_TRES"}, "slurm-lab/scontrol-partition.txt", "slurm-lab/qos.txt")
	require.Equal(t, "7 partitions, 3 QoS of which 0 have a UsageFactor other than 1", notes[0])
	require.Len(t, notes, 2, "nothing is closed or hidden, and no weight disagrees")
	lines, _ := importShared(t, []string{"MAX_TRES"}, "slurm-lab/scontrol-partition-oneline.txt")
	formulas := func(c *rates.Card) (list []string) {
		for _, r := range c.Versions[0].Rules {
			text := "exclude"
			if len(r.Charges) > 0 {
				text = r.Charges[0].Rate.Text
			}
			list = append(list, r.Name+" "+text)
		}
		return list
	}
	want := []string{
		"smp max(cpus*0.8, mem_gib*0.102)", "mpi max(cpus*1, mem_gib*0.093)", "htc max(cpus*1, mem_gib*0.128)",
		"high-mem max(cpus*1, mem_gib*0.0477)", "a100 gpus*8", "l40s gpus*8", "preempt exclude",
	}
	require.Equal(t, want, formulas(blocks))
	require.Equal(t, want, formulas(lines))

	_, notes = importShared(t, nil, "slurm-lab/scontrol-partition.txt")
	require.Contains(t, notes, "Slurm's own billing differs from these weights: smp; they give it with --priority-flags MAX_TRES, "+
		"mpi; they give it with --priority-flags MAX_TRES, htc; they give it with --priority-flags MAX_TRES")
}

func TestImportPublic(t *testing.T) {
	owens, notes := importShared(t, nil, "public/ood_core_owens_scontrol_partitions.txt", "public/gcm_sample-sacctmgr-qos.txt")
	require.Len(t, owens.Versions[0].Rules, 15)
	require.Equal(t, []string{"15 partitions, 5 QoS of which 0 have a UsageFactor other than 1", "not up: batch (INACTIVE)", "hidden: quick"}, notes[:3])
	for _, h := range owens.Versions[0].Hardware {
		if h.Name == "hugemem" {
			require.Equal(t, "48 1492.96875 31.103515625", fmt.Sprint(h.Cores, " ", h.MemoryGiB, " ", h.MemoryPerCoreGiB))
		}
	}
	zabbix, notes := importShared(t, nil, "public/zabbix-slurm_scontrol_show_partition.txt")
	require.Len(t, zabbix.Versions[0].Rules, 3)
	require.Equal(t, "4", zabbix.Versions[0].Hardware[1].GPUs.String())
	require.Contains(t, notes, "not up: debug (INACTIVE)")
}
