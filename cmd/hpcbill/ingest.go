package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
}

func (a *app) ingestCommand() *cobra.Command {
	var opt ingestOptions
	var zone string
	c := &cobra.Command{
		Use:   "ingest [FILE…]",
		Short: "sacct dumps → Parquet",
		Long: `Reads sacct dumps (text of -P or -p, JSON; plain, gzip or zstd, told by content)
into data/jobs. Without a file it reads the sources of hpcbill.yaml; - is
standard input. A dump either lands whole or leaves no trace; one that is there
already is passed over; the same or an overlapping dump changes nothing.

Records that cannot be read are quarantined, counted and listed by
hpcbill report quarantine; with --strict any of them refuses the dump.

Exit codes: 0 done · 1 failed · 2 configuration · 3 a dump has faults.`,
		Example: "  hpcbill ingest\n  hpcbill ingest dumps/2026-03.txt.gz --cluster h2p\n  sacct -a -X -D -P … | hpcbill ingest - --cluster h2p",
		RunE: func(c *cobra.Command, files []string) error {
			if zone != "" {
				var err error
				if opt.zone, err = time.LoadLocation(zone); err != nil {
					return usageError{fmt.Errorf("--timezone: unknown time zone %q", zone), "a name such as UTC or America/New_York"}
				}
			}
			return a.withSite(func(s *site) error {
				if len(files) == 0 {
					return a.ingestSources(c.Context(), s, opt)
				}
				return a.ingestFiles(c.Context(), s, files, opt)
			})
		},
	}
	c.Flags().StringVar(&opt.cluster, "cluster", "", "the cluster of dumps without a Cluster column")
	c.Flags().StringVar(&zone, "timezone", "", "the zone of the dump's times (default UTC, or what the source says)")
	c.Flags().BoolVar(&opt.strict, "strict", false, "refuse a dump that has any unreadable record")
	return c
}

// dump is one file that is to be ingested and how it is to be read.
type dump struct {
	name    string // as the operator gave it: it names the dump for ever
	path    string // "" = standard input
	options ingest.Options
}

// ingestSources takes every file of the configured sources.
func (a *app) ingestSources(ctx context.Context, s *site, opt ingestOptions) error {
	var dumps []dump
	for i, src := range s.config.Sources {
		paths, err := filepath.Glob(s.path(src.Files))
		if err != nil {
			return usageError{fmt.Errorf("%s:%d: sources[%d].files: %q is not a pattern", configFile, src.Line, i, src.Files), ""}
		}
		if len(paths) == 0 {
			return usageError{fmt.Errorf("%s:%d: sources[%d].files: no file matches %s", configFile, src.Line, i, src.Files),
				"a dump that is missing is the commonest wrong invoice: put it there or correct the pattern"}
		}
		sort.Strings(paths)
		for _, p := range paths {
			name, err := filepath.Rel(s.dir, p)
			if err != nil {
				return err
			}
			dumps = append(dumps, dump{filepath.ToSlash(name), p, s.readOptions(src, opt)})
		}
	}
	if len(dumps) == 0 {
		return usageError{fmt.Errorf("%s: sources: names no dumps", configFile), "list them there, or name a file: hpcbill ingest FILE"}
	}
	return a.ingestDumps(ctx, s, dumps, opt)
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
			dumps = append(dumps, dump{"-", "", s.readOptions(sourceConfig{}, opt)})
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
		dumps = append(dumps, dump{name, f, s.readOptions(source, opt)})
	}
	return a.ingestDumps(ctx, s, dumps, opt)
}

// ingestDumps takes the dumps one after the other. A dump that is refused
// does not keep the others out; every refusal is reported.
func (a *app) ingestDumps(ctx context.Context, s *site, dumps []dump, opt ingestOptions) error {
	var errs []error
	taken, passed := 0, 0
	for _, d := range dumps {
		if d.options.Cluster != "" && s.tariff().Cards[d.options.Cluster] == nil {
			errs = append(errs, usageError{fmt.Errorf("%s: cluster %q is not under clusters: in %s", d.name, d.options.Cluster, configFile), "add it there with its card"})
			continue
		}
		record, fresh, err := a.ingestDump(ctx, s, d, opt)
		switch {
		case err != nil:
			errs = append(errs, err)
		case !fresh:
			passed++
		default:
			taken++
			a.printIngest(record)
		}
	}
	if passed > 0 {
		fmt.Fprintf(a.stdout, "%s there already\n", count(int64(passed), "dump"))
	}
	if taken > 0 {
		errs = append(errs, a.recordIngests(ctx, s))
	}
	return errors.Join(errs...)
}

// ingestDump lands one dump, or passes over one that is there: fresh says
// which.
func (a *app) ingestDump(ctx context.Context, s *site, d dump, opt ingestOptions) (record jobstore.Record, fresh bool, err error) {
	input, size, err := a.openDump(d)
	if err != nil {
		return record, false, inputError{fmt.Errorf("%s: %w", d.name, plain(err)), ""}
	}
	defer input.Close()
	if there, err := s.taken(d, size); err != nil || there {
		return record, false, err
	}
	progress := a.newProgress(d.name, size)
	defer progress.end()
	d.options.Progress = progress.read
	reader, err := ingest.Open(d.name, input, d.options)
	if err != nil {
		return record, false, err
	}
	in, err := s.jobs.Begin()
	if err != nil {
		return record, false, err
	}
	defer in.Abort()
	for batch, err := range reader.Batches() {
		if err == nil {
			err = errors.Join(ctx.Err(), in.Add(batch))
		}
		if err != nil {
			return record, false, err
		}
		progress.jobs(len(batch))
	}
	report := reader.Report()
	if len(report.Quarantined) > 0 && opt.strict {
		return record, false, strictError(d.name, report)
	}
	if there, err := s.jobs.Has(report.Digest); err != nil || there {
		return record, false, err
	}
	record, err = in.Commit(a.dumpOf(d, report))
	return record, err == nil, err
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

// taken reports whether a dump of this size and these bytes is in the store.
// Only a file whose size was seen before is read for its digest.
func (s *site) taken(d dump, size int64) (bool, error) {
	records, err := s.jobs.Ingests()
	if err != nil || d.path == "" {
		return false, err
	}
	digest := ""
	for _, r := range records {
		if r.Bytes != size {
			continue
		}
		if digest == "" {
			if digest, err = fileDigest(d.path); err != nil {
				return false, err
			}
		}
		if r.Digest == digest {
			return true, nil
		}
	}
	return false, nil
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
	zone := time.UTC
	if d.options.Zone != nil {
		zone = d.options.Zone
	}
	return jobstore.Dump{
		File: d.name, Digest: r.Digest, Bytes: r.Bytes, Newest: r.Newest,
		Records: r.Records, Steps: r.Steps, OrphanSteps: r.OrphanSteps,
		Quarantined: r.Quarantined, Warnings: r.Warnings,
		Format: r.Format, Zone: zone.String(), IngestedAt: a.clock(),
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

// printIngest says what became of every record of a dump.
func (a *app) printIngest(r jobstore.Record) {
	fmt.Fprintf(a.stdout, "%s: %s = %s jobs (%s new, %s revised, %s unchanged) + %s steps + %s quarantined\n",
		r.File, count(r.Records, "record"), grouped(r.New+r.Revised+r.Unchanged+r.Superseded),
		grouped(r.New), grouped(r.Revised), grouped(r.Unchanged+r.Superseded), grouped(r.Steps), grouped(r.Quarantined))
	for _, w := range r.Warnings {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s\n", oneLine(warningLine(r.File, w)))
	}
	if n := r.Quarantined; n > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s: %s cannot be read and keeps its period open\n", r.File, count(n, "record"))
		fmt.Fprintln(a.stderr, "hpcbill: hint: hpcbill report quarantine")
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
