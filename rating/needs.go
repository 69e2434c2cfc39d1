package rating

import (
	"hpcbill/rates"
	"hpcbill/rates/formula"
)

// Needs are the fields of a job that pricing it by a tariff looks at, beside
// those that it looks at whatever the tariff says: who ran what, where and how
// it ended, its times, and what it was allocated. What is in a field that is
// not needed changes nothing.
type Needs struct {
	WCKey, Reservation, CancelledBy       bool
	Eligible, Timelimit                   bool
	ReqCPUs, ReqMemory, ReqGPUs, ReqNodes bool
	AllocTRES                             bool
	NodeList                              bool
}

// AnyNeeds is what some tariff may look at.
func AnyNeeds() Needs {
	return Needs{
		WCKey: true, Reservation: true, CancelledBy: true, Eligible: true, Timelimit: true,
		ReqCPUs: true, ReqMemory: true, ReqGPUs: true, ReqNodes: true, AllocTRES: true, NodeList: true,
	}
}

// Needs tells what pricing jobs by the Rater's tariff looks at.
func (r *Rater) Needs() Needs {
	var n Needs
	n.asks(r.rosterAsks)
	for _, c := range r.cards {
		for _, v := range c.versions {
			n.version(v)
		}
	}
	if o := r.tariff.Outages; o != nil {
		for _, w := range o.All {
			n.asks(w.Match.Asks())
		}
		n.NodeList = n.NodeList || o.AskForNodes()
	}
	return n
}

func (n *Needs) version(v *version) {
	n.asks(v.asks)
	n.slots(v.slots)
	for _, ru := range v.rules {
		n.ReqMemory = n.ReqMemory || ru.memory // in place of what is not recorded
		n.AllocTRES = n.AllocTRES || ru.slurmBilling || ru.tres
	}
}

func (n *Needs) asks(a rates.Asks) {
	n.WCKey = n.WCKey || a.Texts&(1<<rates.WCKey) != 0
	n.Reservation = n.Reservation || a.Texts&(1<<rates.Reservation) != 0
	n.CancelledBy = n.CancelledBy || a.Texts&(1<<rates.CancelledBy) != 0
	n.AllocTRES = n.AllocTRES || a.GPUTypes
	n.NodeList = n.NodeList || a.Nodes
	if a.Numbers {
		n.slots(recordSlots[:])
	}
}

func (n *Needs) slots(slots []formula.Slot) {
	for _, slot := range slots {
		switch slot {
		case formula.ReqCPUs:
			n.ReqCPUs = true
		case formula.ReqMemoryMiB:
			n.ReqMemory = true
		case formula.ReqGPUs:
			n.ReqGPUs = true
		case formula.ReqNodes:
			n.ReqNodes = true
		case formula.TimelimitSeconds:
			n.Timelimit = true
		case formula.WaitSeconds:
			n.Eligible = true
		}
	}
}
