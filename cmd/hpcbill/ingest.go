package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
	"hpcbill/invoice/history"

	"github.com/spf13/cobra"
)

// ingestOptions are what the flags of ingest say beside the configuration.
type ingestOptions struct {
	cluster string
	zone    *time.Location
	strict  bool
	from    string // a day: command sources ask for it and those after it again
}

func (a *app) ingestCommand() *cobra.Command {
	var opt ingestOptions
	var zone string
	c := &cobra.Command{
		Use:   "ingest [FILE…]",
		Short: "sacct dumps → Parquet",
		Long: `Reads sacct dumps (text of -P or -p, JSON; plain, gzip or zstd, told by content)
into data/jobs. Without a file it reads the sources of hpcbill.yaml, and runs
sacct where a source names a command (hpcbill help sacct); - is standard input.
A dump either lands whole or leaves no trace; one that is there already is
passed over; the same or an overlapping dump changes nothing.

Records that cannot be read are quarantined, counted and listed by
hpcbill report quarantine; with --strict any of them refuses the dump.

Exit codes: 0 done · 1 failed · 2 configuration · 3 a dump has faults.`,
		Example: "  hpcbill ingest\n  hpcbill ingest --from 2026-03-01      # ask Slurm for these days again\n  hpcbill ingest dumps/2026-03.txt.gz --cluster h2p\n  sacct -a -X -D -P … | hpcbill ingest - --cluster h2p",
		RunE: func(c *cobra.Command, files []string) error {
			if zone != "" {
				var err error
				if opt.zone, err = time.LoadLocation(zone); err != nil {
					return usageError{fmt.Errorf("--timezone: unknown time zone %q", zone), "a name such as UTC or America/New_York"}
				}
			}
			return a.withSite(func(s *site) error {
				if len(files) > 0 && opt.from != "" {
					return usageError{errors.New("--from goes with the sources of " + configFile + ", not with files"), ""}
				}
				if len(files) == 0 {
					return a.ingestSources(c.Context(), s, opt)
				}
				return a.ingestFiles(c.Context(), s, files, opt)
			})
		},
	}
	c.Flags().StringVar(&opt.cluster, "cluster", "", "the cluster of dumps without a Cluster column")
	c.Flags().StringVar(&zone, "timezone", "", "the zone of the dump's times (default UTC, or what the source says)")
	c.Flags().StringVar(&opt.from, "from", "", "ask the commands for all days from this one on again, such as 2026-03-01")
	c.Flags().BoolVar(&opt.strict, "strict", false, "refuse a dump that has any unreadable record")
	return c
}

// dump is one file, or one answer of a command, that is to be ingested and how
// it is to be read.
type dump struct {
	name    string // as the operator gave it: it names the dump for ever
	path    string // "" = standard input, or a query
	options ingest.Options
	query   *query
}

// ingestSources takes every file of the configured sources, and runs the
// commands of the others. A source that cannot be taken does not keep the
// others out.
func (a *app) ingestSources(ctx context.Context, s *site, opt ingestOptions) error {
	if len(s.config.Sources) == 0 {
		return usageError{fmt.Errorf("%s: sources: names no dumps", configFile), "list them there, or name a file: hpcbill ingest FILE"}
	}
	var dumps []dump
	var errs []error
	for i := range s.config.Sources {
		of, err := a.dumpsOf(s, i, opt)
		dumps, errs = append(dumps, of...), append(errs, err)
	}
	if errs = append(errs, a.ingestDumps(ctx, s, dumps, opt)); errors.Join(errs...) != nil {
		return errors.Join(errs...)
	}
	return a.warnOfUnknownClusters(s)
}

// dumpsOf lists what a source has to offer.
func (a *app) dumpsOf(s *site, i int, opt ingestOptions) ([]dump, error) {
	src := &s.config.Sources[i]
	if src.Command != nil {
		records, err := s.jobs.Ingests()
		if err != nil {
			return nil, err
		}
		return s.queries(src, records, opt, a.clock())
	}
	paths, err := filepath.Glob(s.path(src.Files))
	if err != nil {
		return nil, usageError{fmt.Errorf("%s:%d: sources[%d].files: %q is not a pattern", configFile, src.Line, i, src.Files), ""}
	}
	if len(paths) == 0 {
		return nil, usageError{fmt.Errorf("%s:%d: sources[%d].files: no file matches %s", configFile, src.Line, i, src.Files),
			"a dump that is missing is the commonest wrong invoice: put it there or correct the pattern"}
	}
	sort.Strings(paths)
	var dumps []dump
	for _, p := range paths {
		name, err := filepath.Rel(s.dir, p)
		if err != nil {
			return nil, err
		}
		dumps = append(dumps, dump{name: filepath.ToSlash(name), path: p, options: s.readOptions(*src, opt)})
	}
	return dumps, nil
}

func (s *site) readOptions(src sourceConfig, opt ingestOptions) ingest.Options {
	o := ingest.Options{Cluster: src.Cluster, Zone: src.Zone, Delimiter: src.Delimiter, Columns: src.Columns}
	if opt.cluster != "" {
		o.Cluster = opt.cluster
	}
	if opt.zone != nil {
		o.Zone = opt.zone
	}
	return o
}

// ingestFiles takes the files that were named. One that a source's pattern
// matches is read as that source says.
func (a *app) ingestFiles(ctx context.Context, s *site, files []string, opt ingestOptions) error {
	var dumps []dump
	for _, f := range files {
		if f == "-" {
			dumps = append(dumps, dump{name: "-", options: s.readOptions(sourceConfig{}, opt)})
			continue
		}
		name := f
		source := sourceConfig{}
		if rel, err := filepath.Rel(s.dir, f); err == nil && !strings.HasPrefix(rel, "..") {
			name = filepath.ToSlash(rel)
			for _, src := range s.config.Sources {
				if ok, _ := filepath.Match(src.Files, name); ok {
					source = src
					break
				}
			}
		}
		dumps = append(dumps, dump{name: name, path: f, options: s.readOptions(source, opt)})
	}
	return a.ingestDumps(ctx, s, dumps, opt)
}

// ingestDumps takes the dumps one after the other. A dump that is refused
// does not keep the others out; every refusal is reported. A command that
// failed is not run again for the days after.
func (a *app) ingestDumps(ctx context.Context, s *site, dumps []dump, opt ingestOptions) error {
	var errs []error
	taken := 0
	var passed passedOver
	failed := map[*sourceConfig]bool{}
	for _, d := range dumps {
		if d.query != nil && failed[d.query.source] {
			continue
		}
		if d.options.Cluster != "" && !s.config.knows(d.options.Cluster) {
			errs = append(errs, usageError{fmt.Errorf("%s: cluster %q is not under clusters: in %s", d.name, d.options.Cluster, configFile), "add it there with its card"})
			continue
		}
		record, report, err := a.ingestDump(ctx, s, d, opt)
		switch {
		case err != nil:
			errs = append(errs, err)
			if d.query != nil {
				failed[d.query.source] = true
			}
		case record.Sequence == 0:
			passed.add(d, &record)
		default:
			taken++
			a.printIngest(record, report)
		}
	}
	passed.print(a)
	if taken > 0 {
		errs = append(errs, a.recordIngests(ctx, s), s.jobs.CompactFragmented())
	}
	return errors.Join(errs...)
}

// ingestDump lands one dump, or passes over one that is there: its record then
// has no number, and is otherwise that of the ingest which took it.
func (a *app) ingestDump(ctx context.Context, s *site, d dump, opt ingestOptions) (record jobstore.Record, report ingest.Report, err error) {
	if d.query != nil {
		return a.ingestAnswer(ctx, s, d, opt)
	}
	input, size, err := a.openDump(d)
	if err != nil {
		return record, report, inputError{fmt.Errorf("%s: %w", d.name, plain(err)), ""}
	}
	defer input.Close()
	if there, err := s.taken(d, size); err != nil || there != nil {
		record, err = s.passOver(there, opt, err)
		return record, report, err
	}
	in, report, err := a.read(ctx, s, d, input, size)
	if in != nil {
		defer in.Abort()
	}
	if err != nil {
		return record, report, err
	}
	if len(report.Quarantined) > 0 && opt.strict {
		return record, report, strictError(d.name, report)
	}
	if there, err := s.digestTaken(report.Digest); err != nil || there != nil {
		record, err = s.passOver(there, opt, err)
		return record, report, err
	}
	record, err = in.Commit(a.dumpOf(d, report))
	return record, report, err
}

// read takes a dump into an ingest, which is then to be committed or given up;
// size is 0 where it is not known. The ingest is nil where none was begun.
func (a *app) read(ctx context.Context, s *site, d dump, input io.Reader, size int64) (*jobstore.Ingest, ingest.Report, error) {
	progress := a.newProgress(d.name, size)
	defer progress.end()
	d.options.Progress, d.options.Quarantined = progress.read, progress.quarantined
	reader, err := ingest.Open(d.name, input, d.options)
	if err != nil {
		return nil, ingest.Report{}, err
	}
	in, err := s.jobs.Begin()
	if err != nil {
		return nil, ingest.Report{}, err
	}
	for batch, err := range reader.Batches() {
		if err == nil {
			err = errors.Join(ctx.Err(), in.Add(batch))
		}
		if err != nil {
			return in, ingest.Report{}, err
		}
		progress.jobs(len(batch))
	}
	return in, reader.Report(), nil
}

func (a *app) openDump(d dump) (io.ReadCloser, int64, error) {
	if d.path == "" {
		return io.NopCloser(a.stdin), 0, nil
	}
	f, err := os.Open(d.path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("is a directory")
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// strictError lists the records for which --strict refuses a dump.
func strictError(name string, report ingest.Report) error {
	errs := make([]error, 0, len(report.Quarantined)+1)
	for _, q := range report.Quarantined {
		errs = append(errs, inputError{fmt.Errorf("%s:%d: %s", q.Source.File, q.Source.Line, q.Reason), q.Hint})
	}
	return errors.Join(append(errs, inputError{fmt.Errorf("%s: %s cannot be read, and --strict takes none: nothing was ingested",
		name, count(int64(len(report.Quarantined)), "record")), ""})...)
}

// dumpOf is what is known of a dump once it was read whole.
func (a *app) dumpOf(d dump, r ingest.Report) jobstore.Dump {
	return jobstore.Dump{
		File: d.name, Digest: r.Digest, Bytes: r.Bytes, Newest: r.Newest,
		Records: r.Records, Steps: r.Steps, OrphanSteps: r.OrphanSteps,
		Quarantined: r.Quarantined, Warnings: r.Warnings,
		Format: r.Format, Zone: d.zone(), IngestedAt: a.clock(),
	}
}

// historyIngest is a job store's record as the history keeps it.
func historyIngest(r jobstore.Record) history.Ingest {
	in := history.Ingest{
		ID: fmt.Sprintf("%08d-%s", r.Sequence, r.Digest), At: r.IngestedAt, Cluster: strings.Join(r.Clusters, ","),
		File: r.File, Digest: r.Digest, Bytes: r.Bytes,
		Records: r.Records, Steps: r.Steps, New: r.New, Revised: r.Revised,
		Unchanged: r.Unchanged + r.Superseded, Quarantined: r.Quarantined,
	}
	if r.FirstEnd != ingest.None {
		in.FirstEnd, in.LastEnd = timeOf(r.FirstEnd).UTC(), timeOf(r.LastEnd).UTC()
	}
	return in
}

// clocksApart is how far the clocks of two machines may be apart.
const clocksApart = 10 * time.Minute

// printIngest says what became of every record of a dump, and what may be
// missing from it.
func (a *app) printIngest(r jobstore.Record, report ingest.Report) {
	fmt.Fprintf(a.stdout, "%s: %s = %s jobs (%s new, %s revised, %s unchanged) + %s steps + %s quarantined\n",
		r.File, count(r.Records, "record"), grouped(r.New+r.Revised+r.Unchanged+r.Superseded),
		grouped(r.New), grouped(r.Revised), grouped(r.Unchanged+r.Superseded), grouped(r.Steps), grouped(r.Quarantined))
	for _, w := range r.Warnings {
		if w.Kind == ingest.WarnOrphanSteps && report.OrphanCPUSeconds > 0 {
			continue // said below, with what it may cost
		}
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s\n", oneLine(warningLine(r.File, w)))
	}
	if n := r.Quarantined; n > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s: %s cannot be read: their periods stay open\n", r.File, count(n, "record"))
		fmt.Fprintln(a.stderr, "hpcbill: hint: hpcbill report quarantine")
	}
	if ahead := timeOf(r.Newest).Sub(a.clock()); ahead > clocksApart {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s: its latest time is %s ahead of the clock here: it was read in %s, which may not be its zone\n",
			r.File, ahead.Truncate(time.Minute), r.Zone)
		fmt.Fprintln(a.stderr, "hpcbill: hint: say in which zone sacct printed (timezone: of the source, or --timezone), or dump with TZ=UTC")
	}
	if report.Truncated {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s: the file ends inside a record, so that jobs may be missing after it\n", r.File)
		fmt.Fprintln(a.stderr, "hpcbill: hint: dump these days again and ingest the whole dump under the same name")
	}
	if n := report.OrphanCPUSeconds; n > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s: %s of jobs that are not in it, up to %s CPU-hours: they are billed only if another dump has the jobs\n",
			r.File, count(report.OrphanSteps, "step"), hours(n))
		fmt.Fprintln(a.stderr, "hpcbill: hint: dump again with the command that hpcbill help sacct prints: it shows every job that ran in the days asked for")
	}
	if slices.ContainsFunc(r.Warnings, func(w ingest.Warning) bool { return w.Kind == ingest.WarnRunaway }) {
		fmt.Fprintln(a.stderr, "hpcbill: hint: hpcbill report runaway lists the jobs that run past their limit")
	}
}

// warningLine says an oddity of a dump with its place and how often it was
// met.
func warningLine(file string, w ingest.Warning) string {
	where := file
	if w.Line > 0 {
		where = fmt.Sprintf("%s:%d", file, w.Line)
	}
	return fmt.Sprintf("%s: %s (%s)", where, w.Text, count(w.Count, "time"))
}
