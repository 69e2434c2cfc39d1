package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
)

// query is one run of a source's command.
type query struct {
	source *sourceConfig
	window window
}

func (q *query) asked() jobstore.Asked {
	return jobstore.Asked{Series: q.source.series(), From: ingest.Instant(q.window.from.Unix()), To: ingest.Instant(q.window.to.Unix())}
}

// words are the program and all its arguments.
func (q *query) words(delimiter string) []string {
	columns := q.source.Columns
	if columns == nil {
		columns = sacctColumns
	}
	return slices.Concat(q.source.Command, sacctArguments(q.source.Cluster, q.window.from, q.window.to, columns, delimiter))
}

const (
	// killedWait is how long a command's pipes may stay open after its end.
	killedWait = 2 * time.Second
	// mostStderrBytes is how much of standard error is kept.
	mostStderrBytes = 64 << 10
	// mostStderrLines is how many lines of it a message repeats, each cut.
	mostStderrLines, stderrLineBytes = 3, 300
)

// harmlessMessage is a kind of line.
type harmlessMessage struct {
	what string
	form *regexp.Regexp
	why  string
}

// harmlessMessages are what may stand on standard error beside a good answer.
// Everything else may mean that records are missing: Slurm before 23.11 ends
// with 0 after most of its errors.
var harmlessMessages = []harmlessMessage{
	{"a host key that is new", regexp.MustCompile(`^Warning: Permanently added .* to the list of known hosts\.$`),
		"ssh says so once, before the command begins"},
	{"a locale that is not there", regexp.MustCompile(`^\S*sh: (line \d+: )?warning: setlocale: LC_\w+: cannot change locale \(.*\)(: No such file or directory)?$`),
		"a shell on the way has not got the language of this machine; sacct prints no words"},
	{"an old key exchange", regexp.MustCompile(`^\*\* (WARNING: connection is not using a post-quantum key exchange algorithm\.|This session may be vulnerable to "store now, decrypt later" attacks\.|The server may need to be upgraded\. See https://openssh\.com/pq\.html)$`),
		"ssh 10 says so of the connection, not of what comes over it"},
}

// answer is a command that runs, whose standard output is being read.
type answer struct {
	query     *query
	delimiter string          // that sacct was asked to put between cells, this once
	ctx       context.Context // ends at the time limit
	stop      context.CancelFunc
	command   *exec.Cmd
	stdout    io.ReadCloser
	stderr    limitedBuffer
	bytes     int64
	whole     bool // standard output was read to its end
}

// ask starts the command: without a shell, with nothing on standard input, in
// a process group of its own, so that all it starts can be ended with it.
func (q *query) ask(ctx context.Context, dir string) (*answer, error) {
	r := &answer{query: q, delimiter: unguessable()}
	r.ctx, r.stop = context.WithTimeout(ctx, q.source.TimeLimit)
	words := q.words(r.delimiter)
	c := exec.CommandContext(r.ctx, words[0], words[1:]...)
	c.Dir, c.Env, c.Stderr, c.WaitDelay = dir, queryEnvironment(os.Environ(), q.source.Zone), &r.stderr, killedWait
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	stdout, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		r.stop()
		return nil, r.refuse("does not start: "+notStarted(err), "the first word of command: is a program on PATH, or a file below the site")
	}
	r.command, r.stdout = c, stdout
	// Something that left the group may hold the pipe open for ever.
	context.AfterFunc(r.ctx, func() { time.AfterFunc(killedWait, func() { stdout.Close() }) })
	return r, nil
}

// notStarted says why a program did not start, without its name.
func notStarted(err error) string {
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		err = lookup.Err
	}
	return plain(err).Error()
}

// queryEnvironment is the environment with what changes sacct's output set
// right.
func queryEnvironment(environment []string, zone *time.Location) []string {
	environment = slices.DeleteFunc(slices.Clone(environment), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "SACCT_") || name == "SLURM_JSON" || name == "SLURM_YAML" || name == "SLURM_DEBUG_FLAGS"
	})
	for _, e := range sacctEnvironment {
		environment = append(environment, e.word)
	}
	return append(environment, "LC_ALL=C", "TZ="+zone.String())
}

// Read gives what the command prints.
func (r *answer) Read(p []byte) (int, error) {
	n, err := r.stdout.Read(p)
	r.bytes += int64(n)
	r.whole = r.whole || errors.Is(err, io.EOF)
	return n, err
}

// end waits for the command, or ends it where not all was read, and says
// whether the answer may be kept. readErr is what came of reading it.
func (r *answer) end(readErr error) error {
	defer r.stop()
	if !r.whole && r.ctx.Err() == nil && readErr != nil {
		r.stop()
		_ = r.command.Wait() // it was killed
		return readErr
	}
	err := r.command.Wait()
	var exit *exec.ExitError
	switch {
	case errors.Is(context.Cause(r.ctx), context.Canceled):
		return context.Canceled
	case r.ctx.Err() != nil && (err != nil || !r.whole):
		return r.refuse(fmt.Sprintf("did not end within %s and was killed", r.query.source.TimeLimit), "set time_limit: of this source higher, or ask for fewer days with since:")
	case errors.As(err, &exit) && exit.ExitCode() >= 0 && strings.Contains(string(r.stderr.kept), "nvalid field requested"):
		return r.refuse(fmt.Sprintf("ended with exit code %d", exit.ExitCode()), "this Slurm lacks a column: name those that it has with columns: of this source; hpcbill help sacct")
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return r.refuse(fmt.Sprintf("ended with exit code %d", exit.ExitCode()), "run it by hand: nothing of its answer was kept")
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // something it left behind holds standard error
		return r.refuse("ended badly: "+err.Error(), "run it by hand: nothing of its answer was kept")
	}
	if said, _ := r.said(); len(said) > 0 {
		return r.refuse("ended with exit code 0 but complains", "records may be missing: nothing of its answer was kept. hpcbill help sacct says which messages are known to be harmless")
	}
	if r.bytes == 0 {
		return r.refuse("printed nothing, not even a header", "a day without jobs still has its header: run it by hand")
	}
	return readErr
}

// said are the lines on standard error, and apart from them the harmless ones.
func (r *answer) said() (said, harmless []string) {
	for line := range strings.Lines(string(r.stderr.kept)) {
		line = strings.TrimSpace(line)
		known := slices.ContainsFunc(harmlessMessages, func(h harmlessMessage) bool { return h.form.MatchString(line) })
		switch {
		case line == "":
		case known:
			harmless = append(harmless, line)
		default:
			said = append(said, line)
		}
	}
	return said, harmless
}

// refuse says what the command did, with its command line and what it said.
func (r *answer) refuse(cause, remedy string) error {
	said, _ := r.said()
	for i, line := range said {
		if i == mostStderrLines {
			cause += fmt.Sprintf("; … and %s more", count(int64(len(said)-i), "line"))
			break
		}
		cause += "; " + line[:min(len(line), stderrLineBytes)]
	}
	return hinted{fmt.Errorf("%s: %s: %s", r.query.source.series()+":"+r.query.window.String(), shellLine(r.query.words(sacctDelimiter)), cause), remedy}
}

// limitedBuffer keeps the first bytes that are written to it.
type limitedBuffer struct{ kept []byte }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := mostStderrBytes - len(b.kept); room > 0 {
		b.kept = append(b.kept, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// ingestAnswer runs a command and takes in what it prints as it comes.
func (a *app) ingestAnswer(ctx context.Context, s *site, d dump, opt ingestOptions) (record jobstore.Record, report ingest.Report, err error) {
	answer, err := d.query.ask(ctx, s.dir)
	if err != nil {
		return record, report, err
	}
	d.options.Drawn = answer.delimiter
	in, report, readErr := a.read(ctx, s, d, answer, 0)
	if in != nil {
		defer in.Abort()
	}
	if err := answer.end(readErr); err != nil {
		return record, report, err
	}
	cut := slices.ContainsFunc(report.Warnings, func(w ingest.Warning) bool { return w.Kind == ingest.WarnNoFinalNewline })
	if report.Truncated || cut {
		return record, report, answer.refuse("ended inside a line", "its answer is not whole, and nothing of it was kept: run it by hand")
	}
	if len(report.Quarantined) > 0 && opt.strict {
		return record, report, strictError(d.name, report)
	}
	_, harmless := answer.said()
	for _, line := range harmless {
		fmt.Fprintf(a.stderr, "hpcbill: %s: says %s\n", d.name, oneLine(line))
	}
	for i := range report.Quarantined { // as every run would have printed it
		q := &report.Quarantined[i]
		q.Text = strings.ReplaceAll(q.Text, answer.delimiter, sacctDelimiter)
	}
	dump := a.dumpOf(d, report)
	dump.Asked = d.query.asked()
	record, err = in.Commit(dump)
	return record, report, err
}
