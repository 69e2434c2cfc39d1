package rating

import (
	"errors"
	"fmt"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// whereText names the place of a holding in a cause.
func whereText(h *ingest.Holding) string {
	if h.Tier == "" {
		return "filesystem=" + h.Filesystem
	}
	return "filesystem=" + h.Filesystem + " tier=" + h.Tier
}

// sizeText prints a size in a unit, to three places where it has more.
func sizeText(bytes int64, unit ingest.StorageUnit) string {
	per := int64(1e12)
	if unit == ingest.TiB {
		per = 1 << 40
	}
	switch {
	case bytes < 0:
		return "none"
	case bytes > 0 && bytes < per/1000:
		return fmt.Sprintf("%d bytes", bytes)
	}
	return money.Ratio(bytes, per).Decimal(3, money.HalfEven) + " " + string(unit)
}

// causeOfNoHolder names who holds what, and how much is at stake.
func causeOfNoHolder(h *ingest.Holding, roster *rates.Roster) Cause {
	if h.Listed {
		return Cause{
			Code: NoGroup, Detail: fmt.Sprintf("%s %s quota=%s used=%s", h.Holder, whereText(h), sizeText(h.QuotaBytes, h.Unit), sizeText(h.UsedBytes, h.Unit)),
			Hint: fmt.Sprintf("%s line %d lists it: say whose it is under groups: of its source in hpcbill.yaml, or ignore: REASON", h.Source.File, h.Source.Line),
		}
	}
	return Cause{
		Code: NoGroup, Detail: fmt.Sprintf("group=%s %s", h.Group, whereText(h)),
		Hint: fmt.Sprintf("%s line %d names a group that %s does not have", h.Source.File, h.Source.Line, roster.File),
	}
}

func causeOfStorage(err error, o *StorageOutcome, rule string, reason Reason) Cause {
	c := Cause{Code: BadFormula, Detail: fmt.Sprintf("rule=%s %s: %v", rule, whereText(&o.Holding), err), Reason: reason,
		Hint: fmt.Sprintf("guard the formula in the rule at line %d of %s", reason.Line, reason.File)}
	var unknown *formula.UnknownFigureError
	switch {
	case errors.As(err, &unknown):
		c.Code, c.Detail = UnknownFigure, fmt.Sprintf("%s %s group=%s", unknown.Name, whereText(&o.Holding), o.Holding.Group)
		c.Hint = fmt.Sprintf("the rule at line %d of %s needs it and %v", reason.Line, reason.File, unknown)
		var noUse *noUseError
		switch h := o.Holding; {
		case errors.As(err, &noUse):
			c.Hint = fmt.Sprintf("write into %s what %s used on %s from %s on: 0 TB if nothing", h.Source.File, h.Group, h.Place(), noUse.day)
			if h.Listed {
				c.Hint = fmt.Sprintf("nothing lists what was used there on %s: add a listing of that day or of one before", noUse.day)
			}
		case errors.Is(err, errNoQuota) && h.Listed:
			c.Hint = fmt.Sprintf("%s line %d lists it without a quota: set one on the file system; or write quotas into storage.csv and  quota: none  for the source; or exclude it by a rule of the card", h.Source.File, h.Source.Line)
		case errors.Is(err, errNoQuota):
			c.Hint = fmt.Sprintf("write the quota of %s on %s into %s: 0 TB for a quota of nothing", h.Group, h.Place(), h.Source.File)
		}
	case errors.Is(err, rates.ErrNotListed):
		c.Code, c.Detail, c.Hint = NoPrice, err.Error(), "add it to the table in "+reason.File
	}
	return c
}
