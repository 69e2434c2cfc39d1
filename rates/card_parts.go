package rates

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/formula"
)

// checkParts looks at charges under bill_by: usage, which cuts jobs: what the
// whole job has once is not to be counted in each of its parts, and what is
// rounded is rounded in each.
func (c *chargeLoader) checkParts() {
	if c.version.BillBy != ByUsage || c.subject != formula.OfJob {
		return
	}
	if c.charge.PerJob {
		for _, stage := range []formula.Stage{formula.RateStage, formula.UnitsStage} {
			f := c.stageFormula(stage)
			if f != nil && slices.ContainsFunc(formula.PartTimes(), f.DependsOn) {
				c.Fault(c.formulas[stage], c.path, "bill_by: usage cuts jobs, and this would see only the time of a job's last part", "leave out per: job; or bill by end or start")
				return
			}
		}
		return
	}
	c.checkPart(formula.DurationStage, c.charge.Duration, func(formula.Slot) bool { return false })
	c.checkPart(formula.UnitsStage, c.charge.Units, func(s formula.Slot) bool { return s == formula.Duration })
	c.checkPart(formula.AmountStage, c.charge.Amount, func(s formula.Slot) bool { return s == formula.Units || s == formula.Duration })
}

func (c *chargeLoader) checkPart(stage formula.Stage, f *formula.Formula, earlier func(formula.Slot) bool) {
	switch n, at := c.formulas[stage], c.path+"."+stage.String(); {
	case f == nil || f.SumsOverParts(earlier):
	case f.RepeatsInParts(earlier):
		c.Fault(n, at, "bill_by: usage cuts jobs, and each part would be charged what the whole job has once", "bill by end or start; or write what is charged once as a charge of its own, per: job")
	default:
		c.warn(n, at, "bill_by: usage cuts jobs, and this rounds each part, or has a minimum for each: the parts do not add up to the job", "bill by end or start; or multiply by elapsed_h and round nothing")
	}
}

func (c *chargeLoader) stageFormula(stage formula.Stage) *formula.Formula {
	if stage == formula.RateStage {
		return c.charge.Rate
	}
	return c.charge.Units
}

// checkEnergy refuses joules as units an hour: they are those of the whole job.
func (c *chargeLoader) checkEnergy(rate *yaml.Node) {
	if f := c.charge.Rate; f != nil && !c.charge.PerJob && f.DependsOnEnergy() {
		c.Fault(rate, c.path, `a rate is units an hour, and tres("energy") is what the whole job used`, "write it as units:, or with per: job")
	}
}

// readStates reads states:, and warns where the months of a job that has not
// ended would be held: under bill_by: usage they are billed when they are over.
func (v *versionLoader) readStates(n *yaml.Node, path string) *States {
	s := v.states(n, path)
	if v.version.BillBy != ByUsage || len(s.Entries) == 0 {
		return s
	}
	var unlisted []string
	for _, state := range []string{"RUNNING", "SUSPENDED"} {
		if _, listed := s.Of(state); !listed {
			unlisted = append(unlisted, state)
		}
	}
	if len(unlisted) > 0 {
		text := strings.Join(unlisted, " and ")
		v.warn(n, path, "does not list "+text+", and bill_by: usage bills a month also for the jobs that run on: they are held until they have ended",
			"add "+text+" to charge: once a job has ended, what its end state says is corrected")
	}
	return s
}
