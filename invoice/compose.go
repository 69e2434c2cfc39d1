package invoice

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// DefaultRounding is the commercial rounding that finance offices expect: to
// the nearest minor unit, a tie away from zero.
const DefaultRounding = money.HalfUp

// Settings are the invoice settings of a site.
type Settings struct {
	Issuer   Party
	Currency money.Currency // of the cards; nothing is converted
	Rounding money.Mode     // of a usage or storage line to the minor unit
	Overhead []OverheadRule // in the order in which they are printed
	Tax      []TaxRule      // likewise; on overhead too, where a rule says so
	// FiscalYearStart is the month in which a fiscal year begins. Tiers that
	// count over one need it.
	FiscalYearStart time.Month
	Reductions      *rates.Reductions // discounts and caps; nil = none
	// Issued says that the period was issued: its refunds were given back, and
	// what came in late has what they left.
	Issued bool
}

// Composer takes the outcomes of a period one by one, in any order, keeps
// nothing but sums, and makes the period's invoices of them.
//
// A Composer is for one goroutine. Several can share the work: Merge adds
// what another has taken, and the result is the same.
type Composer struct {
	period   rates.Period
	settings Settings
	roster   *rates.Roster
	groups   map[string]*groupSums
	order    []*groupSums // by group ID
	current  current

	charges money.Sum // of all amounts, apart from the lines: what they are checked against
	jobs    JobCounts
	seconds JobSeconds
	storage HoldingCounts
	causes  map[causeKey]*causeSum
	kinds   rating.ByKind[kindLines]
}

// current is the job or holding whose outcomes are being taken. A job that is
// cut has several, one after the other, and counts once.
type current struct {
	sequence int64 // counts jobs and holdings
	cluster  string
	id       uint64
	submit   ingest.Instant
	start    ingest.Instant // a job that was resized has a record for each size, apart in nothing else
	index    uint64
	verdict  rating.Verdict // under which it is counted
	job      bool
}

// NewComposer makes a Composer for the groups of the roster. Two allocations
// of a group under one name are refused, since balances are kept by name.
func NewComposer(period rates.Period, settings Settings, roster *rates.Roster) (*Composer, error) {
	if settings.Currency.Code == "" {
		return nil, fmt.Errorf("BUG: invoices without a currency")
	}
	c := &Composer{
		period: period, settings: settings, roster: roster,
		groups: make(map[string]*groupSums, len(roster.Groups)),
		causes: make(map[causeKey]*causeSum),
	}
	for _, g := range roster.Groups {
		sums, err := newGroupSums(g, period, settings.Reductions)
		if err != nil {
			return nil, err
		}
		if c.groups[g.ID] != nil {
			return nil, fmt.Errorf("BUG: group %s stands twice in the roster", g.ID)
		}
		c.groups[g.ID] = sums
		c.order = append(c.order, sums)
	}
	sort.Slice(c.order, func(i, j int) bool { return c.order[i].group.ID < c.order[j].group.ID })
	return c, nil
}

// AddJob takes what rating made of one job, or of one part of it; the parts of
// a job come one after the other. Nothing of o is kept.
func (c *Composer) AddJob(o *rating.Outcome) error {
	if err := checkVerdict(o.Verdict, len(o.Charges)); err != nil {
		return fmt.Errorf("%w: job %s/%s", err, o.Job.Cluster, o.Job.JobID)
	}
	if c.current.is(o.Job) {
		c.jobs.recount(&c.current.verdict, o.Verdict)
	} else {
		c.current = current{
			sequence: c.current.sequence + 1, job: true, verdict: o.Verdict,
			cluster: o.Job.Cluster, id: o.Job.JobIDRaw, submit: o.Job.Submit, start: o.Job.Start, index: o.Job.DBIndex,
		}
		c.jobs.Read++
		*c.jobs.of(o.Verdict)++
	}
	c.seconds.add(o.Verdict, o.Seconds)
	c.addCause(o.Verdict, &o.Cause, false, o.Seconds, o.Stake)
	at := usedAt(o)
	lines := c.linesOf(o)
	for i := range o.Charges {
		var known *chargeLine
		if lines != nil {
			known = &lines[i]
		}
		l, err := c.lineOf(Usage, o.Job.Cluster, o.Job.User, &o.Charges[i], known)
		if err != nil {
			return fmt.Errorf("%w: job %s/%s", err, o.Job.Cluster, o.Job.JobID)
		}
		if c.charge(l, &o.Charges[i], o.Verdict, &o.Cause, at) && o.Verdict == rating.Charged {
			l.group.count(c.current.sequence)
		}
	}
	return nil
}

// usedAt is the instant that decides which allocations cover the outcome: the
// End of the job, or the last second of a part that ends before it.
func usedAt(o *rating.Outcome) int64 {
	if o.Until != ingest.None && o.Until != o.Job.End {
		return int64(o.Until) - 1
	}
	return int64(o.Job.End)
}

// is reports whether the job is the one whose outcomes are being taken.
func (c *current) is(j *ingest.Job) bool {
	return c.job && c.id == j.JobIDRaw && c.submit == j.Submit && c.start == j.Start && c.index == j.DBIndex && c.cluster == j.Cluster
}

// AddStorage takes what rating made of one holding.
func (c *Composer) AddStorage(o rating.StorageOutcome) error {
	where := func(err error) error {
		return fmt.Errorf("%w: storage of %s on %s", err, o.Holding.Group, o.Holding.Place())
	}
	if err := checkVerdict(o.Verdict, len(o.Charges)); err != nil {
		return where(err)
	}
	c.current = current{sequence: c.current.sequence + 1}
	c.storage.add(o.Verdict)
	c.addCause(o.Verdict, &o.Cause, true, 0, nil)
	last := c.lastInstant(o.Holding)
	for i := range o.Charges {
		l, err := c.lineOf(Storage, o.Holding.Place(), "", &o.Charges[i], nil)
		if err != nil {
			return where(err)
		}
		c.charge(l, &o.Charges[i], o.Verdict, &o.Cause, last)
	}
	return nil
}

// lastInstant is the last second that a holding has in the period.
func (c *Composer) lastInstant(h ingest.Holding) int64 {
	end := c.period.End.Unix()
	if !h.Until.IsZero() {
		until := rates.Date{Year: h.Until.Year, Month: h.Until.Month, Day: h.Until.Day}
		end = min(end, until.Midnight(c.period.Start.Location()).Unix())
	}
	return end - 1
}

func checkVerdict(v rating.Verdict, charges int) error {
	switch {
	case v > rating.Running:
		return fmt.Errorf("BUG: verdict %d", v)
	case charges > 0 && v != rating.Charged && v != rating.Waived:
		return fmt.Errorf("BUG: charges with verdict %s", v)
	}
	return nil
}

// chargeLine is where a charge adds to.
type chargeLine struct {
	group *groupSums
	sum   *lineSum
	scope int // in the group's scopes
}

// lineOf finds where a charge adds to. known is where that is kept for the
// charges of its Kind, nil where it has none.
func (c *Composer) lineOf(kind Kind, cluster, user string, ch *rating.Charge, known *chargeLine) (chargeLine, error) {
	if err := checkCharge(ch); err != nil {
		return chargeLine{}, err
	}
	if known != nil && known.sum != nil {
		return *known, nil
	}
	g := c.groups[ch.Group]
	if g == nil {
		return chargeLine{}, fmt.Errorf("BUG: a charge for group %q, which the roster does not have", ch.Group)
	}
	l := chargeLine{group: g, scope: scopeOf(g.scopes, user, ch.Meter), sum: g.line(&lineKey{
		kind: kind, cluster: cluster, meter: ch.Meter, unit: ch.Unit, label: ch.PriceLabel, price: ch.Price,
		card: ch.Reason.Card, digest: ch.Reason.CardDigest, version: ch.Reason.Version, tiers: ch.Tiers, counted: ch.Counted,
	})}
	if known != nil {
		*known = l
	}
	return l, nil
}

// kindLines are the lines of a Kind's charges; sum is nil where one is not known.
type kindLines [2]chargeLine

// linesOf gives what is known of the lines of the outcome's charges, to be
// filled in; nil where they are looked for one by one.
func (c *Composer) linesOf(o *rating.Outcome) []chargeLine {
	if o.Kind == nil || len(o.Charges) > len(kindLines{}) {
		return nil
	}
	return c.kinds.Of(o.Kind)[:]
}

func checkCharge(ch *rating.Charge) error {
	if ch.Tiers != nil && (ch.Price.Sign() != 0 || ch.Amount.Sign() != 0) {
		return fmt.Errorf("BUG: a charge by tiers comes with the price %s", ch.Price)
	}
	if ch.Quantity.Sign() < 0 || ch.Amount.Sign() < 0 || ch.Price.Sign() < 0 {
		return fmt.Errorf("%s:%d: rule %s: meter %s: %s %s for %s is negative",
			ch.Reason.File, ch.Reason.Line, ch.Reason.Rule, ch.Meter, ch.Quantity, ch.Unit, ch.Amount)
	}
	return nil
}

// charge adds one charge to its line, and reports whether it is of more than
// nothing. What is waived is a part of the line for itself, by cause.
func (c *Composer) charge(l chargeLine, ch *rating.Charge, v rating.Verdict, cause *rating.Cause, at int64) (some bool) {
	c.charges.Add(ch.Amount)
	p := partKey{segment: l.group.segmentOf(at), scope: l.scope}
	if v == rating.Waived {
		p = partKey{waived: true, code: cause.Code, detail: cause.Detail}
	}
	return l.sum.add(p, ch, c.current.sequence)
}

func (c *Composer) addCause(v rating.Verdict, cause *rating.Cause, storage bool, seconds int64, stake *rating.Stake) {
	if v != rating.Waived && v != rating.Excluded && v != rating.Held {
		return
	}
	key := causeKey{v, storage, cause.Code, cause.Detail}
	sum := c.causes[key]
	if sum == nil {
		key.code, key.detail = strings.Clone(key.code), strings.Clone(key.detail)
		sum = &causeSum{CauseSum: CauseSum{
			Verdict: v, Storage: storage, Code: key.code, Detail: key.detail, Hint: strings.Clone(cause.Hint),
		}}
		c.causes[key] = sum
	}
	if sum.sequence != c.current.sequence {
		sum.Count++
		sum.sequence = c.current.sequence
	}
	sum.Seconds += seconds
	sum.stake(stake)
}

// Merge adds what other, made for the same period and roster, has taken.
// other must not be used afterwards.
func (c *Composer) Merge(other *Composer) {
	c.charges.AddSum(other.charges)
	c.jobs.merge(other.jobs)
	c.seconds.merge(other.seconds)
	c.storage.merge(other.storage)
	for key, sum := range other.causes {
		if mine := c.causes[key]; mine != nil {
			mine.Count += sum.Count
			mine.Seconds += sum.Seconds
			mine.Hint = min(mine.Hint, sum.Hint)
			mine.stake(sum.Stake)
			continue
		}
		c.causes[key] = &causeSum{CauseSum: sum.CauseSum}
	}
	for id, sums := range other.groups {
		c.groups[id].merge(sums)
	}
}

// Compose makes the drafts of the period, sorted by group ID, and the summary
// that accounts for every outcome taken. A group without charges gets no
// invoice and is named in the summary. ledger holds what earlier periods drew
// on allocations; entries of this and later periods are passed over.
//
// What the roster lacks for a group that is billed is an error of rates.Faults.
//
// The sums are checked before they are returned; an equation that does not
// hold is an error worded "BUG:".
func (c *Composer) Compose(ledger []LedgerEntry) ([]Invoice, Summary, error) {
	comp := &composition{composer: c, ledger: ledger, units: c.unitsOfMeters()}
	invoices, err := comp.invoices()
	if err != nil {
		return nil, Summary{}, err
	}
	if len(comp.faults) > 0 {
		return nil, Summary{}, comp.faults
	}
	summary := c.summary()
	for _, b := range comp.bills {
		summary.addTiers(b.tiered)
	}
	summary.NothingDue = comp.nothingDue
	if err := summary.addInvoices(invoices); err != nil {
		return nil, Summary{}, err
	}
	if err := summary.Check(invoices); err != nil {
		return nil, Summary{}, err
	}
	return invoices, summary, nil
}

// unitsOfMeters says what each meter that occurs is counted in; a meter that
// cards count in several units has no unit of its own.
func (c *Composer) unitsOfMeters() map[string]string {
	units := make(map[string]string)
	for _, g := range c.order {
		for key := range g.lines {
			if unit, seen := units[key.meter]; seen && unit != key.unit {
				units[key.meter] = ""
				continue
			}
			units[key.meter] = key.unit
		}
	}
	return units
}
