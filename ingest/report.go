package ingest

// Report is what was met while a dump was read. Records = Jobs + Steps +
// len(Quarantined), always.
type Report struct {
	Digest    string // SHA-256 of the file's bytes as stored, before decompression, hexadecimal
	Bytes     int64  // bytes of the file as stored
	TextBytes int64  // bytes of the text after decompression
	Lines     int64  // physical lines, headers and blank lines included

	Records int64
	Jobs    int64
	Steps   int64
	// OrphanSteps are those of Steps whose job is nowhere in the dump: time
	// that may be missing from the bill.
	OrphanSteps int64
	// OrphanCPUSeconds is their elapsed time by their CPUs. Steps of one job
	// may run at once, so that it can be more than the job's.
	OrphanCPUSeconds int64

	Quarantined []Quarantined
	Warnings    []Warning // one of a kind, in a fixed order

	// Truncated says that the end of the file was cut off: the last line is
	// incomplete, so that more may be missing.
	Truncated bool

	// Newest is the latest instant seen: a submission, a start, an end, or
	// the moment up to which a running job's time was counted. It stands for
	// the dump's own time. None where the dump has no job.
	Newest Instant

	FirstEnd, LastEnd Instant // of the jobs that have ended; None where none has

	HasSteps       bool // steps were printed (sacct without -X)
	HasBilling     bool // some job carries a billing count
	HasDBIndex     bool // records carry DBIndex or SLUID
	HasAllocTRES   bool
	HasElapsedOnly bool // durations had to be read from Elapsed or from the times

	Format string // "sacct -P", "sacct -p", "sacct --json v0.0.41", …
}

// Quarantined is a record that could not be read, kept as it stands.
type Quarantined struct {
	Source Source
	Reason string // "Field: cause"
	Hint   string // what to do; "" = not known
	Text   string // the record as it stands, cut at 4 KiB, made valid UTF-8

	// End is the job's end where one can be read, else None: it says which
	// period the record belongs to.
	End Instant
}

// Warning is an oddity of the file, with how often it was met.
type Warning struct {
	Kind  WarningKind
	Count int64
	Line  int64 // the first physical line where it was met; 0 = the file as a whole
	Text  string
}

// WarningKind names a kind of oddity.
type WarningKind string

// The kinds of warnings.
const (
	WarnNoFinalNewline   WarningKind = "no-final-newline"
	WarnTrailingDelim    WarningKind = "trailing-delimiter"
	WarnElapsedDisagrees WarningKind = "elapsed-disagrees"
	WarnInvalidUTF8      WarningKind = "invalid-utf8"
	WarnReanchored       WarningKind = "reanchored"
	WarnMemoryRounded    WarningKind = "memory-rounded"
	WarnGPUTypes         WarningKind = "gpu-types-disagree"
	WarnLeapSecond       WarningKind = "leap-second"
	WarnRunaway          WarningKind = "runaway"
	WarnNodesDisagree    WarningKind = "nodes-disagree"
	WarnRepeatedHour     WarningKind = "repeated-hour"
	WarnNoSubmit         WarningKind = "no-submit"
	WarnMixedTimes       WarningKind = "mixed-times"
	WarnSecondHeader     WarningKind = "second-header"
	WarnUnknownColumn    WarningKind = "unknown-column"
	WarnOrphanSteps      WarningKind = "orphan-steps"
	WarnTruncatedTimes   WarningKind = "truncated-times"
	WarnUnknownState     WarningKind = "unknown-state"
	WarnStrangeJobID     WarningKind = "strange-job-id"
	WarnResizedStart     WarningKind = "resized-start"
	WarnParserVersion    WarningKind = "parser-version"
	WarnForeignSteps     WarningKind = "foreign-steps"
	WarnAnswer           WarningKind = "answer-warning"
)

var warningTexts = []struct {
	kind WarningKind
	note Notes // 0 = not counted from the jobs' notes
	text string
}{
	{WarnNoFinalNewline, 0, "the last line has no newline: the file may have been cut off"},
	{WarnTrailingDelim, 0, "every line ends in one more delimiter (sacct -p, or -P of Slurm 18.08)"},
	{WarnSecondHeader, 0, "a header with other columns inside the file: joined dumps"},
	{WarnUnknownColumn, 0, "columns that are not sacct's, passed over"},
	{WarnElapsedDisagrees, NoteElapsedDisagrees, "elapsed time is not End − Start − Suspended; the elapsed time counts"},
	{WarnInvalidUTF8, NoteInvalidUTF8, "bytes that are not UTF-8 were replaced by U+FFFD"},
	{WarnReanchored, NoteReanchored, "a delimiter or a new line inside a text was found and undone"},
	{WarnMemoryRounded, NoteMemoryRounded, "memory was printed with two decimals and may have been rounded; dump with --noconvert"},
	{WarnGPUTypes, NoteGPUTypesDisagree, "gres/gpu and its types disagree; gres/gpu counts"},
	{WarnLeapSecond, NoteLeapSecond, "a stamp of second 60 was read as the next second"},
	{WarnRunaway, NoteRunaway, "running more than a day past its time limit, or for a year without one: see sacctmgr show runawayjobs"},
	{WarnNodesDisagree, NoteNodesDisagree, "NNodes or NCPUS and AllocTRES disagree; AllocTRES counts"},
	{WarnRepeatedHour, NoteRepeatedHour, "a time lies in the hour that a clock change repeats and nothing tells which; dump with TZ=UTC"},
	{WarnNoSubmit, NoteNoSubmit, "no Submit in the record: the start stands in for it, so that the job is another one than in a dump that has it"},
	{WarnMixedTimes, 0, "times are written in more than one form"},
	{WarnOrphanSteps, 0, "steps whose job is not in the dump"},
	{WarnTruncatedTimes, 0, "many jobs start at the first moment of the dump and many end at its last: if it was made with sacct -T, make it without"},
	{WarnUnknownState, 0, "states that this program does not know"},
	{WarnStrangeJobID, NoteStrangeJobID, "job ids such as 0_0, where JobIDRaw tells the jobs apart"},
	{WarnResizedStart, NoteResizedStart, "later parts of resized jobs have the start of the whole job; each begins where it was resized, at its Submit"},
	{WarnParserVersion, 0, "an answer of a data parser that was not tried"},
	{WarnForeignSteps, 0, "steps of an older job with the same id"},
	{WarnAnswer, 0, "warnings in the answer"},
}

// tally counts the oddities of one file.
type tally struct {
	counts map[WarningKind]*Warning
}

func (t *tally) add(kind WarningKind, line int64) { t.addText(kind, line, "") }

// addText is add with words of its own in place of the kind's.
func (t *tally) addText(kind WarningKind, line int64, text string) {
	if t.counts == nil {
		t.counts = map[WarningKind]*Warning{}
	}
	w := t.counts[kind]
	if w == nil {
		w = &Warning{Kind: kind, Line: line, Text: text}
		t.counts[kind] = w
	}
	w.Count++
}

func (t *tally) addNotes(n Notes, line int64) {
	for _, w := range warningTexts {
		if w.note != 0 && n&w.note != 0 {
			t.add(w.kind, line)
		}
	}
}

// Texts says each of the notes in words, in the order of warnings.
func (n Notes) Texts() []string {
	var texts []string
	for _, w := range warningTexts {
		if n&w.note != 0 {
			texts = append(texts, w.text)
		}
	}
	return texts
}

// list returns the warnings in the order of warningTexts.
func (t *tally) list() []Warning {
	var list []Warning
	for _, kind := range warningTexts {
		w := t.counts[kind.kind]
		if w == nil {
			continue
		}
		if w.Text == "" {
			w.Text = kind.text
		}
		list = append(list, *w)
	}
	return list
}
