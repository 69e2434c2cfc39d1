package rates

// PriceSubject says what a row of a price table looks at.
type PriceSubject uint8

// The subjects of a price.
const (
	PriceOfUse   PriceSubject = iota // what was used: partition, QoS, node type, date
	PriceOfClass                     // the payer's class, and perhaps what was used
	PriceOfPayer                     // a certain group, account, user or wckey
)

// SubjectOf tells what the row of the price table that goes by a label looks
// at, and whether at what was used besides the payer. A row for all that is
// left looks at what the others do. ok is false where no row goes by the
// label; a price without a table goes by "".
func (m *Meter) SubjectOf(label string) (subject PriceSubject, besides, ok bool) {
	if len(m.Price.Table) == 0 {
		return PriceOfUse, false, label == ""
	}
	var asked Asks
	for i := range m.Price.Table {
		if e := &m.Price.Table[i]; e.Value == label {
			asked, ok = asked.And(e.Match.Asks()), true
			if e.Match.IsCatchAll() {
				asked = asked.And(m.priceAsks())
			}
		}
	}
	const payer = 1<<GroupID | 1<<Account | 1<<User | 1<<WCKey
	switch {
	case asked.Texts&payer != 0:
		subject = PriceOfPayer
	case asked.Texts&(1<<Class) != 0:
		subject = PriceOfClass
	}
	return subject, !asked.TextsOnly() || asked.Texts&^(payer|1<<Class) != 0, ok
}

// priceAsks is what all rows of the price table look at.
func (m *Meter) priceAsks() Asks {
	var asked Asks
	for _, e := range m.Price.Table {
		asked = asked.And(e.Match.Asks())
	}
	return asked
}
