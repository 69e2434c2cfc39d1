// Package invoice folds charges into lines and lines into invoices, and
// checks that they add up.
//
// It owns the order of reductions, the rounding of lines and the sum of
// totals. It does not own numbers and issue dates (invoice/history gives
// them) nor the look of a document.
package invoice

import (
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// Invoice is what one group owes for one period. Everything printed on a
// document is here, so that a document can be drawn again years later.
type Invoice struct {
	Number   string // "" while a draft
	Issued   string // RFC 3339 UTC, "" while a draft
	Period   string // "2026-03"
	Zone     string // the IANA zone of the period
	Issuer   Party
	Group    Recipient
	Currency money.Currency
	Rounding money.Mode // of each usage and storage line

	Lines      []Line
	List       money.Amount // sum of the usage and storage lines
	Reductions money.Amount // sum of the reduction lines, ≤ 0
	Manual     money.Amount // sum of the lines that people wrote, of either sign
	Prior      money.Amount // sum of the corrections of issued months, of either sign
	Overhead   money.Amount // sum of the lines of overhead
	Tax        money.Amount // sum of the lines of tax
	Total      money.Amount // sum of all lines

	Taxes    []TaxSum      // in the total, each once; none where nothing is taxed
	Funds    []FundShare   // who pays the total, where it is split; none where one fund does or none is named
	Balances []Balance     // prepaid allocations, as this period leaves them
	Counters []Counter     // of tiers over a fiscal year, as this period leaves them
	Pools    []Pool        // limits of subsidies and caps, likewise
	Late     []LedgerEntry // what issued months draw and count beyond what was issued; none where nothing came late
	Jobs     int64         // jobs charged for more than a quantity of 0
}

// Party is who sends an invoice.
type Party struct{ Name, Address, Email, TaxID, Footer string }

// Recipient is the group as the roster had it when the invoice was made.
type Recipient struct {
	ID, Name, PI, Department, Class, Address, PO, Fund, TaxID, Language string
	Contacts                                                            []string
}

// Kind is what a line is.
type Kind string

// The kinds of line, in the order in which they are printed.
const (
	Usage     Kind = "usage"
	Storage   Kind = "storage"
	Waiver    Kind = "waiver"    // forgiven by a rule of the card, an outage or a person: a reduction
	Discount  Kind = "discount"  // a percentage off by a rule, at most what it grants: a reduction
	Allowance Kind = "allowance" // free by a rule: a reduction, of units or of money
	Cap       Kind = "cap"       // above the most that is charged: a reduction
	Prepaid   Kind = "prepaid"   // a draw on a prepaid allocation: a reduction
	Overdraft Kind = "overdraft" // beyond the balance, forgiven: a reduction
	Manual    Kind = "manual"    // an adjustment: a charge or a credit that a person wrote
	Prior     Kind = "prior"     // a correction of a month that is issued: what came in late
	Overhead  Kind = "overhead"  // a percentage of the lines before
	Tax       Kind = "tax"       // a percentage of what is taxed
)

// kinds are all of them, in printed order.
var kinds = [...]Kind{Usage, Storage, Waiver, Discount, Allowance, Cap, Prepaid, Overdraft, Manual, Prior, Overhead, Tax}

// Lists reports whether lines of the kind are use at list price.
func (k Kind) Lists() bool { return k == Usage || k == Storage }

// Reduces reports whether lines of the kind take money off another line.
func (k Kind) Reduces() bool { return !k.Lists() && !k.Adds() }

// Adds reports whether lines of the kind are neither use nor a reduction of it.
func (k Kind) Adds() bool { return k == Manual || k == Prior || k == Overhead || k == Tax }

// OfMoney reports whether lines of the kind take off money alone, and have no
// quantity and no price.
func (k Kind) OfMoney() bool { return k == Discount || k == Cap }

// OfMoney reports whether a line takes off money alone: so does an allowance of
// money.
func (l *Line) OfMoney() bool {
	return l.Kind.OfMoney() || l.Kind == Allowance && l.Quantity.Sign() == 0
}

// rank is the place of the kind among the kinds.
func (k Kind) rank() int {
	for i, other := range kinds {
		if k == other {
			return i
		}
	}
	return -1
}

// The codes of reductions.
const (
	CodeWaived    = "waived"        // by a rule or an end state of a card
	CodeOutage    = rating.ByOutage // by outages.yaml
	CodeWaiver    = rating.ByWaiver // by waivers.csv
	CodeDiscount  = "discount"
	CodeSubsidy   = "subsidy" // a discount with a limit
	CodeAllowance = "allowance"
	CodeCap       = "cap"
	CodePrepaid   = "prepaid"
	CodeOverdraft = "overdraft_waived"
)

// The codes of what is added to a bill.
const (
	CodeLate        = "late_records"
	CodeCarriedOver = "carried_over" // of a month that found other balances, since one before it is corrected
	CodeOverhead    = "overhead"
	CodeTax         = "tax"
)

// Line is all charges of one kind at one price. A usage or storage line is
// rounded once, here; the reductions of a line are shares of its printed
// amount by largest remainder, so that a line that is wholly prepaid leaves
// nothing, not a cent. The invoice's sums are sums of lines as printed.
type Line struct {
	Position    int // from 1
	Kind        Kind
	Cluster     string // or the file system
	Meter       string
	Unit        string
	Description string // a sentence a researcher understands
	PriceLabel  string
	Quantity    money.Exact // negative on a reduction
	Price       money.Exact // per Unit, major units; 0 on a reduction that is not a quantity at one price
	Exact       money.Exact // before rounding, major units
	Amount      money.Amount
	Jobs        int64
	Code        string // of a reduction or an adjustment: why
	Reason      string // of a reduction: the waiver's reason, or the name of the rule or allocation; of an adjustment: its reason; of a correction: the invoice
	Of          int    // of a reduction: the Position of the line it reduces; else 0
	Reference   string // of an adjustment: what names it; of a correction: the month; else ""
	Author      string // of an adjustment: who decided on it; else ""
	Card        string
	CardDigest  string
	Version     rates.Date
}

// Balance is a prepaid allocation over one period. Left is Opening + Deposits −
// Refunds − Drawn. Units are everything that the roster grants up to the end of
// the period, deposits and refunds counted in, and Opening is what was granted
// before it, less what earlier periods drew.
type Balance struct {
	Allocation           string
	Meter, Unit          string
	Units                money.Exact
	From, Until          rates.Date // half-open
	Overdraft            rates.Overdraft
	Deposits, Refunds    money.Exact // in this period, ≥ 0
	Opening, Drawn, Left money.Exact
	Beyond               money.Exact // used above what was left
}
