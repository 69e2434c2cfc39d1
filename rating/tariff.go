package rating

import (
	"time"

	"hpcbill/rates"
)

// Tariff is everything that decides a charge, apart from the job: the cards
// of the clusters and file systems, the roster, and the zone whose midnights
// begin days and months. It is read, never changed.
type Tariff struct {
	Zone    *time.Location
	Roster  *rates.Roster
	Cards   map[string]*rates.Card // by the cluster's name
	Storage []StorageCard          // the first that matches holds
	Outages *rates.Outages         // nil = none
	Waivers *rates.Waivers         // nil = none
}

// StorageCard names the card of the file systems that a literal or a glob
// matches.
type StorageCard struct {
	Filesystem string
	Card       *rates.Card
}

// Stage is one step of pricing a job.
type Stage string

// The stages of pricing.
const (
	AttributeStage  Stage = "attribute"   // which group the job reaches
	SelectRuleStage Stage = "select rule" // the first rule of the card that matches
	LetStage        Stage = "let"         // the card's own figures that the rule needs
	RateStage       Stage = "rate"        // units an hour
	FactorStage     Stage = "factors"     // what multiplies the rate
	DurationStage   Stage = "duration"    // hours that count
	UnitsStage      Stage = "units"       // rate · factors · duration, unless the card says otherwise
	PriceStage      Stage = "price"       // of one unit
	AmountStage     Stage = "amount"      // units · price, unless the card says otherwise
	WaiveStage      Stage = "waive"       // what outages and single decisions take off it
)

// Order is the order of the stages. It is the same for every job and part of
// what a card means; a stage that the card does not write has its default and
// is absent from an explanation. Nothing is rounded at any stage but by a
// formula of the card that says so.
func Order() []Stage {
	return []Stage{
		AttributeStage, SelectRuleStage, LetStage, RateStage, FactorStage,
		DurationStage, UnitsStage, PriceStage, AmountStage, WaiveStage,
	}
}
