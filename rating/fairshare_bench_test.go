package rating

import (
	"testing"

	"hpcbill/ingest"
	"hpcbill/rates/money"
)

func BenchmarkFairshareAdd(b *testing.B) {
	f := NewFairshare(noon, NewDecay(week))
	o := Outcome{Job: &ingest.Job{User: "u1"}, Charges: []Charge{{Group: "lab", Meter: "m", Unit: "h", Quantity: money.Ratio(12345, 3600)}}}
	for i := range b.N {
		o.Until = noon - ingest.Instant(i%(5*week)*7%(30*day))
		f.Add(&o)
	}
	_ = f.Shares()
}
