// Package rating prices one job, or one holding, into charges. It is pure: no
// file, no clock, no database, and the same input gives the same charges in
// any order.
package rating

import (
	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// Charge is one meter of one job or holding, priced.
type Charge struct {
	Group    string // the group's ID
	Meter    string
	Unit     string
	Quantity money.Exact // in Unit
	Price    money.Exact // per Unit, in the card's currency, major units
	// PriceLabel is the value that picked the price ("gpu", "external"), ""
	// where the meter has one price.
	PriceLabel string
	Amount     money.Exact // Quantity · Price unless the rule's amount formula says otherwise
	Reason     Reason

	// Tiers is set where the price hangs on what the group uses in the whole
	// period. Price and Amount are then 0, which is not what the charge costs:
	// the invoice stage knows.
	Tiers *rates.Tiers
	// Counted tells that tiers count the quantity over the fiscal year.
	Counted bool
	// EstimatedDays is how many days of a holding were counted with a use that
	// was measured earlier and carried forward; 0 where use does not matter.
	EstimatedDays int32
	// StorageUnit is the unit in which the formulas of a holding's charge
	// count, TB or TiB; "" where they name neither, or both.
	StorageUnit ingest.StorageUnit
}

// Reason is which line of which card made a charge.
type Reason struct {
	Card       string
	CardDigest string
	Version    rates.Date // the From of the version
	Rule       string
	File       string
	Line       int
}

// Verdict is what became of a job.
type Verdict uint8

// The verdicts. Every job gets exactly one for each of its parts.
const (
	Charged  Verdict = iota
	Waived           // priced, then forgiven by a rule that is named
	Excluded         // not billable by a rule that is named
	Held             // cannot be priced or attributed
	NotRun           // never started: no time, no charge
	Running          // had not ended when its record was made: it belongs to a later period

	verdicts // how many there are
)

var verdictNames = [verdicts]string{"charged", "waived", "excluded", "held", "not run", "running"}

// String is the verdict in words: "charged", "not run".
func (v Verdict) String() string { return verdictNames[v] }

// Outcome is what rating made of one job, or of the part of it that lies in
// the period. Seconds are job-seconds: of ElapsedSeconds, those of this part.
// From and Until are the part's span of wall time, half-open; of a whole job
// they are its Start and End. A part of which outages or waivers take a share
// has an outcome for what stays charged and one for each cause, all of the same
// span: Seconds and Charges are divided among them.
type Outcome struct {
	Job     *ingest.Job
	Verdict Verdict
	Group   string   // "" where attribution failed
	Charges []Charge // of Charged and Waived
	Cause   Cause    // of Waived, Excluded and Held
	Stake   *Stake   // what is held would cost where only the group is missing; else nil
	Kind    *Kind    // what it has in common with others; nil where that is not known
	Seconds int64

	From, Until ingest.Instant
}

// Cause says why a job was not charged. Code is one of a fixed list; Detail
// names the thing, so that held jobs can be counted by name.
type Cause struct {
	Code   string // "no account mapping", "no rule", "no card version" …
	Detail string // "account=chem_new cluster=c1"
	Hint   string // what clears it
	Reason Reason // the rule, where a rule decided
}

// StorageOutcome is what rating made of one holding in one period, or of its
// days under one version of the card.
type StorageOutcome struct {
	Holding ingest.Holding
	Verdict Verdict
	Charges []Charge
	Cause   Cause
	// From and Until are the days of the period that are charged, half-open:
	// those that the holding covers and one version of the card holds.
	// Holding.UsedBytes is what was used on the last of them.
	From, Until rates.Date
	Days        int
}
