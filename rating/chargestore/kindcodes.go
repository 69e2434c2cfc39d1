package chargestore

import "hpcbill/rating"

// common is what the rows of a Kind have in common.
type common struct {
	bundled  [3]uint32 // the numbers of their combinations of inGroup, inOrigin and inBasis
	ruleLine uint32
}

// kindCodes are the codes that the rows of a Kind have: codeCommon + 1 of each
// charge, or of the row that has none; 0 where it is not known.
type kindCodes [2]uint32

// codesOf gives what is known of the codes of the outcome's rows, to be filled
// in; nil where they are looked for one by one.
func (l *Lexicon) codesOf(o *rating.Outcome) []uint32 {
	if o.Kind == nil || len(o.Charges) > len(kindCodes{}) {
		return nil
	}
	return l.kinds.Of(o.Kind)[:]
}

// common gives the code of what hangs on the outcome's Kind.
func (l *Lexicon) common(o *rating.Outcome, c *rating.Charge, charged bool) uint32 {
	j := o.Job
	return l.commons.number(common{ruleLine: uint32(c.Reason.Line), bundled: [...]uint32{
		inGroup:  l.bundles[inGroup].number([]string{c.Group}),
		inOrigin: l.bundles[inOrigin].number([]string{j.Cluster, j.User, j.Account, j.Partition, j.QoS, string(j.State)}),
		inBasis:  l.basis(o, c, charged),
	}})
}
