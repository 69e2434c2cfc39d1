package invoice

import (
	"encoding/json"
	"errors"
	"fmt"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// The JSON of an invoice keeps every field, so that reading it back gives the
// same invoice to the last digit: amounts are decimal text with the currency's
// digits, exact numbers a decimal or a fraction as text, days 2026-03-31.

type invoiceJSON struct {
	Number         string        `json:"number,omitempty"`
	Issued         string        `json:"issued,omitempty"`
	Period         string        `json:"period"`
	Zone           string        `json:"zone"`
	Issuer         partyJSON     `json:"issuer"`
	Group          recipientJSON `json:"group"`
	Currency       string        `json:"currency"`
	CurrencyDigits int           `json:"currency_digits"`
	Rounding       modeText      `json:"rounding"`
	Lines          []lineJSON    `json:"lines"`
	List           string        `json:"list"`
	Reductions     string        `json:"reductions"`
	Manual         string        `json:"manual,omitempty"`
	Prior          string        `json:"prior,omitempty"`
	Overhead       string        `json:"overhead,omitempty"`
	Tax            string        `json:"tax,omitempty"`
	Total          string        `json:"total"`
	Balances       []balanceJSON `json:"balances"`
	Counters       []counterJSON `json:"counters,omitempty"`
	Pools          []poolJSON    `json:"pools,omitempty"`
	Jobs           int64         `json:"jobs"`
	Taxes          []taxJSON     `json:"taxes,omitempty"`
	Funds          []fundJSON    `json:"funds,omitempty"`
	Late           []entryJSON   `json:"late,omitempty"`
}

type entryJSON struct {
	Kind       LedgerKind `json:"kind,omitempty"`
	Group      string     `json:"group"`
	Allocation string     `json:"allocation,omitempty"`
	Pool       string     `json:"pool,omitempty"`
	Card       string     `json:"card,omitempty"`
	Period     string     `json:"period"`
	Meter      string     `json:"meter"`
	Unit       string     `json:"unit"`
	Units      exactText  `json:"units"`
}

type partyJSON struct {
	Name    string `json:"name"`
	Address string `json:"address,omitempty"`
	Email   string `json:"email,omitempty"`
	TaxID   string `json:"tax_id,omitempty"`
	Footer  string `json:"footer,omitempty"`
}

type recipientJSON struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	PI         string   `json:"pi,omitempty"`
	Department string   `json:"department,omitempty"`
	Class      string   `json:"class,omitempty"`
	Address    string   `json:"address,omitempty"`
	PO         string   `json:"po,omitempty"`
	Fund       string   `json:"fund,omitempty"`
	TaxID      string   `json:"tax_id,omitempty"`
	Language   string   `json:"language,omitempty"`
	Contacts   []string `json:"contacts,omitempty"`
}

type lineJSON struct {
	Position    int       `json:"position"`
	Kind        Kind      `json:"kind"`
	Cluster     string    `json:"cluster"`
	Meter       string    `json:"meter"`
	Unit        string    `json:"unit"`
	Description string    `json:"description"`
	PriceLabel  string    `json:"price_label,omitempty"`
	Quantity    exactText `json:"quantity"`
	Price       exactText `json:"price"`
	Exact       exactText `json:"exact"`
	Amount      string    `json:"amount"`
	Jobs        int64     `json:"jobs"`
	Code        string    `json:"code,omitempty"`
	Reason      string    `json:"reason,omitempty"`
	Of          int       `json:"of,omitempty"`
	Card        string    `json:"card"`
	CardDigest  string    `json:"card_digest"`
	Version     dateText  `json:"version"`
	Reference   string    `json:"reference,omitempty"`
	Author      string    `json:"author,omitempty"`
}

type balanceJSON struct {
	Allocation string     `json:"allocation"`
	Meter      string     `json:"meter"`
	Unit       string     `json:"unit"`
	Units      exactText  `json:"units"`
	From       dateText   `json:"from"`
	Until      dateText   `json:"until"`
	Overdraft  string     `json:"overdraft"`
	Opening    exactText  `json:"opening"`
	Deposits   *exactText `json:"deposits,omitempty"`
	Refunds    *exactText `json:"refunds,omitempty"`
	Drawn      exactText  `json:"drawn"`
	Left       exactText  `json:"left"`
	Beyond     exactText  `json:"beyond"`
}

type counterJSON struct {
	Card    string    `json:"card"`
	Meter   string    `json:"meter"`
	Money   bool      `json:"money,omitempty"`
	Unit    string    `json:"unit"`
	From    dateText  `json:"from"`
	Opening exactText `json:"opening"`
	Counted exactText `json:"counted"`
}

// MarshalJSON writes the whole invoice.
func (inv Invoice) MarshalJSON() ([]byte, error) {
	c := inv.Currency
	j := invoiceJSON{
		Number: inv.Number, Issued: inv.Issued, Period: inv.Period, Zone: inv.Zone,
		Issuer: partyJSON(inv.Issuer), Group: recipientToJSON(&inv.Group),
		Currency: c.Code, CurrencyDigits: c.Digits, Rounding: modeText{inv.Rounding},
		Lines: make([]lineJSON, 0, len(inv.Lines)), List: c.Plain(inv.List), Reductions: c.Plain(inv.Reductions),
		Total: c.Plain(inv.Total), Balances: make([]balanceJSON, 0, len(inv.Balances)), Jobs: inv.Jobs,
	}
	for i := range inv.Lines {
		j.Lines = append(j.Lines, inv.Lines[i].toJSON(c))
	}
	for i := range inv.Balances {
		j.Balances = append(j.Balances, inv.Balances[i].toJSON())
	}
	for _, c := range inv.Counters {
		j.Counters = append(j.Counters, counterJSON{c.Card, c.Meter, c.Money, c.Unit, dateText{c.From}, exactText{c.Opening}, exactText{c.Counted}})
	}
	for i := range inv.Pools {
		j.Pools = append(j.Pools, inv.Pools[i].toJSON())
	}
	for i := range inv.Funds {
		j.Funds = append(j.Funds, inv.Funds[i].toJSON(c))
	}
	j.Manual, j.Prior = plainOrNone(c, inv.Manual), plainOrNone(c, inv.Prior)
	j.Overhead, j.Tax = plainOrNone(c, inv.Overhead), plainOrNone(c, inv.Tax)
	for _, e := range inv.Late {
		j.Late = append(j.Late, entryJSON{e.Kind, e.Group, e.Allocation, e.Pool, e.Card, e.Period, e.Meter, e.Unit, exactText{e.Units}})
	}
	for i := range inv.Taxes {
		j.Taxes = append(j.Taxes, inv.Taxes[i].toJSON(c))
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (inv *Invoice) UnmarshalJSON(text []byte) error {
	var j invoiceJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	c := money.Currency{Code: j.Currency, Digits: j.CurrencyDigits}
	read := Invoice{
		Number: j.Number, Issued: j.Issued, Period: j.Period, Zone: j.Zone,
		Issuer: Party(j.Issuer), Group: j.Group.recipient(), Currency: c, Rounding: j.Rounding.Mode, Jobs: j.Jobs,
	}
	var errs [7]error
	read.List, errs[0] = parseAmount(j.List, c)
	read.Reductions, errs[1] = parseAmount(j.Reductions, c)
	read.Total, errs[2] = parseAmount(j.Total, c)
	read.Manual, errs[3] = parseAmountOrNone(j.Manual, c)
	read.Overhead, errs[4] = parseAmountOrNone(j.Overhead, c)
	read.Tax, errs[5] = parseAmountOrNone(j.Tax, c)
	read.Prior, errs[6] = parseAmountOrNone(j.Prior, c)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	for _, l := range j.Lines {
		line, err := l.line(c)
		if err != nil {
			return fmt.Errorf("line %d: %w", l.Position, err)
		}
		read.Lines = append(read.Lines, line)
	}
	for _, b := range j.Balances {
		balance, err := b.balance()
		if err != nil {
			return fmt.Errorf("balance of %s: %w", b.Allocation, err)
		}
		read.Balances = append(read.Balances, balance)
	}
	for _, c := range j.Counters {
		read.Counters = append(read.Counters, Counter{c.Card, c.Meter, c.Money, c.Unit, c.From.Date, c.Opening.Exact, c.Counted.Exact})
	}
	for i := range j.Pools {
		pool, err := j.Pools[i].pool()
		if err != nil {
			return fmt.Errorf("limit of %s: %w", j.Pools[i].Rule, err)
		}
		read.Pools = append(read.Pools, pool)
	}
	for _, t := range j.Taxes {
		sum, err := t.sum(c)
		if err != nil {
			return fmt.Errorf("tax %s: %w", t.Name, err)
		}
		read.Taxes = append(read.Taxes, sum)
	}
	for _, f := range j.Funds {
		share, err := f.share(c)
		if err != nil {
			return fmt.Errorf("fund %s: %w", f.Fund, err)
		}
		read.Funds = append(read.Funds, share)
	}
	for _, e := range j.Late {
		read.Late = append(read.Late, LedgerEntry{e.Kind, e.Group, e.Allocation, e.Pool, e.Card, e.Period, e.Meter, e.Unit, e.Units.Exact})
	}
	*inv = read
	return nil
}

func recipientToJSON(r *Recipient) recipientJSON {
	return recipientJSON{
		ID: r.ID, Name: r.Name, PI: r.PI, Department: r.Department, Class: r.Class, Address: r.Address,
		PO: r.PO, Fund: r.Fund, TaxID: r.TaxID, Language: r.Language, Contacts: r.Contacts,
	}
}

func (r *recipientJSON) recipient() Recipient {
	return Recipient{
		ID: r.ID, Name: r.Name, PI: r.PI, Department: r.Department, Class: r.Class, Address: r.Address,
		PO: r.PO, Fund: r.Fund, TaxID: r.TaxID, Language: r.Language, Contacts: r.Contacts,
	}
}

func (l *Line) toJSON(c money.Currency) lineJSON {
	return lineJSON{
		Position: l.Position, Kind: l.Kind, Cluster: l.Cluster, Meter: l.Meter, Unit: l.Unit,
		Description: l.Description, PriceLabel: l.PriceLabel,
		Quantity: exactText{l.Quantity}, Price: exactText{l.Price}, Exact: exactText{l.Exact}, Amount: c.Plain(l.Amount),
		Jobs: l.Jobs, Code: l.Code, Reason: l.Reason, Of: l.Of,
		Card: l.Card, CardDigest: l.CardDigest, Version: dateText{l.Version},
		Reference: l.Reference, Author: l.Author,
	}
}

func (l *lineJSON) line(c money.Currency) (Line, error) {
	amount, err := parseAmount(l.Amount, c)
	return Line{
		Position: l.Position, Kind: l.Kind, Cluster: l.Cluster, Meter: l.Meter, Unit: l.Unit,
		Description: l.Description, PriceLabel: l.PriceLabel,
		Quantity: l.Quantity.Exact, Price: l.Price.Exact, Exact: l.Exact.Exact, Amount: amount,
		Jobs: l.Jobs, Code: l.Code, Reason: l.Reason, Of: l.Of,
		Card: l.Card, CardDigest: l.CardDigest, Version: l.Version.Date,
		Reference: l.Reference, Author: l.Author,
	}, err
}

func (b *Balance) toJSON() balanceJSON {
	return balanceJSON{
		Allocation: b.Allocation, Meter: b.Meter, Unit: b.Unit, Units: exactText{b.Units},
		From: dateText{b.From}, Until: dateText{b.Until}, Overdraft: b.Overdraft.String(),
		Opening: exactText{b.Opening}, Deposits: textOrNone(b.Deposits), Refunds: textOrNone(b.Refunds), Drawn: exactText{b.Drawn}, Left: exactText{b.Left}, Beyond: exactText{b.Beyond},
	}
}

func (b *balanceJSON) balance() (Balance, error) {
	overdraft, err := rates.ParseOverdraft(b.Overdraft)
	return Balance{
		Allocation: b.Allocation, Meter: b.Meter, Unit: b.Unit, Units: b.Units.Exact,
		From: b.From.Date, Until: b.Until.Date, Overdraft: overdraft,
		Opening: b.Opening.Exact, Deposits: b.Deposits.orZero(), Refunds: b.Refunds.orZero(), Drawn: b.Drawn.Exact, Left: b.Left.Exact, Beyond: b.Beyond.Exact,
	}, err
}
