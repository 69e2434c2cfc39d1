package rates

// keys are the names that a mapping of a card may have. The loader refuses
// any other.
type keys []string

func (k keys) names() []string { return k }

// The mappings of a card.
var (
	cardKeys     = keys{"card", "currency", "source", "note", "bill_by", "versions"}
	versionKeys  = keys{"from", "until", "note", "bill_by", "hardware", "let", "meters", "factor", "states", "rules", "storage"}
	hardwareKeys = keys{"type", "match", "cores", "mem_gib", "gpus", "threads", "mem_per_core_gib", "tres_weights", "priority_flags", "note"}
	meterKeys    = keys{"unit", "price", "price_by", "tiers", "note"}
	priceKeys    = keys{"match", "price", "label"}
	ruleKeys     = keys{"name", "match", "charge", "exclude", "waive", "factor", "states", "note"}
	chargeKeys   = keys{"rate", "duration", "units", "amount", "per", "factor"}
	storageKeys  = keys{"name", "match", "charge", "exclude", "prorate", "factor", "note"}
	statesKeys   = keys{"charge", "exclude", "waive"}
)
