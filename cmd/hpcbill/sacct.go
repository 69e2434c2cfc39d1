package main

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// sacctWord is a part of the recommended sacct command and the reason for it.
type sacctWord struct{ word, why string }

// The recommended sacct command, which leaves nothing to guess: what is set in
// the environment, the options, and the columns. The README shows it, a
// command source runs it.
var (
	sacctEnvironment = []sacctWord{
		{"TZ=UTC", "times are printed without their zone; UTC has no hour that comes twice"},
		{"SLURM_TIME_FORMAT=standard", "a user's own format may leave out the year"},
		{"SLURM_BITSTR_LEN=0", "the ranges of waiting array jobs are not cut off"},
	}
	sacctOptions = []sacctWord{
		{"-a", "the jobs of all users. Run it as root or as a Slurm operator: where PrivateData hides jobs, others silently get fewer"},
		{"-X", "allocations without their steps, which overlap each other and the job"},
		{"-D", "every run of a job that was requeued; without it all but the last are lost"},
		{"-P", "nothing is cut to the width of a column"},
		{"--noconvert", "sizes are not rounded to two decimals"},
		{"--delimiter=" + sacctDelimiter, "-P escapes nothing, and a job's name may hold the usual | but hardly this"},
	}
	sacctColumns = []string{
		"Cluster", "DBIndex", "JobIDRaw", "JobID", "User", "UID", "Account", "Partition", "QOS", "WCKey", "Reservation",
		"Submit", "Eligible", "Start", "End", "ElapsedRaw", "Suspended", "TimelimitRaw", "State", "ExitCode",
		"NNodes", "NCPUS", "CPUTimeRAW", "ReqMem", "ReqTRES", "AllocTRES", "NodeList", "JobName",
	}
)

// sacctDelimiter is the control character that was made for this.
const sacctDelimiter = "\x1f"

// sacctTime is how sacct reads and prints a time.
const sacctTime = "2006-01-02T15:04:05"

// sacctArguments are the arguments that make sacct print these columns of the
// records of a cluster that were eligible before to and had not ended before
// from.
func sacctArguments(cluster string, from, to time.Time, columns []string, delimiter string) []string {
	var args []string
	for _, o := range sacctOptions {
		if o.word == "--delimiter="+sacctDelimiter {
			o.word = "--delimiter=" + delimiter
		}
		args = append(args, o.word)
	}
	return append(args, "-M", cluster, "-S", from.Format(sacctTime), "-E", to.Format(sacctTime), "-o", strings.Join(columns, ","))
}

// unguessable is a delimiter that nobody can have put into the name of a job:
// -P escapes nothing, and a name with a new line and all cells of a record
// after it would be read as that record. Its letters pass any shell.
func unguessable() string { return sacctDelimiter + strings.ToLower(rand.Text()[:8]) }

// recommendedCommand is the command for a month as a person types it.
func recommendedCommand() string {
	var environment, options []string
	for _, e := range sacctEnvironment {
		environment = append(environment, e.word)
	}
	for _, o := range sacctOptions {
		options = append(options, shellQuoted(o.word))
	}
	return fmt.Sprintf("%s \\\n  sacct %s \\\n  -S 2026-03-01 -E 2026-04-01 \\\n  -o %s", strings.Join(environment, " "),
		strings.Join(options, " "), strings.Join(sacctColumns, ","))
}

// shellQuoted writes a word so that a shell (bash, where control characters
// are in it) reads it as it is.
func shellQuoted(word string) string {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./,:+@%", r)
	}
	switch {
	case strings.ContainsFunc(word, control):
		var b strings.Builder
		for _, c := range []byte(word) {
			switch {
			case c == '\'' || c == '\\':
				b.WriteString("\\" + string(c))
			case control(rune(c)):
				fmt.Fprintf(&b, `\x%02x`, c)
			default:
				b.WriteByte(c)
			}
		}
		option, value, found := strings.Cut(b.String(), "=")
		if found && strings.HasPrefix(option, "-") {
			return option + "=$'" + value + "'"
		}
		return "$'" + b.String() + "'"
	case word == "" || strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// shellLine writes a command as a person types it.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellQuoted(w)
	}
	return strings.Join(quoted, " ")
}

const sacctHelp = `The dump that leaves nothing to guess is made with

%s

%s

JobName stands last: it is a user's own text, and what stands last is whole
whatever is in it. -S and -E choose the jobs that were eligible before the end
and had not ended before the start, whole; overlapping dumps do no harm. Keep
standard error apart, look at the exit code, and never use -T, --units or -s.
Slurm before 20.02 has no DBIndex: leave that column out. Where times cannot be
printed in UTC, add the column Planned (Reserved before 23.02): it decides most
of the hour that the end of summer time repeats.

hpcbill runs this itself where a source of hpcbill.yaml names a command:

  sources:
    - command: [sacct]      # a list: no shell is there. A bare name is looked up
                            # on PATH, one with a slash from the site directory
      cluster: h2p          # is asked for with -M
      since: 2026-01-01     # the first day (default: when first_period begins)
      look_back: 7          # days before today that are asked for again
      time_limit: 10m       # of one run
      columns: [Cluster, JobIDRaw, …]  # in place of those above, where this Slurm
                            # has not got them all: DBIndex came with 20.02,
                            # TimelimitRaw with 18.08, ElapsedRaw (else Elapsed)
                            # with 17.02. sacct --helpformat lists what there is

It asks for the days since then that it has not got whole (which takes an answer
from an hour after their end), for the last days again, since records arrive
late and running jobs end, and for today up to now: at most %d days in one run, each run a dump of its own such as
command:h2p:2026-03-01..2026-03-08. hpcbill ingest --from DAY asks for all days
from that one on again.

The delimiter of every run has letters after it that were drawn for the run, so
that no job's name can hold it and pass for a record of its own.

An answer is taken whole or not at all. It is refused, and ingest ends with exit
code 1, when the command does not end with 0 or within the time limit (it is
killed with all that it started), when it prints nothing or ends inside a
record, and when it says anything on standard error but

%s

By way of ssh the environment must be part of the command, since ssh does not
pass it on:

  command: [ssh, login1, %s, sacct]
`

// sacctTopic is a topic of help, not a verb.
func (a *app) sacctTopic() *cobra.Command {
	var reasons, harmless []string
	for _, w := range slices.Concat(sacctEnvironment, sacctOptions) {
		reasons = append(reasons, wrapped("  ", fmt.Sprintf("%-28s", shellQuoted(w.word)), w.why))
	}
	for _, h := range harmlessMessages {
		harmless = append(harmless, wrapped("  ", fmt.Sprintf("%-28s", h.what), h.why))
	}
	var environment []string
	for _, e := range sacctEnvironment {
		environment = append(environment, e.word)
	}
	return &cobra.Command{
		Use:   "sacct",
		Short: "how to dump, and how hpcbill asks Slurm itself",
		Long: strings.TrimRight(fmt.Sprintf(sacctHelp, "  "+strings.ReplaceAll(recommendedCommand(), "\n", "\n  "), strings.Join(reasons, "\n"),
			mostWindowDays, strings.Join(harmless, "\n"), strings.Join(environment, ", ")), "\n"),
	}
}

// helpWidth is how wide a help text is.
const helpWidth = 80

// wrapped sets a text beside its head.
func wrapped(indent, head, text string) string {
	margin := strings.Repeat(" ", len(indent)+len([]rune(head)))
	line, lines := indent+head, []string{}
	for i, word := range strings.Fields(text) {
		if i > 0 && len([]rune(line))+1+len([]rune(word)) > helpWidth {
			lines, line = append(lines, line), margin+word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}
