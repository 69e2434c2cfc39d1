package ingest

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every file of the public collection is read, or refused with what its owner
// can do about it. The counts were made with awk and jq, not with this
// package.
func TestPublicFiles(t *testing.T) {
	external(t, publicDir, "INDEX.md")
	seen := map[string]bool{"INDEX.md": true}
	open := func(name string, opt Options) *Reader {
		t.Helper()
		seen[name] = true
		if opt.Cluster == "" {
			opt.Cluster = "c1"
		}
		r, err := Open(name, external(t, publicDir, name), opt)
		require.NoError(t, err, name)
		return r
	}
	readBy := func(opt Options, name string, jobs, steps, quarantined int, coreSeconds int64) {
		t.Helper()
		r := open(name, opt)
		sum := int64(0)
		for batch, err := range r.Batches() {
			require.NoError(t, err, name)
			for _, j := range batch {
				sum += j.CPUs * j.ElapsedSeconds
			}
		}
		report := r.Report()
		require.Equal(t, [3]int{jobs, steps, quarantined}, [3]int{int(report.Jobs), int(report.Steps), len(report.Quarantined)}, name)
		require.Equal(t, coreSeconds, sum, name)
		require.Equal(t, int64(jobs+steps+quarantined), report.Records, name)
	}
	read := func(name string, jobs, steps, quarantined int, coreSeconds int64) {
		t.Helper()
		readBy(Options{}, name, jobs, steps, quarantined, coreSeconds)
	}
	refuse := func(name, message, hint string) {
		t.Helper()
		for _, err := range open(name, Options{}).Batches() {
			require.ErrorContains(t, err, message, name)
			var e *Error
			require.True(t, errors.As(err, &e), name)
			require.Contains(t, e.Hint(), hint, name)
			return
		}
		t.Fatalf("%s was read", name)
	}

	read("2maz_fox-slurm.pseudonymised.json", 1282, 2558, 0, 14838133)
	read("firecrest_slurm_get_allusers_jobs_from_db.json", 2, 2, 0, 201)
	read("firecrest_slurm_get_job_from_db.json", 1, 1, 0, 0)
	read("firecrest_slurm_get_jobs_by_name_from_db.json", 5, 5, 0, 913)
	read("gcm_sample-sacct-fake-line-break-expected.txt", 2, 2, 0, 1154523136)
	read("gcm_sample-sacct-fake-line-break.txt", 2, 2, 0, 1154523136)
	read("gcm_sample-sacct-one-multiline.txt", 2, 2, 0, 1154523136)
	read("gcm_sample-sacct-output-invalid-utf8.txt", 2, 9, 0, 7311)
	read("gcm_sample-sacct-output-with-invalid-lines.txt", 0, 0, 1, 0)
	read("gcm_sample-sacct-output.txt", 0, 68, 0, 0)
	read("gcm_sample-sacct-running-output.txt", 0, 10, 0, 0)
	read("slurm2sql_test-data1.csv", 1, 3, 1, 25610) // one is cancelled without an end
	read("slurm2sql_test-data2.csv", 1, 3, 1, 25610)
	read("slurmweb_24.05_0.0.41_slurmdb-job-completed.json", 1, 1, 0, 1)
	read("slurmweb_24.05_0.0.41_slurmdb-job-gpus-multi-types.json", 1, 1, 0, 0)
	read("slurmweb_24.05_0.0.41_slurmdb-job-pending.json", 1, 0, 0, 0)
	read("slurmweb_24.05_0.0.41_slurmdb-job-running.json", 1, 1, 0, 88)
	read("slurmweb_24.05_0.0.41_slurmdb-job-timeout.json", 1, 1, 0, 83)
	read("slurmweb_24.05_0.0.41_slurmdb-job-unfound.json", 0, 0, 0, 0)
	read("slurmweb_25.05_0.0.43_slurmdb-job-completed.json", 1, 1, 0, 960)
	read("slurmweb_25.05_0.0.43_slurmdb-job-gpus-multi-types.json", 1, 1, 0, 0)
	read("slurmweb_25.05_0.0.43_slurmdb-job-pending.json", 1, 0, 0, 0)
	read("slurmweb_25.05_0.0.43_slurmdb-job-running.json", 1, 1, 0, 800)
	read("slurmweb_25.05_0.0.43_slurmdb-job-timeout.json", 1, 1, 0, 63)

	for _, name := range []string{"docs_aau_interactive_fixedwidth.txt", "docs_archer2_energy_fixedwidth.txt",
		"docs_csc_mem_fixedwidth.txt", "waldur_emulator_truncated_account.txt"} {
		refuse(name, "fixed widths", "sacct -P")
	}
	for name, column := range map[string]string{"apel_slurm_rows.txt": "Account", "gcm_sample-sacct-output-midnight-edge-case-small.txt": "Account, Start, AllocTRES",
		"slurm2sql_test-data3.csv": "State, Account, End, AllocTRES", "slurmio_sacct.txt": "State, Account, Start, End", "torchx_hetjob_p_trailing_pipe.txt": "Start, End"} {
		refuse(name, column, "hpcbill help sacct")
	}
	for _, name := range []string{"datadog_sacct.txt", "goslmailer_sacct.txt", "goslmailer_sacct_failed.pseudonymised.txt",
		"goslmailer_sacct_running.pseudonymised.txt", "reportseff_rows.txt", "snakemake_sacct_rows.txt", "sonar_sacct_output_2024.txt",
		"sonar_sacct_resource.txt", "waldur_usage_rows.txt", "zabbix-slurm_sacct.txt"} {
		refuse(name, "no header", "declare the columns")
	}
	for _, name := range []string{"gcm_sample-sacctmgr-qos.txt", "ood_core_sacctmgr_show_accts.txt", "rivosinc_sacctmgr.txt", "nerc_outages.yaml", "nerc_rates.yaml"} {
		refuse(name, "no header", "")
	}
	refuse("airavata-custos_rates.json", "no answer of sacct --json", "hpcbill help sacct")
	refuse("goslmailer_sacct_fatal-line.txt", "a message of sacct's", "dump again")
	refuse("ood_core_owens_scontrol_partitions.txt", "scontrol show partition", "rates import")
	refuse("zabbix-slurm_scontrol_show_partition.txt", "scontrol show partition", "rates import")

	// Without a header, but with its columns declared.
	sonar := Options{Columns: strings.Fields(`JobID JobIDRaw User Account State Start End AveCPU AveDiskRead AveDiskWrite AveRSS AveVMSize
		ElapsedRaw ExitCode Layout MaxRSS MaxVMSize MinCPU ReqCPUS ReqMem ReqNodes Reservation Submit Suspended SystemCPU TimelimitRaw
		UserCPU NodeList Partition AllocTRES Priority JobName`)}
	readBy(sonar, "sonar_sacct_output_2024.txt", 29, 67, 0, 214835)
	readBy(sonar, "sonar_sacct_resource.txt", 3, 0, 0, 50447584)

	entries, err := os.ReadDir(publicDir)
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, seen[e.Name()], "%s is not in the table", e.Name())
	}
}
