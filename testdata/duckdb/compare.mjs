// compare.mjs SITE LINES.json INGESTS.json — what DuckDB reads from a site's
// Parquet against what the program says of it. Sums are of exact fractions
// (BigInt), so nothing is compared in floats.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const [site, linesFile, ingestsFile] = process.argv.slice(2);
const db = await (await DuckDBInstance.create(':memory:')).connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();
const jobs = `read_parquet('${site}/data/jobs/cluster=*/month=*/*.parquet', hive_partitioning = true)`;
const charges = `read_parquet('${site}/data/charges/period=*/*.parquet', hive_partitioning = true)`;
let failed = 0, passed = 0;

function same(what, got, want) {
  const ok = JSON.stringify(got) === JSON.stringify(want);
  ok ? passed++ : failed++;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${what}${ok ? '' : `: DuckDB ${JSON.stringify(got)}, hpcbill ${JSON.stringify(want)}`}`);
}

// a fraction as [numerator, denominator]
const fraction = (text) => { const [n, d = '1'] = text.split('/'); if (d !== '1' || /^-?\d+$/.test(n)) return [BigInt(n), BigInt(d)];
  const places = n.length - n.indexOf('.') - 1; return [BigInt(n.replace('.', '')), 10n ** BigInt(places)]; };
const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return a < 0n ? -a : a; };
const add = ([a, b], [c, d]) => { const n = a * d + c * b, m = b * d, g = gcd(n, m) || 1n; return [n / g, m / g]; };
const text = ([n, d]) => `${n}/${d}`;

const types = Object.fromEntries((await rows(`describe select * from ${jobs}`)).map((r) => [r.column_name, r.column_type]));
same('end_time is a timestamp', types.end_time?.startsWith('TIMESTAMP'), true);
same('elapsed_seconds is an integer', types.elapsed_seconds, 'BIGINT');
same('account is text', types.account, 'VARCHAR');
same('cluster comes from the path', types.cluster, 'VARCHAR');

const ingests = JSON.parse(readFileSync(ingestsFile));
const kept = ingests.reduce((n, r) => n + r.new, 0);
same('jobs kept', Number((await rows(`select count(*)::int n from ${jobs}`))[0].n), kept);
same('no job twice', Number((await rows(`select count(*)::int n from (select cluster, job_id_raw, submit_time from ${jobs} group by all having count(*) > 1)`))[0].n), 0);

const lines = JSON.parse(readFileSync(linesFile));
const parts = await rows(`select cluster, meter, quantity_denominator::varchar d, sum(quantity_numerator)::varchar n, count(distinct job_id_raw) jobs
  from ${charges} where verdict = 'charged' and meter <> '' group by all`);
for (const line of lines) {
  const mine = parts.filter((p) => p.cluster === line.cluster && p.meter === line.meter);
  const duck = mine.reduce((sum, p) => add(sum, [BigInt(p.n), BigInt(p.d)]), [0n, 1n]);
  const want = line.quantities.split(' ').map(fraction).reduce(add, [0n, 1n]);
  same(`${line.cluster} ${line.meter}`, text(duck), text(want));
}

console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
