package jobstore

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
)

// duckDBModules names the environment variable with a directory in which
// npm has installed @duckdb/node-api.
const duckDBModules = "HPCBILL_DUCKDB"

// duckDBScript runs the queries of its arguments and prints each answer as a
// line of JSON.
const duckDBScript = `
import {createRequire} from 'node:module';
const [modules, ...queries] = process.argv.slice(2);
const {DuckDBInstance} = createRequire(modules + '/')('@duckdb/node-api');
const db = await (await DuckDBInstance.create(':memory:')).connect();
for (const q of queries) console.log(JSON.stringify((await db.runAndReadAll(q)).getRowsJson()));
`

// duckDB asks DuckDB about the dataset of a store.
func duckDB(t *testing.T, s *Store, queries ...string) string {
	modules := os.Getenv(duckDBModules)
	if modules == "" {
		t.Skipf("%s is not set to a directory with @duckdb/node-api: DuckDB was not asked", duckDBModules)
	}
	script := filepath.Join(t.TempDir(), "query.mjs")
	require.NoError(t, os.WriteFile(script, []byte(duckDBScript), 0o644))
	view := "create view jobs as select * from read_parquet('" + s.dir + "/**/*.parquet', hive_partitioning = true, hive_types_autocast = false)"
	out, err := exec.Command("node", append([]string{script, modules, view}, queries...)...).CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func TestDuckDBReadsTheDataset(t *testing.T) {
	s := newStore(t, t.TempDir())
	s.partRows = 7
	load(t, s, firstDump())
	load(t, s, killedDump())
	odd := job(1000, november+5*day)
	odd.Cluster, odd.DBIndex, odd.MemoryMiB = "c/../%1", 14147616068585127941, ingest.Unknown
	odd.Name, odd.State = "=cmd()\x00\n'é", "CANCELLED"
	load(t, s, dump{"odd", december, []ingest.Job{odd, running(1001, december, december-1800)}})
	got := duckDB(t, s,
		"select column_name, column_type from (describe jobs) where column_name in ('end_time','cpus','user_name','month','cluster','db_index','elapsed_seconds')",
		"select count(*), count(distinct (cluster, job_id_raw)), sum(elapsed_seconds * cpus), count(end_time) from jobs",
		"select cluster, month, count(*) from jobs group by all order by all",
		"select job_name, cast(db_index as varchar), memory_mib, timelimit_seconds, strftime(end_time at time zone 'UTC', '%Y-%m-%d %H:%M:%S') from jobs where job_id = '1000'",
		"select count(*) from jobs where end_time >= timestamptz '2025-11-10 00:00:00+00' and end_time < timestamptz '2025-11-12 00:00:00+00'",
	)
	// 40 jobs and the odd one of an hour, the running one of half an hour, on
	// four cores each; the job of day n ends n days after 1 November.
	require.Equal(t, `[]
[["db_index","UBIGINT"],["user_name","VARCHAR"],["end_time","TIMESTAMP WITH TIME ZONE"],["elapsed_seconds","BIGINT"],["cpus","BIGINT"],["cluster","VARCHAR"],["month","VARCHAR"]]
[["42","42","597600","41"]]
[["c/../%1","2025-11","1"],["lab","2025-11","20"],["lab","2025-12","7"],["lab","open","1"],["other","2025-11","9"],["other","2025-12","4"]]
[["=cmd()\u0000\n'é","14147616068585127941",null,"-2","2025-11-06 00:00:00"]]
[["2"]]
`, got)
}
