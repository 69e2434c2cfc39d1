// Package rates holds what is charged and to whom: rate cards and the roster
// of groups, read from YAML, checked whole, and immutable afterwards.
//
// It owns the language of cards. It does not know jobs: the fields and
// figures that a card may speak of are listed here by name, and the rating
// stage gives them their values.
package rates

import (
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// Card is a rate card: dated rules that turn a job into meters, and prices
// that turn meters into money.
type Card struct {
	Name     string
	Currency money.Currency
	Source   string // where the policy is published
	Note     string
	Versions []*Version // by From, without overlap

	// Warnings are what a person should know of and what does not stop the
	// card from being used: a gap between versions, a meter that nothing
	// charges.
	Warnings Faults
	// Capitals are the conditions on accounts that no job meets, since Slurm
	// keeps accounts in lower case: faults, but of what billed issued months.
	Capitals Faults

	File   string // as it was named to the loader
	Digest string // SHA-256 of the YAML text, hexadecimal
	Text   []byte // the YAML itself, kept with what it billed
}

// Version is the card as it stands from a local midnight until the next.
type Version struct {
	From, Until Date // half-open days of the site's zone; Until is zero for "open"
	BillBy      BillBy

	Hardware []*Hardware // first match wins
	Lets     []*Let      // in the order of their evaluation
	Meters   map[string]*Meter
	States   *States // nil: every end state is charged alike
	Rules    []*Rule // first match wins
	Storage  []*StorageRule
	Limits   []*Limit // all that match hold

	Line, Column int    // of the version in the card's file
	Digest       string // of what it says, its span aside; see digestOfVersion
}

// Date is a calendar day of the site's zone.
type Date struct{ Year, Month, Day int }

// IsZero reports whether d is no date.
func (d Date) IsZero() bool { return d == Date{} }

// BillBy says in which period, and under which version, a job belongs.
type BillBy uint8

// The choices of BillBy.
const (
	ByEnd   BillBy = iota // whole, where its End lies (the default)
	ByStart               // whole, where its Start lies
	ByUsage               // cut to the second at every period and version boundary
)

// Hardware is a fact of the machine: the node type of the jobs it matches.
// Figures that were not written are absent: a formula that needs one holds
// the job.
type Hardware struct {
	Name     string
	NodeType string // what match: and price_by: call node_type; the name where not written
	Match    Match

	Cores, MemoryGiB, GPUs, Threads          money.Exact // of one node; threads of one core
	MemoryPerCoreGiB                         money.Exact // MemoryGiB ÷ Cores where not written
	HasCores, HasMemory, HasGPUs, HasThreads bool
	HasMemoryPerCore                         bool

	TRESWeights   string        // TRESBillingWeights as slurm.conf has it
	PriorityFlags []string      // in capitals
	SlurmBilling  *SlurmBilling // what the two amount to; nil where TRESWeights is not written
	Line, Column  int
}

// Let is a named figure of the card, evaluated in order before the rules.
type Let struct {
	Name    string
	Formula *formula.Formula
	Clock   *Clock       // where the figure is the hours of the run that lie in it; Formula is elapsed_h
	Slot    formula.Slot // where its value is kept: of a clock, in seconds

	Line, Column int
}

// Meter is a quantity that is counted, with its unit and its price.
type Meter struct {
	Name  string
	Unit  string // as printed: "core-hour"
	Price Price
	Tiers *Tiers // instead of Price, where prices change with how much was used
	// Counted tells that tiers of the version count the meter's units over the
	// fiscal year.
	Counted      bool
	Line, Column int
}

// Price turns units into money. A price without a table is One for every job.
type Price struct {
	By    string       // the field of the table: "class", "node_type", …; "" where entries match for themselves
	One   money.Exact  // where Table is empty
	Table []PriceEntry // in the card's order; first match wins
}

// PriceEntry is one row of a price table or of a factor.
type PriceEntry struct {
	Value string // as the card has it: a value or a glob of the field, or the row's label
	Match Match
	Price money.Exact // or the factor

	Line, Column int
}

// States says what becomes of a job by its end state.
type States struct {
	Entries []StateEntry // first match wins
	Line    int
}

// StateEntry is what becomes of the jobs that ended in a state.
type StateEntry struct {
	Pattern string // Slurm's word, or a glob
	Fate    Fate
	Reason  string // of Excluded and Waived
	Line    int
}

// Fate is what a card says of a job.
type Fate uint8

// The fates.
const (
	Charged  Fate = iota
	Excluded      // not billable
	Waived        // priced, then forgiven
)

// Rule says what a matching job is charged, or why it is not.
type Rule struct {
	Name    string
	Match   Match
	Exclude string        // the reason: not billable
	Waive   string        // the reason: priced, then forgiven (with charges)
	Charges []*RuleCharge // in the card's order
	States  *States       // instead of the version's; nil = the version's
	Line    int
}

// RuleCharge is one meter of a rule: four formulas of which one is usually
// written. The defaults are
//
//	duration = elapsed_h
//	units    = rate · factor · duration   (rate · factor where PerJob)
//	amount   = units · price
//
// and, in a storage rule, units = rate · what Prorate says of the month, a
// units formula being used as it stands. With PerDay the rate is evaluated for
// every day with that day's figures, and rate and units are the sum.
type RuleCharge struct {
	Meter                         *Meter
	Rate, Duration, Units, Amount *formula.Formula // nil where the default holds
	PerJob                        bool             // the rate is of the whole job, not of an hour
	PerDay                        bool             // the rate is of each day of a holding
	Factors                       []*Factor        // the version's, the rule's and the charge's own
	Line, Column                  int
}

// Factor is one link of the factor chain: a field whose value picks a number.
// What is not listed is Else, or holds the job.
type Factor struct {
	Field    string
	Table    []PriceEntry
	Else     money.Exact // 1 where not written
	ElseHold bool
	Line     int
}

// StorageRule prices the holdings that it matches.
type StorageRule struct {
	Name    string
	Match   Match
	Charges []*RuleCharge
	Exclude string
	Prorate Prorate
	// Snapshot is the day of the month whose quota and use stand for the whole
	// month, 0 for none; in a shorter month its last day.
	Snapshot int
	Line     int
}

// Prorate says how a quota that holds for part of a month is charged.
type Prorate uint8

// The choices of Prorate. But by days, a group is charged once a month for
// what it holds on a file system, and the figures of use are the month's.
const (
	ProrateDay       Prorate = iota // days held ÷ days of the month (the default)
	ProrateNone                     // the whole month, at the largest quota held in it
	ProrateHalfMonth                // the whole month, at the quota of its 15th: a later change counts from the next month
)
