package rating

// The codes of causes. They are part of what the history keeps and what
// people filter by: they are added to, never changed.
const (
	// Of held jobs and holdings.
	NoCard        = "no card"         // the cluster or file system has no rate card
	NoVersion     = "no card version" // the card has none at that date
	NoGroup       = "no group"        // no rule of the roster reaches a group
	TwoGroups     = "ambiguous group" // rules of the roster reach several by equal right
	NoRule        = "no rule"         // no rule of the card matches
	NoPrice       = "no price"        // the meter's price table lists no such value
	NoFactor      = "no factor"       // a factor that must list the value does not
	UnknownFigure = "unknown figure"  // a formula needs what the record does not say
	UnknownState  = "unknown state"   // Slurm has no such state, or the card does not list it
	PartitionList = "partition list"  // a job that ran names several partitions
	BadFormula    = "formula"         // a formula has no value for this job, such as x / 0

	// Of excluded and waived jobs: the Detail is the reason that the rule gives.
	ByRule = "rule"

	// Of waived jobs alone.
	ByOutage = "outage" // an outage of outages.yaml; the Detail is its name and reason
	ByWaiver = "waiver" // a row of waivers.csv; the Detail is its reason
)
