package rates_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
)

const cardWithoutMistakes = `card: mycluster
currency: EUR
source: somewhere
versions:
  - from: 2026-01-01
    hardware:
      gpu: {match: {partition: "gpu*"}, cores: 64, mem_gib: 512, gpus: 4}
      cpu: {cores: 64, mem_gib: 256}
    let:
      cores: max(cpus, mem_gib/mem_per_core_gib)
    meters:
      su: {unit: SU, price: "0.012"}
      gpu_hours: {unit: GPU-hour, price_by: class, price: {internal: "0.5", "*": "1"}}
    factor:
      - {qos: {high: 2, low: 0.5}}
    states:
      charge: [COMPLETED, FAILED, TIMEOUT, CANCELLED]
      exclude: {NODE_FAIL: the node failed}
    rules:
      - {name: gpu, match: {partition: "gpu*"}, charge: {gpu_hours: gpus}}
      - {name: all, charge: {su: cores}}
`

// Whoever writes a card for the first time makes one mistake. The first fault
// is at its place, says what is wrong, and what to write instead.
func TestMistakes(t *testing.T) {
	f := func(right, wrong, place, message, hint string) {
		t.Helper()
		require.Contains(t, cardWithoutMistakes, right)
		text := strings.Replace(cardWithoutMistakes, right, wrong, 1)
		_, err := rates.LoadCard("c.yaml", []byte(text))
		require.Error(t, err)
		var found []string
		for _, fault := range err.(interface{ Unwrap() []error }).Unwrap() {
			found = append(found, fault.Error()+" | "+fault.(interface{ Hint() string }).Hint())
		}
		for _, line := range found {
			if strings.HasPrefix(line, "c.yaml:"+place+": ") && strings.Contains(line, message) && strings.HasSuffix(line, " | "+hint) {
				return
			}
		}
		require.Fail(t, "not among the faults", "%s: %s | %s\n%s", place, message, hint, strings.Join(found, "\n"))
	}
	all := "su: cores}"
	gpu := `match: {partition: "gpu*"}, charge`

	// Keys.
	f("versions:", "version:", "4:1", `unknown key "version"`, "did you mean versions?")
	f("from:", "form:", "5:5", `unknown key "form"`, "did you mean from?")
	f("hardware:", "hardwares:", "6:5", `unknown key "hardwares"`, "did you mean hardware?")
	f("let:", "lets:", "9:5", `unknown key "lets"`, "did you mean let?")
	f("unit: SU", "units: SU", "12:12", `unknown key "units"`, "did you mean unit?")
	f("rules:", "rule:", "19:5", `unknown key "rule"`, "did you mean rules?")
	f("charge: {su", "charges: {su", "21:21", `unknown key "charges"`, "did you mean charge?")
	f(gpu, `match: {node_list: n1}, charge`, "20:29", `unknown key "node_list"`, "did you mean node_name?")
	f(gpu, `match: {name: vasp}, charge`, "20:29", `unknown key "name"`, "did you mean job_name?")
	f(gpu, `match: {memory: "> 5"}, charge`, "20:29", `unknown key "memory"`, "did you mean mem_gib?")
	f(gpu, `match: {partiton: x}, charge`, "20:29", `unknown key "partiton"`, "did you mean partition?")
	f(`partition: "gpu*"}, cores`, `partiton: "gpu*"}, cores`, "7:21", `unknown key "partiton"`, "did you mean partition?")
	f("- {qos:", "- {qoss:", "15:10", `unknown key "qoss"`, "did you mean qos?")
	f("unit: SU", "unit SU", "12:12", `unknown key "unit SU"`, "a colon is missing: write  unit: SU")
	f("name: all", "name:\u00a0all", "21:10", "unknown key", "a space in it is a non-breaking one: write a plain one")
	f("source: somewhere", "source: somewhere\nsource: elsewhere", "4:1", "is given twice, first on line 3", "keep one of the two")
	f("gpu_hours: {unit", "su: {unit", "13:7", "is given twice, first on line 12", "keep one of the two")
	f(`price: {internal: "0.5", "*": "1"}`, "price: [{label: a, b, price: 1}]", "13:71", `unknown key "b"`, "put the text before it in quotes: a comma ends a value inside { }")

	// Where things stand.
	f("    rules:", "   rules:", "19:4", "is indented by 3 spaces, as nothing beside it is", "indent it exactly like the keys that it belongs with")
	f("    meters:", "      meters:", "11:7", "is a key of the version, and stands under let:", "indent it, and what belongs to it, no further than let:")
	f("    meters:", "\tmeters:", "11:1", "a tab indents this line", "indent with spaces")
	f("    rules:", "\trules:", "19:1", "a tab indents this line", "indent with spaces")
	f("  - from: 2026-01-01\n", "    from: 2026-01-01\n", "5:5", "is not a list", "begin each entry with a dash, or write [a, b]")
	f("[COMPLETED, FAILED, TIMEOUT, CANCELLED]", "{COMPLETED: yes}", "17:15", "is not a single value", "write one value, not keys of its own")

	// The text of the file.
	f("somewhere", "some\xe4", "3:13", "the byte 0xe4 is not UTF-8", "save the file as UTF-8")
	f("somewhere", "some\x00", "3:13", "has the control character 0x0", "remove it")
	f(`"0.012"`, `"0.012`, "12:29", "a { } or [ ] that begins here is not closed, or lacks a comma", "look for a lost quote, comma, } or ]")
	f("cpu: {cores", "cpu: {<<: *gpu, cores", "8:17", "*gpu refers to no &gpu above it", `a text that begins with * stands in quotes: "*gpu"`)
	f(gpu, "match: {gpus: > 0}, charge", "20:35", "a text begins with a sign that means something else in YAML", "put a text that begins with one of > @ % ` | in quotes: \"> 128\"")

	// Numbers.
	f(`"0.012"`, `"1,000"`, "12:29", "not a decimal number", "write 1000, or with a point 1.000, whichever is meant")
	f(`"0.012"`, `"12,000.50"`, "12:29", "not a decimal number", "write 12000.50")
	f(`"0.012"`, `"1,000,000"`, "12:29", "not a decimal number", "write 1000000")
	f(`"0.012"`, `"1.000,50"`, "12:29", "not a decimal number", "write 1000.50")
	f(`"0.012"`, `"10k"`, "12:29", "not a decimal number", "write 10000")
	f(`"0.012"`, `"0,012"`, "12:29", "not a decimal number", "write it with a point: 0.012")
	f(`"0.012"`, `"0.012 EUR"`, "12:29", "not a decimal number", "write the number alone, without its unit: 0.012")
	f(`"0.012"`, "\u201c0.012\u201d", "12:29", "not a decimal number", "write straight quotes, or none")
	f(`"0.012"`, `"0.01234567890123456"`, "12:29", "has more than 13 digits after the point", "shorten it, or write the division into the formula: 1/7")
	f(`"0.012"`, `"-0.012"`, "12:29", "-0.012 is negative", "a credit is an adjustment, not a price")
	f(`"0.012"`, `"999999999.0000000000001"`, "21:30", "a job of 10^6 nodes and 10 years would cost more than", "look for a coefficient or a price that is far too large")
	f("mem_gib: 256", "mem_gib: 256G", "8:33", "not a decimal number", "write the number alone, without its unit: 256")
	f("low: 0.5", "low: 50%", "15:30", "not a decimal number", "write it as a fraction of one: 0.5")
	f(`, price: "0.012"}`, "}", "12:7", "has no price", "add  price: 0  if it is counted and costs nothing")
	f("2026-01-01", "01.01.2026", "5:11", "is not a date such as 2026-03-31", "write year-month-day, a day that exists")

	plain := "12:29"
	f(`"0.012"`, "1_000", plain, `not a decimal number: "1_000"`, "write 1000")
	f(`"0.012"`, "1 000", plain, `not a decimal number: "1 000"`, "write 1000")
	f(`"0.012"`, ".5", plain, `not a decimal number: ".5"`, "write 0.5")
	f(`"0.012"`, "1.", plain, `not a decimal number: "1."`, "write 1")
	f(`"0.012"`, "+1", plain, `not a decimal number: "+1"`, "write 1")
	f(`"0.012"`, "€5", plain, `not a decimal number: "€5"`, "write the number alone, without its unit: 5")
	f(`"0.012"`, "1/7", plain, `not a decimal number: "1/7"`, "only factors are quotients: write its first 13 digits, or the division into the formula")
	f(`"0.012"`, "0x10", plain, `not a decimal number: "0x10"`, "write a plain decimal such as 0.012")
	f(`"0.012"`, "1:30", plain, `not a decimal number: "1:30"`, "write a plain decimal such as 0.012")
	f(`"0.012"`, "010", plain, "010 begins with a 0", "write the number without it")
	f("low: 0.5", "low: -1", "15:30", "-1 is negative", "write 0 or more")
	f("low: 0.5", "low: 1/0", "15:32", "divides by 0", "")
	f("low: 0.5}", "low: 0.5}, else: held", "15:42", `unknown choice "held"`, "write hold, or a number")
	f("mem_gib: 256", "mem_gib: 2TB", "8:33", `not a decimal number: "2TB"`, "write it in GiB: 2048")
	f("cores: 64, mem_gib: 256", "cores: 6.4, mem_gib: 256", "8:20", "6.4 is no whole number", "write how many one node has; a weight belongs into the formula")

	// Formulas.
	f(all, "su: coers}", "21:34", "unknown name coers", "did you mean cores?")
	f(all, "sus: cores}", "21:30", "unknown meter sus", "did you mean su?")
	f(all, "su: gpu_hours}", "21:34", "gpu_hours is a meter, and no figure", "charge it by a formula of its own; a formula for several meters is a figure of let:")
	f(all, "su: partition}", "21:34", "partition is matched, and is no number", "write a rule with a match:, or a factor by it")
	f(all, "su: memory}", "21:34", "unknown name memory", "did you mean mem_gib?")
	f("max(cpus", "maximum(cpus", "10:14", "unknown function maximum", "did you mean max?")
	f(all, "su: elapsed_h + mem_gib}", "21:46", "elapsed_h (hours) and mem_gib (GiB) are not the same kind of figure", "hours go only with hours: multiply both sides by the time, or neither")
	f(all, "su: cores*elapsed_h}", "21:34", "a rate is units an hour, and this has hours in it already", "leave the hours out: they are multiplied in; or write it as units:, or with per: job")
	f(all, "su: cores/gpus}", "21:40", "gpus can be 0, and divides", "write max(gpus, 1), or choose(gpus > 0, …/gpus, 0)")
	f(all, "su: max(cpus, 4)}", "21:42", "a parenthesis is not closed", `close it; in YAML, quote a formula that has a comma: "max(a, b)"`)
	f(all, `su: "cpus > 4 ? 2 : 1"}`, "21:44", `"?" is not part of a formula`, "write choose(condition, a, b)")
	f(all, `su: "choose(cpus = 4, 1, 2)"}`, "21:47", "expected '==', found '='", "compare with ==")
	f(all, `su: "cpus*0,8"}`, "21:41", "a comma stands outside the parentheses of a function", "a decimal has a point: 0.8; operands stand in parentheses: max(a, b)")
	f("gpu_hours: gpus}", "gpu_hours: gpu(a100)}", "20:69", "gpu wants one name in double quotes", `write gpu("a100") or tres("license/matlab")`)

	f(all, `su: 'tres("energy")/3600000'}`, "21:34", `a rate is units an hour, and tres("energy") is what the whole job used`, "write it as units:, or with per: job")
	f(all, `su: 'gpu("gpu:a100")'}`, "21:35", `gpu("gpu:a100") has more than the type`, `write gpu("a100")`)
	f(all, "su: -cores}", "21:34", "is always below 0: every job would be held", "a credit is an adjustment, not a charge")

	// Rules, states, versions.
	f("name: all", "name: gpu", "21:9", "a rule on line 20 is called gpu too", "give each rule a name of its own: charges are explained by it")
	f(gpu, "charge", "21:9", "all can never match: gpu on line 20 comes first and matches all of it", "put the narrower rule first")
	f("NODE_FAIL:", "NODEFAIL:", "18:17", "NODEFAIL is not a state of Slurm's", "did you mean NODE_FAIL?")
	f(gpu, "match: {gpus: many}, charge", "20:35", "not a decimal number", "write a number, a range such as 2..8 or a comparison such as > 128")
	f(gpu, `match: {partition: "> 0"}, charge`, "20:40", `"> 0" compares a text`, "partition is a text: write a value or a glob such as gpu*")
	f("price_by: class, price: {internal", "price_by: node_type, price: {gpuu", "13:64", "no hardware: entry has the type gpuu", "did you mean gpu?")
	match := func(wrong, message, hint string) {
		t.Helper()
		f(gpu, "match: {"+wrong+"}, charge", "20:"+strconv.Itoa(28+strings.Index(wrong, ": ")+2+1), message, hint)
	}
	match(`partition: "gpu1,gpu2"`, "no partition has a comma", "write a list: [gpu1, gpu2]")
	match(`partition: "gpu1|gpu2"`, `"gpu1|gpu2" is the name of no partition, and only * and ? stand for other letters`, "write a glob such as gpu*, or a list [gpu1, gpu2]")
	match(`qos: "^high"`, `"^high" is the name of no qos`, "write a glob such as gpu*, or a list [gpu1, gpu2]")
	match(`partition: "gpu[12]"`, `"gpu[12]" is the name of no partition`, "write a glob such as gpu*, or a list [gpu1, gpu2]")
	match("gpu_type: none", "none is no type of GPU", "write  gpus: 0  for jobs without GPUs")
	match(`node_name: "n[1"`, `"n[1" lacks its closing bracket`, "write names, a glob such as gpu-*, or Slurm's short form: n[01-12]")
	match(`node_name: "n[00001-99999]"`, "lists more than 4096 nodes", "write a glob such as gpu-*")
	match(`state: "COMPLTE*"`, "COMPLTE* is not a state of Slurm's", "did you mean COMPLETED?")
	match(`cpus: "1-8"`, `not a decimal number: "1-8"`, "write a range with two points: 1..8")
	match("cpus: 8+", `not a decimal number: "8+"`, `write ">= 8"`)
	match("cpus: ≥8", `not a decimal number: "≥8"`, `write ">= 8"`)
	match(`cpus: "> 8, < 16"`, `not a decimal number`, `write "> 8 && < 16"`)
	match(`mem_gib: "> 16G"`, `not a decimal number: "16G"`, "write a number, a range such as 2..8 or a comparison such as > 128; mem_gib is memory allocated, GiB")
	match("elapsed_h: 1:30", `not a decimal number: "1:30"`, "write a number, a range such as 2..8 or a comparison such as > 128; elapsed_h is hours run, without suspension")
	match(`elapsed_h: "> 1/0"`, "1/0 divides by 0", "write a number, a range such as 2..8 or a comparison such as > 128")
	match(`elapsed_h: "> 1/h"`, `not a decimal number: "h"`, "write a number, a range such as 2..8 or a comparison such as > 128; elapsed_h is hours run, without suspension")
	match(`reservation: "!*"`, "refuses every reservation, and none as well", `write "!?*" for jobs without one`)
	match("nodes: 1.5", "no job has nodes 1.5", "it is nodes allocated")
	match("cpus: 0", "no job has cpus 0", "it is CPUs allocated")
	match(`gpus: "< 0"`, "no job has gpus < 0", "it is GPUs allocated")
	match("hour: 22..6", "the range 22..6 is empty", "over midnight write [22..23, 0..6]")
	match("start: 0226-07-01", `"0226-07-01" is not a date`, "write a day such as 2026-03-31, 2026-03-01..2026-03-31 or >= 2026-03-01")
	f("[COMPLETED, FAILED, TIMEOUT, CANCELLED]", "all", "17:15", "all is not a state of Slurm's", `write "*" for every state`)

	f(`su: {unit: SU, price: "0.012"}`, "su: {unit: SU, price_by: filesystem, price: {home: 1}}", "21:30", "a job has no filesystem, by which su is priced", `give it a meter of its own, or the table a row  "*": …`)

	// What is printed, and what frees jobs.
	free := "charge: {su: cores}"
	f(free, "exclude: no", "21:30", `"no" is no reason, and whatever stands here frees the jobs`, "remove the key, if they are to be charged")
	f(free, "exclude: true", "21:30", `"true" is no reason`, "say why in words: they are printed")
	f("NODE_FAIL: the node failed", "NODE_FAIL: yes", "18:28", `"yes" is no reason`, "say why in words: they are printed")
	f("unit: SU", `unit: "S\tU"`, "12:18", "has the character U+0009, which cannot be printed in a line", "remove it")
	f("unit: SU", `unit: "\u202eSU"`, "12:18", "has the character U+202E, which cannot be printed in a line", "remove it")
	f("unit: SU", `unit: " "`, "12:18", "is blank", "write what is to be printed")
	f("name: all", "name: "+strings.Repeat("x", 101), "21:16", "has 101 characters", "write at most 100; a note: may be longer")
	f(`su: {unit: SU, price: "0.012"}`, "su: {}", "12:7", "has no price", "add  price: 0  if it is counted and costs nothing")
	f(`su: {unit: SU, price: "0.012"}`, "su: {<<: 5}", "12:16", "merges what is not a mapping", "write  <<: *name  of one that &name marks above")
	f("- {qos: {high: 2, low: 0.5}}", "- {}", "15:9", "names no field", "write  - {qos: {high: 2, low: 0.5}}")

	f("  - from: 2026-01-01", "  - from: 2025-06-01\n    until: 2026-03-01\n    meters: {su: {unit: SU, price: 1}}\n    rules: [{name: all, charge: {su: cpus}}]\n  - from: 2026-01-01",
		"9:5", "the version from 2026-01-01 overlaps the one on line 5, which holds until 2026-03-01", "let that one end at the latest on 2026-01-01, or remove its until:")
}

// Under bill_by: usage each part of a job is rated by itself. What the whole
// job has once must not be charged in each of them; what is rounded is warned
// of.
func TestChargesOfParts(t *testing.T) {
	f := func(charge, fault, warning string) {
		t.Helper()
		text := strings.Replace(cardWithoutMistakes, "su: cores}", "su: "+charge+"}", 1)
		text = strings.Replace(text, "    factor:\n      - {qos: {high: 2, low: 0.5}}\n", "", 1)
		text = strings.Replace(text, "charge: [COMPLETED,", "charge: [RUNNING, SUSPENDED, COMPLETED,", 1)
		card, err := rates.LoadCard("c.yaml", []byte(strings.Replace(text, "source: somewhere", "bill_by: usage", 1)))
		if fault != "" {
			require.ErrorContains(t, err, fault)
			return
		}
		require.NoError(t, err)
		warnings := butUnused(card.Warnings)
		if warning == "" {
			require.Empty(t, warnings, charge)
			return
		}
		require.Len(t, warnings, 1, charge)
		require.Contains(t, warnings[0].Error(), warning)
		_, err = rates.LoadCard("c.yaml", []byte(text))
		require.NoError(t, err, "whole jobs may be charged so")
	}
	once := "bill_by: usage cuts jobs, and each part would be charged what the whole job has once"
	rounds := "bill_by: usage cuts jobs, and this rounds each part"
	f("cores", "", "")
	f("{rate: cores, duration: elapsed_h + suspended_h}", "", "")
	f("{rate: 2, per: job}", "", "")
	f("{units: cpus*elapsed_h, amount: units*price*1.5}", "", "")
	f("{rate: cpus, duration: timelimit_h}", "duration: "+once, "")
	f("{rate: cpus, duration: 0.7*elapsed_h + 0.1*timelimit_h}", "duration: "+once, "")
	f(`{units: 'tres("energy")/3600000'}`, "units: "+once, "")
	f("{units: cpus*elapsed_h, amount: units*price + 1}", "amount: "+once, "")
	f(`{rate: "max(cpus*elapsed_h, 1)", per: job}`, "this would see only the time of a job's last part", "")
	f("{rate: cpus, duration: ceil(elapsed_h)}", "", "duration: "+rounds)
	f(`{rate: cpus, units: "round(rate*duration, 2)"}`, "", "units: "+rounds)
	f(`{rate: cpus, amount: "max(units*price, 0.01)"}`, "", "amount: "+rounds)
}

// Jobs that run on are billed by usage, in states that are no end states.
func TestStatesOfJobsThatRunOn(t *testing.T) {
	f := func(billBy, states, warning string) {
		t.Helper()
		text := strings.Replace(cardWithoutMistakes, "source: somewhere", "bill_by: "+billBy, 1)
		before, after := strings.Index(text, "    states:\n"), strings.Index(text, "    rules:\n")
		text = text[:before] + "    states: " + states + "\n" + text[after:]
		card, err := rates.LoadCard("c.yaml", []byte(text))
		require.NoError(t, err)
		if warning == "" {
			require.Empty(t, card.Warnings)
			return
		}
		require.Len(t, card.Warnings, 1)
		require.Contains(t, card.Warnings[0].Error(), "states: does not list "+warning+", and bill_by: usage bills")
	}
	f("end", "{charge: COMPLETED}", "")
	f("usage", "{charge: COMPLETED}", "RUNNING and SUSPENDED")
	f("usage", "{charge: [COMPLETED, RUNNING]}", "SUSPENDED")
	f("usage", "{charge: [RUNNING, SUSPENDED]}", "")
	f("usage", `{charge: COMPLETED, exclude: {"*": failed}}`, "")
}

// What is no mistake: a byte order mark, and the line ends of Windows.
func TestNoMistakes(t *testing.T) {
	for _, text := range []string{cardWithoutMistakes, "\ufeff" + cardWithoutMistakes, strings.ReplaceAll(cardWithoutMistakes, "\n", "\r\n")} {
		c, err := rates.LoadCard("c.yaml", []byte(text))
		require.NoError(t, err)
		require.Empty(t, c.Warnings)
	}
}

// Storage is prorated once.
func TestDaysThatAreProrated(t *testing.T) {
	f := func(rule, message string) {
		t.Helper()
		text := cardWithoutMistakes + "    storage: [{name: home, " + rule + "}]\n"
		_, err := rates.LoadCard("c.yaml", []byte(strings.Replace(text, "      su: {", "      disk: {unit: TB-month, price: 5}\n      su: {", 1)))
		if message == "" {
			require.NoError(t, err)
			return
		}
		require.ErrorContains(t, err, message)
	}
	twice := "counts days, and prorate: day multiplies by days/month_days"
	f("charge: {disk: quota_tb*days/month_days}", twice)
	f("prorate: day, charge: {disk: {rate: days}}", twice)
	f("prorate: none, charge: {disk: quota_tb*days/month_days}", "")
	f("charge: {disk: {units: quota_tb*days/month_days}}", "")
	f("charge: {disk: quota_gb}", "unknown name quota_gb")
}

// A fact that some of the hardware lacks is missed when the card is read, not
// when its first job is held.
func TestMissingFacts(t *testing.T) {
	f := func(wrong, right, want string) {
		t.Helper()
		c, err := rates.LoadCard("c.yaml", []byte(strings.Replace(cardWithoutMistakes, wrong, right, 1)))
		require.NoError(t, err)
		warnings := butUnused(c.Warnings)
		if want == "" {
			require.Empty(t, warnings, right)
			return
		}
		require.Len(t, warnings, 1, right)
		require.Equal(t, want, warnings[0].Error())
	}
	lacks := "c.yaml:8:7: versions[0].hardware.cpu: does not give node_gpus, which the rule all on line 21 needs: jobs on it are held"
	f("su: cores}", "su: cpus + node_gpus}", lacks)
	f("mem_gib/mem_per_core_gib", "mem_gib/mem_per_core_gib, node_gpus*2", lacks)
	f("su: cores}", `su: "choose(gpus > 0, node_gpus, cpus)"}`, "")
	f("su: cores}", `su: "first(gpus, node_gpus)"}`, "")
	f("su: cores}", "su: cpus + node_cores}", "")
	f("cores: 64, mem_gib: 512, gpus: 4", "cores: 64, gpus: 4", "") // the rule gpu takes its jobs

	// A rule that asks for the jobs of some hardware has that hardware's facts.
	rule := func(match, formula, want string) {
		t.Helper()
		f(`match: {partition: "gpu*"}, charge: {gpu_hours: gpus}}`, "match: "+match+", charge: {gpu_hours: "+formula+"}}", want)
	}
	gpu := "c.yaml:7:7: versions[0].hardware.gpu: does not give threads, which the rule gpu on line 20 needs: jobs on it are held"
	cpu := "c.yaml:8:7: versions[0].hardware.cpu: does not give node_gpus, which the rule gpu on line 20 needs: jobs on it are held"
	f("cores: 64, mem_gib: 256}", "cores: 64, mem_gib: 256, threads: 2}", "")
	rule(`{partition: "gpu*"}`, "node_gpus", "")
	rule("{partition: [a, b]}", "node_gpus", cpu)       // they run on cpu
	rule("{partition: gpu1, cpus: 4}", "node_gpus", "") // on gpu
	rule("{node_type: cpu}", "node_gpus", cpu)
	rule("{qos: high}", "node_gpus", cpu) // on either
	c, err := rates.LoadCard("c.yaml", []byte(strings.NewReplacer("mem_gib: 256}", "mem_gib: 256, threads: 2}", "gpu_hours: gpus}", "gpu_hours: gpus*threads}").Replace(cardWithoutMistakes)))
	require.NoError(t, err)
	require.Equal(t, gpu, c.Warnings[0].Error())
}

// A table of prices by numbers or dates has a row for the rest, too.
func TestRestOfATable(t *testing.T) {
	f := func(factor string, warnings int) {
		t.Helper()
		c, err := rates.LoadCard("c.yaml", []byte(strings.Replace(cardWithoutMistakes, "qos: {high: 2, low: 0.5}", factor, 1)))
		require.NoError(t, err)
		require.Len(t, c.Warnings, warnings)
	}
	f(`cpus: {1..8: 1, "*": 2}`, 0)
	f(`hour: {0..6: 0.5, "*": 2}`, 0)
	f(`start: {2026-07-01..2026-08-31: 0.5, "*": 2}`, 0)
	f(`weekday: {sat..sun: 0.5, "*": 2}`, 0)
	_, err := rates.LoadCard("c.yaml", []byte(strings.Replace(cardWithoutMistakes, "qos: {high: 2, low: 0.5}", `cpus: {"*": 2, 1..8: 1}`, 1)))
	require.ErrorContains(t, err, "1..8 is never reached")
}

// What may be meant is warned of.
func TestDurationThatIsNone(t *testing.T) {
	c, err := rates.LoadCard("c.yaml", []byte(strings.Replace(cardWithoutMistakes, "su: cores}", "su: {rate: cores, duration: 15}}", 1)))
	require.NoError(t, err)
	require.Len(t, c.Warnings, 1)
	require.Contains(t, c.Warnings[0].Error(), "duration: counts the same hours for every job, however long it ran")
	c, err = rates.LoadCard("c.yaml", []byte(strings.NewReplacer(
		"    meters:", "      least: max(elapsed_h, 0.25)\n    meters:", "su: cores}", "su: {rate: cores, duration: least}}").Replace(cardWithoutMistakes)))
	require.NoError(t, err)
	require.Empty(t, c.Warnings, "a figure of the card has the time in it")
}

// butUnused leaves out the figure of cardWithoutMistakes, where a test has another
// formula in the place of the one that uses it.
func butUnused(warnings rates.Faults) rates.Faults {
	return slices.DeleteFunc(warnings, func(w rates.Fault) bool { return w.Message == "no formula uses this figure" })
}

// A figure that nothing uses, and a step that changes nothing, were meant to do
// something.
func TestWhatDoesNothing(t *testing.T) {
	f := func(right, wrong, want string) {
		t.Helper()
		c, err := rates.LoadCard("c.yaml", []byte(strings.Replace(cardWithoutMistakes, right, wrong, 1)))
		require.NoError(t, err)
		var found []string
		for _, w := range c.Warnings {
			found = append(found, w.Error())
		}
		require.Equal(t, want, strings.Join(found, "; "))
	}
	f("su: cores}", "su: cpus}", "c.yaml:10:7: versions[0].let.cores: no formula uses this figure")
	f("      cores:", "      of_gpus: cpus/2\n      cores:", "c.yaml:10:7: versions[0].let.of_gpus: no formula uses this figure")
	f(`price: "0.012"`, `tiers: {mode: volume, window: month, steps: [{above: 0, price: 2}, {above: 9, price: 2}, {above: 99, price: 1}]}`,
		"c.yaml:12:89: versions[0].meters.su.tiers.steps: above 9 the price is that of the step before")
}

// A duration in minutes is sixty times too long, one in days too short.
func TestDurationInAnotherUnit(t *testing.T) {
	f := func(duration, unit, want string) {
		t.Helper()
		c, err := rates.LoadCard("c.yaml", []byte(strings.NewReplacer("su: cores}", `su: {rate: cores, duration: "`+duration+`"}}`, "unit: SU", "unit: "+unit).Replace(cardWithoutMistakes)))
		require.NoError(t, err)
		var found []string
		for _, w := range c.Warnings {
			found = append(found, w.Message)
		}
		require.Equal(t, want, strings.Join(found, "; "))
	}
	f("ceil(elapsed_h*60)", "SU", "is in minutes, and is taken for hours")
	f("max(5, ceil(elapsed_h*60))", "core-hour", "is in minutes, and is taken for hours")
	f("elapsed_h*3600", "core-hour", "is in seconds, and is taken for hours")
	f("ceil(elapsed_h/24)", "SU", "is in days, and is taken for hours")
	f("ceil(elapsed_h*60)", "core-minute", "")
	f("ceil(elapsed_h/24)", "node-day", "")
	f("ceil(elapsed_h*60)/60", "SU", "")
	f("step(elapsed_h, 24)", "SU", "")
	f("0.7*elapsed_h + 0.1*timelimit_h", "SU", "")
	f("min(elapsed_h, 24) + max(0, elapsed_h - 24)/2", "SU", "")
	f("timelimit_h", "SU", "")
	f("choose(gpus > 0, elapsed_h*60, elapsed_h*60)", "SU", "is in minutes, and is taken for hours")
}

// A job without GPUs has no price by the type of its GPUs.
func TestGPUsForAll(t *testing.T) {
	f := func(rules, price, want string) {
		t.Helper()
		c, err := rates.LoadCard("c.yaml", []byte("card: c\ncurrency: EUR\nversions:\n  - from: 2026-01-01\n    meters:\n"+
			"      core_hours: {unit: core-hour, price: 1}\n      gpu_hours: {unit: GPU-hour, price_by: gpu_type, price: {"+price+"}}\n    rules:\n"+rules))
		require.NoError(t, err)
		var found []string
		for _, w := range c.Warnings {
			found = append(found, w.Error())
		}
		require.Equal(t, want, strings.Join(found, "; "))
	}
	all := "      - {name: all, charge: {core_hours: cpus, gpu_hours: gpus}}\n"
	f(all, "a100: 2, h100: 5", "c.yaml:9:48: versions[0].rules[0].charge.gpu_hours: jobs without GPUs have no type of GPU, by which this is priced: they are held")
	f(all, `a100: 2, "*": 5`, "")
	f("      - {name: cpu, match: {gpus: 0}, charge: {core_hours: cpus}}\n"+all, "a100: 2", "")
	f("      - {name: gpu, match: {gpus: \"> 0\"}, charge: {gpu_hours: gpus}}\n      - {name: cpu, charge: {core_hours: cpus}}\n", "a100: 2", "")
	f("      - {name: gpu, match: {partition: gpu}, charge: {gpu_hours: gpus}}\n      - {name: cpu, charge: {core_hours: cpus}}\n", "a100: 2", "")
}
