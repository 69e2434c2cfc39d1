package xlsx

import (
	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates/money"
)

func storageColumns(inv invoice.Invoice) []column {
	return []column{
		{"Period", 9, plain}, {"Group", 14, plain}, {"File system", 16, plain}, {"Tier", 8, plain}, {"Holder", 20, plain},
		{"From", 11, date}, {"Until (excluded)", 11, date}, {"Days", 6, integer},
		{"Quota", 12, quantity}, {"Used", 12, quantity}, {"Size unit", 7, plain},
		{"Meter", 12, plain}, {"Unit", 10, plain}, {"Quantity", 13, quantity}, {"Unit price", 11, price},
		{amountTitle + " (" + inv.Currency.Code + ")", 14, unround}, {"Days estimated", 10, integer},
		{"Waived", 12, plain}, {"Card", 12, plain}, {"Card version", 11, date}, {"Rule", 12, plain},
		{"Quota bytes", 20, integer}, {"Used bytes", 20, integer},
	}
}

// storageAmountColumn is the number, from 1, of the column that is summed.
const storageAmountColumn = 16

// writeStorage writes the sheet Storage.
func (b *book) writeStorage(inv invoice.Invoice, rows []StorageRow) charges {
	s := b.newSheet("Storage", landscape, storageColumns(inv))
	s.heading()
	var sum money.Exact
	for _, r := range rows {
		s.add(inv.Period, text(inv.Group.ID), text(r.Filesystem), text(r.Tier), text(r.Holder),
			day(r.From), day(r.Until), r.Days,
			size(r.QuotaBytes, r.QuotaUnit), size(r.UsedBytes, r.QuotaUnit), text(string(r.QuotaUnit)),
			text(r.Meter), text(r.Unit), number(r.Quantity), number(r.Price),
			number(r.Amount), positive(r.EstimatedDays),
			text(r.Waived), text(r.Card), version(r.Version), text(r.Rule),
			count(r.QuotaBytes), count(r.UsedBytes))
		sum = sum.Add(r.Amount)
	}
	s.table("Storage")
	s.close()
	return charges{[]string{columnRange(s.name, storageAmountColumn, 2, max(2, s.rows))}, sum}
}

// size is a quota or a use in the unit that the quota was declared in; where
// there is none, or the unit is not known, the cell is empty.
func size(bytes int64, unit ingest.StorageUnit) any {
	if bytes == ingest.Unknown {
		return nil
	}
	switch unit {
	case ingest.TB:
		return number(money.Ratio(bytes, 1e12))
	case ingest.TiB:
		return number(money.Ratio(bytes, 1<<40))
	}
	return nil
}
