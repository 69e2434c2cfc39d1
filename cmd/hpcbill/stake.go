package main

import (
	"hpcbill/invoice"
	"hpcbill/rating"
)

// stakeText is what held jobs would cost: one amount, or the least and the
// most where it hangs on whose they are.
func (in *inputs) stakeText(s *rating.Stake) (string, error) {
	if s == nil || !s.Known() {
		return unknownText, nil
	}
	low, err := in.listText(s.Low)
	if err != nil {
		return "", err
	}
	high, err := in.listText(s.High)
	if err != nil || low == high {
		return low, err
	}
	return low + " to " + high, nil
}

// heldStake is what is at stake in all jobs held.
func heldStake(sum *invoice.Summary) *rating.Stake {
	all := &rating.Stake{}
	for _, c := range sum.HeldCauses() {
		switch {
		case c.Storage:
		case c.Stake == nil:
			return nil
		default:
			all.Add(*c.Stake)
		}
	}
	return all
}
