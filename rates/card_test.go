package rates_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
)

const cardsDir = "../testdata/rates"

func loadCard(t testing.TB, file string) (*rates.Card, error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cardsDir, file))
	require.NoError(t, err)
	return rates.LoadCard(file, text)
}

func goodCard(t testing.TB, file string) *rates.Card {
	t.Helper()
	card, err := loadCard(t, file)
	require.NoError(t, err)
	return card
}

// Every bad card is refused with exactly the faults listed here, each with its
// place ("FILE:LINE:COLUMN: field: what is wrong") and its remedy.
func TestBadCards(t *testing.T) {
	want := map[string][]string{}
	f := func(file, fault, hint string) {
		want[file] = append(want[file], file+".bad.yaml"+fault+" | "+hint)
	}
	f("a-list", ":1:1: is not a mapping of names to values", "write  name: value  pairs, one of card, currency, source, note, bill_by, versions")
	f("bad-currency", `:2:11: currency: "Dollar" is not an ISO 4217 currency code such as USD`, "write the three capital letters of the currency")
	f("bad-date", `:4:11: versions[0].from: "2026-02-30" is not a date such as 2026-03-31`, "write year-month-day, a day that exists")
	f("bad-name", `:1:7: card: "my card" is not a name`, "begin with a letter; then letters, digits, _ and -")
	f("bill-by", `:3:10: bill_by: unknown choice "ended"`, "did you mean end?")
	f("charge-no-rate", ":8:34: versions[0].rules[0].charge.su: has neither rate nor units", "write  rate: units an hour, or  units: what the whole job counts")
	f("charge-too-large", ":8:30: versions[0].rules[0].charge.su: a job of 10^6 nodes and 10 years would cost more than the 92233720368547758 USD that an invoice can hold", "look for a coefficient or a price that is far too large")
	f("charge-nothing", ":8:29: versions[0].rules[0].charge: charges no meter", "write  {METER: FORMULA}, or exclude: REASON for what is free")
	f("charge-unknown-key", `:8:35: versions[0].rules[0].charge.su.rat: unknown key "rat"`, "did you mean rate?")
	f("charge-unknown-meter", ":8:30: versions[0].rules[0].charge.sus: unknown meter sus", "did you mean su?")
	f("charge-unquoted", ":8:46: versions[0].rules[0].charge.su: a parenthesis is not closed", `close it; in YAML, quote a formula that has a comma: "max(a, b)"`)
	f("charge-unquoted", ":8:48: versions[0].rules[0].charge.mem_gib*0.102): unknown meter mem_gib*0.102)", "put the formula in quotes: a comma ends a value inside { }")
	f("duplicate-key", ":3:1: card: is given twice, first on line 1", "keep one of the two")
	f("duplicate-meter", ":7:7: versions[0].meters.su: is given twice, first on line 6", "keep one of the two")
	f("empty", ": is empty", "")
	f("factor-negative", ":8:42: versions[0].rules[0].factor.qos.high: -2 is negative", "write 0 or more")
	f("factor-no-field", ":8:29: versions[0].rules[0].factor: names no field", "write  - {qos: {high: 2, low: 0.5}}")
	f("factor-two-fields", ":8:46: versions[0].rules[0].factor.partition: a second field in one factor", "write one list entry for each field: they are multiplied")
	f("factor-unknown-field", `:8:30: versions[0].rules[0].factor.qoss: unknown key "qoss"`, "did you mean qos?")
	f("formula-divides-by-zero", ":8:39: versions[0].rules[0].charge.su: gpus can be 0, and divides", "write max(gpus, 1), or choose(gpus > 0, …/gpus, 0)")
	f("formula-duration", ":8:57: versions[0].rules[0].charge.su.duration: is not a time but a number", "a duration is in hours, such as max(elapsed_h, 0.25)")
	f("formula-folded", ":10:15: versions[0].rules[0].charge.su: unknown name memory (at character 15 of the formula)", "did you mean mem_gib?")
	f("formula-hours-in-rate", ":8:34: versions[0].rules[0].charge.su: a rate is units an hour, and this has hours in it already", "leave the hours out: they are multiplied in; or write it as units:, or with per: job")
	f("formula-no-hardware", ":8:40: versions[0].rules[0].charge.su: node_cores is given by no hardware: entry of this version", "write it there, as in  hardware: {node: {cores: 64, mem_gib: 256}}")
	f("formula-price-in-rate", ":8:39: versions[0].rules[0].charge.su: price is not known yet in a rate formula", "")
	f("formula-units-mixed", ":8:41: versions[0].rules[0].charge.su: cpus (cores or GPUs) and mem_gib (GiB) are not the same kind of figure", "multiply one by what it is worth of the other, as in mem_gib*0.25 (or *1)")
	f("formula-unknown-name", ":8:45: versions[0].rules[0].charge.su: unknown name mem_gbi", "did you mean mem_gib?")
	f("hardware-never-reached", ":5:34: versions[0].hardware.fat: no job reaches it: thin on line 5 comes first and matches all that it matches", "put the narrower one first")
	f("hardware-zero", ":5:30: versions[0].hardware.thin.cores: is 0", "formulas divide by it: write what one node has, or leave it out")
	f("let-name", `:5:11: versions[0].let.Billed-Cores: "Billed-Cores" is not a name that a formula can use`, "begin with a small letter; then small letters, digits and _")
	f("let-order", ":5:14: versions[0].let.a: b stands further down under let: a figure can use those above it", "move it up")
	f("let-reserved", ":5:11: versions[0].let.cpus: cpus has a meaning of its own in formulas", "choose another name")
	f("many", `:2:11: currency: "usd" is not an ISO 4217 currency code such as USD`, "write the three capital letters of the currency")
	f("many", ":6:29: versions[0].meters.su.price: -1 is negative", "a credit is an adjustment, not a price")
	f("many", `:8:27: versions[0].rules[0].match.partiton: unknown key "partiton"`, "did you mean partition?")
	f("many", ":8:54: versions[0].rules[0].charge.su: unknown name cpu", "did you mean cpus?")
	f("many", ":9:28: versions[0].rules[1].charge.gpu: unknown meter gpu", "one of su")
	f("limits", ":8:9: versions[0].limits[0]: limits nothing", "add one of time_limit_h, gpus_per_job, cpus_per_gpu, mem_gib_per_gpu, running_per_user, submitted_per_user")
	f("limits", `:9:18: versions[0].limits[1].match.group: unknown key "group"`, "one of cluster, partition, qos, account, user, wckey, reservation, state, job_name, job_id, cancelled_by, gpu_type, node_name, cpus, nodes, gpus, mem_gib, mem_mib, billing, req_cpus, req_nodes, req_gpus, req_mem_gib, elapsed_h, suspended_h, timelimit_h, wait_h, submit, start, end, weekday, hour")
	f("limits", `:10:10: versions[0].limits[2].gpu_per_job: unknown key "gpu_per_job"`, "did you mean gpus_per_job?")
	f("limits", ":11:24: versions[0].limits[3].gpus_per_job: -1 is negative", "write 0 or more")
	f("limits", ":11:46: versions[0].limits[3].running_per_user: 1.5 is no number of jobs", "write a whole number")
	f("limits", `:12:24: versions[0].limits[4].time_limit_h: not a decimal number: "1d"`, "write a plain number such as 24")
	f("match-date", `:8:36: versions[0].rules[0].match.start: "2026-13-01" is not a date such as 2026-03-31`, "write a day such as 2026-03-31, 2026-03-01..2026-03-31 or >= 2026-03-01")
	f("match-empty-range", ":8:35: versions[0].rules[0].match.cpus: the range 8..2 is empty", "write a number, a range such as 2..8 or a comparison such as > 128")
	f("match-empty", ":8:40: versions[0].rules[0].match.partition: is empty", "give it a value or remove the key")
	f("match-hour", `:8:35: versions[0].rules[0].match.hour: "24" is not an hour from 0 to 23`, "write an hour such as 9, 8..17 or >= 18")
	f("match-impossible", ":8:35: versions[0].rules[0].match.cpus: nothing can be > 8 && < 2", "")
	f("match-number", `:8:35: versions[0].rules[0].match.gpus: not a decimal number: "many"`, "write a number, a range such as 2..8 or a comparison such as > 128")
	f("match-state", ":8:36: versions[0].rules[0].match.state: COMPLETE is not a state of Slurm's", "did you mean COMPLETED?")
	f("match-storage-field", `:8:29: versions[0].rules[0].match.filesystem: unknown key "filesystem"`, "one of cluster, partition, qos, account, user, wckey, reservation, state, job_name, job_id, cancelled_by, group, class, node_type, gpu_type, node_name, cpus, nodes, gpus, mem_gib, mem_mib, billing, req_cpus, req_nodes, req_gpus, req_mem_gib, elapsed_h, suspended_h, timelimit_h, wait_h, submit, start, end and 2 more")
	f("match-tag", ":8:40: versions[0].rules[0].match.partition: !smp is a YAML tag", `write "!smp" in quotes`)
	f("match-text-compared", `:8:40: versions[0].rules[0].match.partition: "> 8" compares a text`, "partition is a text: write a value or a glob such as gpu*")
	f("match-weekday", `:8:38: versions[0].rules[0].match.weekday: "monday..frday" is not a weekday`, "write mon, tue, wed, thu, fri, sat, sun, or mon..fri")
	f("meter-name", `:6:7: versions[0].meters.GPU hours: "GPU hours" is not the name of a meter`, "begin with a small letter; then small letters, digits and _")
	f("no-currency", ":1:1: has no currency", "add  currency: …")
	f("no-from", ":4:5: versions[0]: has no from", "add  from: …")
	f("no-price", ":6:7: versions[0].meters.su: has no price", "add  price: 0  if it is counted and costs nothing")
	f("no-rules", ":4:5: versions[0]: has no rules and no storage: it charges nothing", "add  rules:  or  storage:")
	f("no-unit", ":6:7: versions[0].meters.su: has no unit", "add  unit: …")
	f("no-versions", ":3:11: versions: has no version", "write one with its from: date")
	f("not-yaml", ":2:11: a colon stands where a value has begun already", "put a text that has a colon in quotes; or the line is indented too far")
	f("per-job-duration", ":8:64: versions[0].rules[0].charge.su.duration: a charge per job has no duration", "remove one of the two")
	f("price-by-node-type", ":7:30: versions[0].meters.su.price.reglar: no hardware: entry has the type reglar", "did you mean regular?")
	f("price-by-unknown", `:6:49: versions[0].meters.su.price_by: unknown field "partiton"`, "did you mean partition?")
	f("price-by-without-table", ":6:42: versions[0].meters.su.price_by: has no table to choose from", "write price: {value: number, …}")
	f("price-comma", `:6:29: versions[0].meters.su.price: not a decimal number: "1,50"`, "write it with a point: 1.50")
	f("price-digits", ":6:29: versions[0].meters.su.price: 0.00000000000001 has more than 13 digits after the point", "shorten it, or write the division into the formula: 1/7")
	f("price-empty-table", ":6:29: versions[0].meters.su.price: is an empty table", "write  value: number  pairs")
	f("price-list-no-label", ":6:30: versions[0].meters.su.price[0]: has no label", "add  label: …")
	f("price-negative", ":6:29: versions[0].meters.su.price: -1 is negative", "a credit is an adjustment, not a price")
	f("price-never-reached", `:6:38: versions[0].meters.su.price: internal is never reached: "*" on line 6 comes first and matches all of it`, "put the narrower one first")
	f("price-not-decimal", `:6:29: versions[0].meters.su.price: not a decimal number: "$1.50"`, "write the number alone, without its unit: 1.50")
	f("rule-after-catch-all", ":9:9: versions[0].rules[1]: smp can never match: all on line 8 comes first and matches all of it", "put the narrower rule first")
	f("rule-after-wider", ":9:9: versions[0].rules[1]: gpu4 can never match: gpu on line 8 comes first and matches all of it", "put the narrower rule first")
	f("rule-both", ":8:36: versions[0].rules[0].charge: a rule that excludes jobs cannot charge them", "write waive: instead of exclude: to price a job and forgive it")
	f("rule-no-name", ":8:9: versions[0].rules[0]: has no name", "add  name: …")
	f("rule-nothing", ":8:9: versions[0].rules[0]: neither charges nor excludes", "add  charge: {METER: FORMULA}  or  exclude: REASON")
	f("rule-same-name", ":9:9: versions[0].rules[1].name: a rule on line 8 is called all too", "give each rule a name of its own: charges are explained by it")
	f("rule-waives-nothing", ":8:9: versions[0].rules[0]: waives what it does not price", "add  charge: …  or write exclude: instead of waive:")
	f("self-reference", `:8:33: versions[0].rules[0].charge.su.su: unknown key "su"`, "one of rate, duration, units, amount, per, factor")
	f("slurm-billing", ":8:34: versions[0].rules[0].charge.su: slurm_billing is given by no hardware: entry of this version, through its tres_weights", `write there what slurm.conf has: tres_weights: "CPU=1.0,Mem=0.25G"`)
	f("states-twice", ":7:43: versions[0].states.waive.COMPLETED: COMPLETED is given twice, first on line 7", "keep one of the two")
	f("states-unknown", ":7:45: versions[0].states.exclude.NODEFAIL: NODEFAIL is not a state of Slurm's", "did you mean NODE_FAIL?")
	f("storage-factor", ":7:49: versions[0].storage[0].factor: storage has no factors", "write the factor into the formula: quota_tb*1.5")
	f("storage-job-figure", ":7:38: versions[0].storage[0].charge.su: cpus is a figure of a job, not of storage", "")
	f("storage-prorate", `:7:58: versions[0].storage[0].prorate: unknown choice "daily"`, "one of day, none, half_month")
	f("storage-per-day", ":7:50: versions[0].storage[0].charge.su: mean_tb is not a figure of one day", "used_tb is that day's use")
	f("storage-per-day", ":8:26: versions[0].storage[1].charge.su: is charged per day, and the rule counts by the month", "remove prorate and snapshot from the rule, or per: day")
	f("storage-snapshot", ":7:60: versions[0].storage[0].snapshot: \"32\" is not a day of the month", "write a number from 1 to 31; a shorter month has its last day instead")
	f("storage-snapshot", ":8:98: versions[0].storage[1].prorate: a snapshot stands for the whole month", "keep one of snapshot and prorate")
	f("tiers-amount", ":8:55: versions[0].rules[0].charge.su.amount: the tiers of the meter make the amount, of the whole period's units", "remove the formula, or the tiers")
	f("tiers-and-price", ":6:29: versions[0].meters.su.price: the tiers give the price", "remove one of the two; a class with a price of its own needs a meter of its own")
	f("tiers-bracket-job-money", ":6:29: versions[0].meters.su.tiers.mode: the money of one job depends on the price that it sets", "count units, or write mode: graduated")
	f("tiers-bracket-month", ":6:29: versions[0].meters.su.tiers.mode: the count of a month begins at 0, where the first step always holds", "write mode: volume, or window: fiscal_year")
	f("tiers-free-money", ":6:86: versions[0].meters.su.tiers.steps: a step of price 0 is never left: its units cost nothing, and money is what is counted", "count units")
	f("tiers-graduated-meter", ":7:29: versions[0].meters.su.tiers.mode: graduated tiers count the meter's own units or money, not cores", "write mode: volume, or mode: bracket")
	f("tiers-job-meter", ":9:29: versions[0].rules[0].charge.su: its tiers count cores of the job, which the rule does not charge", "charge cores too, at a price of 0")
	f("tiers-job-usage", ":7:29: versions[0].meters.su.tiers.window: tiers of one job need whole jobs, and bill_by: usage cuts them", "bill by end or start, or count over the month")
	f("tiers-no-steps", ":6:29: versions[0].meters.su.tiers.steps: has no step", "write  - {above: 0, price: …}")
	f("tiers-volume-money", ":6:29: versions[0].meters.su.tiers.mode: a volume counted in money depends on the price that it sets", "count units, or write mode: graduated")
	f("tiers-faulty", ":6:29: versions[0].meters.su.tiers: has no window", "add  window: …")
	f("tiers-faulty", ":6:36: versions[0].meters.su.tiers.mode: unknown choice \"graded\"", "one of graduated, volume, bracket")
	f("tiers-faulty", ":6:53: versions[0].meters.su.tiers.counter: unknown counter \"cpu_hours\"", "one of units, money, su")
	f("tiers-faulty", ":6:72: versions[0].meters.su.tiers.steps: the first step does not begin above 0", "write above: 0")
	f("tiers-faulty", ":6:94: versions[0].meters.su.tiers.steps: above 1 does not come after above 1", "write the steps in rising order")
	f("tiers-faulty", ":6:112: versions[0].meters.su.tiers.steps[1].price: -1 is negative", "a credit is an adjustment, not a price")
	f("tiers-faulty", ":6:117: versions[0].meters.su.tiers.steps[2]: has no above", "add  above: …")
	f("tres-weights", ":6:55: versions[0].hardware.a.tres_weights: GPU is not the type of a TRES", "did you mean GRES/gpu?")
	f("tres-weights", ":7:63: versions[0].hardware.b.tres_weights: the suffix X is not known", "write K, M, G, T or P: the weight is then of 1024, 1024², … units, for memory of KiB, MiB, GiB, …")
	f("tres-weights", ":8:48: versions[0].hardware.c.tres_weights: is empty", "give it a value or remove the key")
	f("tres-weights", `:9:68: versions[0].hardware.d.priority_flags: "MAX_TRESS" is not a flag of PriorityFlags`, "did you mean MAX_TRES?")
	f("tres-weights", ":11:23: versions[0].hardware.e.tres_weights: the weight -1 is negative: Slurm's billing would be no count (at character 5 of the formula)", "write 0 or more")
	f("two-documents", ":9:1: a second document begins here", "keep one document in a file: remove the --- line")
	f("units-without-factor", ":8:68: versions[0].rules[0].charge.su.units: does not use the factor that is written beside it", "multiply by factor, or remove it")
	f("units-without-rate", ":8:54: versions[0].rules[0].charge.su.units: does not use the rate that is written beside it", "multiply by rate, or remove it")
	f("unknown-key-match", `:8:29: versions[0].rules[0].match.partiton: unknown key "partiton"`, "did you mean partition?")
	f("unknown-key-rule", `:8:41: versions[0].rules[0].partition: unknown key "partition"`, "one of name, match, charge, exclude, waive, factor, states, note")
	f("unknown-key", `:5:5: versions[0].partiton: unknown key "partiton"`, "one of from, until, note, bill_by, hardware, let, meters, factor, states, rules, storage, limits")
	f("until-before-from", ":4:5: versions[0].until: 2025-12-01 is not after 2026-01-01", "until: is the first day on which the version no longer holds")
	f("versions-overlap", ":10:5: versions: the version from 2026-07-01 overlaps the one on line 4, which holds until 2026-09-01", "let that one end at the latest on 2026-07-01, or remove its until:")
	f("versions-same-day", ":9:5: versions: two versions begin on 2026-01-01, the other on line 4", "keep one of the two")

	files, err := filepath.Glob(cardsDir + "/*.bad.yaml")
	require.NoError(t, err)
	require.Len(t, files, len(want))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".bad.yaml")
		t.Run(name, func(t *testing.T) {
			card, err := loadCard(t, name+".bad.yaml")
			require.Nil(t, card)
			var faults rates.Faults
			require.ErrorAs(t, err, &faults)
			got := []string{}
			for _, fault := range faults {
				got = append(got, fault.Error()+" | "+fault.Hint())
			}
			require.Equal(t, want[name], got)
		})
	}
}
