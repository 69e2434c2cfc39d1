package invoice

import (
	"encoding/json"
	"errors"
	"fmt"

	"hpcbill/rates/money"
	"hpcbill/rating"
)

type summaryJSON struct {
	Period         string       `json:"period"`
	Currency       string       `json:"currency"`
	CurrencyDigits int          `json:"currency_digits"`
	Records        recordsJSON  `json:"records"`
	Jobs           jobsJSON     `json:"jobs"`
	Seconds        secondsJSON  `json:"job_seconds"`
	Storage        holdingsJSON `json:"holdings"`
	Causes         []causeJSON  `json:"causes"`
	Meters         []meterJSON  `json:"meters"`
	Charges        exactText    `json:"charges"`
	List           string       `json:"list"`
	Reductions     string       `json:"reductions"`
	Manual         string       `json:"manual,omitempty"`
	Prior          string       `json:"prior,omitempty"`
	Overhead       string       `json:"overhead,omitempty"`
	Tax            string       `json:"tax,omitempty"`
	Total          string       `json:"total"`
	Invoices       int          `json:"invoices"`
	NothingDue     []string     `json:"nothing_due"`
}

type recordsJSON struct {
	Read        int64 `json:"read"`
	Jobs        int64 `json:"jobs"`
	Steps       int64 `json:"steps"`
	Superseded  int64 `json:"superseded"`
	Quarantined int64 `json:"quarantined"`
}

type jobsJSON struct {
	Read     int64 `json:"read"`
	Billed   int64 `json:"billed"`
	Waived   int64 `json:"waived"`
	Excluded int64 `json:"excluded"`
	Held     int64 `json:"held"`
	NotRun   int64 `json:"not_run"`
	Running  int64 `json:"running"`
}

type secondsJSON struct {
	Read     int64 `json:"read"`
	Billed   int64 `json:"billed"`
	Waived   int64 `json:"waived"`
	Excluded int64 `json:"excluded"`
	Held     int64 `json:"held"`
	Running  int64 `json:"running"`
}

type holdingsJSON struct {
	Read     int64 `json:"read"`
	Billed   int64 `json:"billed"`
	Waived   int64 `json:"waived"`
	Excluded int64 `json:"excluded"`
	Held     int64 `json:"held"`
}

type causeJSON struct {
	Verdict string `json:"verdict"`
	Storage bool   `json:"storage,omitempty"`
	Code    string `json:"code"`
	Detail  string `json:"detail,omitempty"`
	Hint    string `json:"hint,omitempty"`
	Count   int64  `json:"count"`
	Seconds int64  `json:"seconds"`

	Stake *stakeJSON `json:"at_stake,omitempty"`
}

// stakeJSON is what is held at list price, before rounding.
type stakeJSON struct {
	Low      exactText `json:"low"`
	High     exactText `json:"high"`
	Unpriced int64     `json:"unpriced,omitempty"`
}

type meterJSON struct {
	Kind     Kind      `json:"kind"`
	Meter    string    `json:"meter"`
	Unit     string    `json:"unit"`
	Quantity exactText `json:"quantity"`
	Amount   exactText `json:"amount"`
}

// VerdictName is the verdict as it is printed.
func VerdictName(v rating.Verdict) string {
	return [...]string{"billed", "waived", "excluded", "held", "not run", "running"}[v]
}

func parseVerdict(name string) (rating.Verdict, error) {
	for v := rating.Charged; v <= rating.Running; v++ {
		if VerdictName(v) == name {
			return v, nil
		}
	}
	return 0, fmt.Errorf("unknown verdict %q", name)
}

// MarshalJSON writes the whole summary.
func (s Summary) MarshalJSON() ([]byte, error) {
	c := s.Currency
	j := summaryJSON{
		Period: s.Period, Currency: c.Code, CurrencyDigits: c.Digits,
		Records: recordsJSON(s.Records), Jobs: jobsJSON(s.Jobs), Seconds: secondsJSON(s.Seconds), Storage: holdingsJSON(s.Storage),
		Causes: make([]causeJSON, 0, len(s.Causes)), Meters: make([]meterJSON, 0, len(s.Meters)), Charges: exactText{s.Charges},
		List: c.Plain(s.List), Reductions: c.Plain(s.Reductions), Total: c.Plain(s.Total),
		Invoices: s.Invoices, NothingDue: append([]string{}, s.NothingDue...),
	}
	for _, x := range s.Causes {
		cause := causeJSON{VerdictName(x.Verdict), x.Storage, x.Code, x.Detail, x.Hint, x.Count, x.Seconds, nil}
		if x.Stake != nil {
			cause.Stake = &stakeJSON{exactText{x.Stake.Low}, exactText{x.Stake.High}, x.Stake.Unpriced}
		}
		j.Causes = append(j.Causes, cause)
	}
	for _, m := range s.Meters {
		j.Meters = append(j.Meters, meterJSON{m.Kind, m.Meter, m.Unit, exactText{m.Quantity}, exactText{m.Amount}})
	}
	j.Manual, j.Prior = plainOrNone(c, s.Manual), plainOrNone(c, s.Prior)
	j.Overhead, j.Tax = plainOrNone(c, s.Overhead), plainOrNone(c, s.Tax)
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Summary) UnmarshalJSON(text []byte) error {
	var j summaryJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	c := money.Currency{Code: j.Currency, Digits: j.CurrencyDigits}
	read := Summary{
		Period: j.Period, Currency: c,
		Records: Records(j.Records), Jobs: JobCounts(j.Jobs), Seconds: JobSeconds(j.Seconds), Storage: HoldingCounts(j.Storage),
		Charges: j.Charges.Exact, Invoices: j.Invoices,
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
	if len(j.NothingDue) > 0 {
		read.NothingDue = j.NothingDue
	}
	for _, x := range j.Causes {
		verdict, err := parseVerdict(x.Verdict)
		if err != nil {
			return err
		}
		cause := CauseSum{verdict, x.Storage, x.Code, x.Detail, x.Hint, x.Count, x.Seconds, nil}
		if x.Stake != nil {
			cause.Stake = &rating.Stake{Low: x.Stake.Low.Exact, High: x.Stake.High.Exact, Unpriced: x.Stake.Unpriced}
		}
		read.Causes = append(read.Causes, cause)
	}
	for _, m := range j.Meters {
		read.Meters = append(read.Meters, MeterSum{m.Kind, m.Meter, m.Unit, m.Quantity.Exact, m.Amount.Exact})
	}
	*s = read
	return nil
}
