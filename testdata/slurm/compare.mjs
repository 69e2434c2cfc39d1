// compare.mjs SITE SACCT.txt — every record that sacct printed against the
// Parquet, read by DuckDB, field by field. The reading of sacct's columns here
// knows nothing of hpcbill's.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const [site, sacctFile] = process.argv.slice(2);

// --- what sacct printed: cells, and an end of record that no name holds
const text = readFileSync(sacctFile, 'utf8');
const head = text.slice(0, text.indexOf('\n')).split('<~>');
const records = text.slice(text.indexOf('\n') + 1).split('<~>lab\n').slice(0, -1).map((record) => {
  const cells = record.split('<~>');
  if (cells.length !== head.length - 1) throw new Error(`${cells.length} cells: ${record}`);
  return Object.fromEntries(cells.map((cell, i) => [head[i], cell]));
});

const seconds = (t) => { // [D-]HH:MM:SS
  const [, d = '0', h, m, s] = /^(?:(\d+)-)?(\d\d):(\d\d):(\d\d)$/.exec(t);
  return ((+d * 24 + +h) * 60 + +m) * 60 + +s;
};
const instant = (t) => (/^\d+$/.test(t) ? +t : null);
const limit = (t) => (t === 'UNLIMITED' ? -2 : t === '' || t === 'Partition_Limit' ? null : seconds(t));
const tres = (t) => Object.fromEntries(t.split(',').filter(Boolean).map((item) => { const at = item.indexOf('='); return [item.slice(0, at), item.slice(at + 1)]; }));
const mebibytes = (t) => { const [, n, unit] = /^(\d+)([MG])$/.exec(t); return +n * (unit === 'G' ? 1024 : 1); };

function expected(r) {
  const a = tres(r.AllocTRES), q = tres(r.ReqTRES), [state, by] = r.State.split(' by ');
  const allocated = r.AllocTRES !== '';
  // A later part of a resized job is submitted when the job is resized; Slurm may
  // print the start of the first part with it.
  const start = instant(r.Start), before = start === null ? 0 : Math.max(0, instant(r.Submit) - start);
  return {
    job_id: r.JobID, db_index: r.DBIndex, user_name: r.User, account: r.Account, partition: r.Partition, qos: r.QOS,
    wckey: r.WCKey.replace(/^\*/, ''), reservation: r.Reservation, job_name: r.JobName, state, cancelled_by: by ?? '',
    submit_time: instant(r.Submit), eligible_time: instant(r.Eligible), start_time: start === null ? null : start + before, end_time: instant(r.End),
    elapsed_seconds: seconds(r.Elapsed) - before, suspended_seconds: seconds(r.Suspended), timelimit_seconds: limit(r.Timelimit),
    node_count: allocated ? +a.node : 0, cpus: allocated ? +a.cpu : 0, memory_mib: allocated ? mebibytes(a.mem) : 0,
    gpus: +(a['gres/gpu'] ?? 0), billing: +(a.billing ?? 0),
    req_node_count: +q.node, req_cpus: +q.cpu, req_memory_mib: mebibytes(q.mem), req_gpus: +(q['gres/gpu'] ?? 0),
    alloc_tres: r.AllocTRES, req_tres: r.ReqTRES, node_list: r.NodeList === 'None assigned' ? '' : r.NodeList,
    cluster: 'lab', month: r.End === 'Unknown' ? 'open' : new Date(+r.End * 1000).toISOString().slice(0, 7),
  };
}

// --- what hpcbill keeps
const db = await (await DuckDBInstance.create(':memory:')).connect();
const numbers = 'elapsed_seconds suspended_seconds timelimit_seconds node_count cpus memory_mib gpus billing req_node_count req_cpus req_memory_mib req_gpus'.split(' ');
const times = 'submit_time eligible_time start_time end_time'.split(' ');
const kept = (await (await db.runAndReadAll(`select * replace (${[...times.map((t) => `epoch(${t})::bigint as ${t}`), 'db_index::varchar as db_index', 'month::varchar as month'].join(', ')})
  from read_parquet('${site}/data/jobs/cluster=*/month=*/*.parquet', hive_partitioning = true, hive_types_autocast = false)`)).getRowObjectsJson());
for (const row of kept) for (const f of [...numbers, ...times]) row[f] = row[f] === null ? null : Number(row[f]);
const key = (id, submit) => `${id} ${submit}`;
const byKey = new Map(kept.map((row) => [key(row.job_id_raw, row.submit_time), row]));

// --- the one against the other
let failed = 0, fields = 0;
const fail = (what) => { failed++; console.log(`FAIL ${what}`); };
if (byKey.size !== kept.length) fail(`${kept.length} rows are ${byKey.size} records`);
if (kept.length !== records.length) fail(`hpcbill keeps ${kept.length} records, sacct prints ${records.length}`);
for (const r of records) {
  const row = byKey.get(key(r.JobIDRaw, r.Submit));
  if (!row) { fail(`${r.JobID} (${r.JobName}) is not there`); continue; }
  for (const [field, want] of Object.entries(expected(r))) {
    fields++;
    if (row[field] !== want) fail(`${r.JobID} ${JSON.stringify(r.JobName)} ${field}: kept ${JSON.stringify(row[field])}, sacct ${JSON.stringify(want)}`);
  }
}

// --- the parts of the resized job are the whole of it, once
const parts = kept.filter((row) => row.job_name === 'resized');
const whole = Math.max(...parts.map((row) => row.end_time)) - Math.min(...parts.map((row) => row.start_time));
const sum = parts.reduce((all, row) => all + row.elapsed_seconds, 0);
if (parts.length !== 2 || sum !== whole) fail(`the ${parts.length} parts of the resized job have ${sum} s, it ran for ${whole} s`);

// --- the kinds of jobs are there: else this compared too little
const has = (what, test) => { if (!records.some(test)) fail(`no record is ${what}`); };
const named = (name, test) => has(`${name}, as it should be`, (r) => r.JobName === name && test(r));
const ran = (r) => r.Start !== 'None' && r.Start !== 'Unknown';
named('plain', (r) => r.State === 'COMPLETED');
named('failed', (r) => r.State === 'FAILED');
named('array', (r) => /^\d+_3$/.test(r.JobID));
named('throttled', (r) => /^\d+_0$/.test(r.JobID) && r.State === 'CANCELLED by 0' && ran(r));
named('range', (r) => /^\d+_\[1-3,7\]$/.test(r.JobID) && r.State === 'CANCELLED by 0' && r.AllocTRES === '');
named('het', (r) => /^\d+\+1$/.test(r.JobID) && r.Partition === 'htc');
named('requeued', (r) => r.State === 'REQUEUED' && ran(r));
named('requeued', (r) => r.State === 'COMPLETED' && ran(r));
named('resized', (r) => r.State === 'RESIZING' && tres(r.AllocTRES).node === '2');
named('resized', (r) => r.State === 'COMPLETED' && tres(r.AllocTRES).node === '1');
named('suspended', (r) => seconds(r.Suspended) >= 3);
named('cancelled', (r) => r.State === 'CANCELLED by 0' && ran(r));
named('never', (r) => r.State === 'CANCELLED by 0' && r.Elapsed === '00:00:00' && r.AllocTRES === '');
named('typed', (r) => tres(r.AllocTRES)['gres/gpu:a100'] === '2' && tres(r.AllocTRES)['gres/gpu'] === '2' && r.Timelimit === '2-03:04:00');
named('untyped', (r) => tres(r.AllocTRES)['gres/gpu'] === '1');
named('nodes', (r) => tres(r.AllocTRES).node === '2' && r.Account === 'chem');
named('whole', (r) => tres(r.AllocTRES).cpu === '48');
named('odd-memory', (r) => tres(r.AllocTRES).mem === '1049088M');
named('reserved', (r) => r.Reservation === 'course');
named('preemptible', (r) => tres(r.AllocTRES).billing === undefined);
for (const name of ['train|resnet|50', 'unit\x1fseparated', 'line one\nline two', '=cmd() `quoted` <b>ñ</b>']) named(name, (r) => r.State === 'COMPLETED');

if (failed) console.log(records.map((r) => Object.values(r).join(' ')).join('\n'));
console.log(`${records.length} records, ${fields} fields compared, ${failed} failed`);
process.exit(failed ? 1 : 0);
