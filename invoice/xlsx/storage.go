package xlsx

import (
	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates/money"
)

func storageColumns(inv invoice.Invoice) []column {
	return []column{
		{"Period", 9, plain}, {"Group", 16, plain}, {"File system", 16, plain}, {"Tier", 10, plain}, {"Holder", 18, plain},
		{"From", 12, date}, {"Until (excluded)", 12, date}, {"Days", 7, integer},
		{"Quota", 15, quantity}, {"Quota unit", 9, plain}, {"Quota bytes", 22, integer}, {"Used bytes", 22, integer},
		{"Meter", 13, plain}, {"Unit", 11, plain}, {"Quantity", 15, quantity}, {"Unit price", 13, price},
		{amountTitle + " (" + inv.Currency.Code + ")", 16, unround},
		{"Waived", 18, plain}, {"Card", 14, plain}, {"Card version", 12, date}, {"Rule", 16, plain},
		{"Days estimated", 10, integer},
	}
}

// storageAmountColumn is the number, from 1, of the column that is summed.
const storageAmountColumn = 17

// writeStorage writes the sheet Storage.
func (b *book) writeStorage(inv invoice.Invoice, rows []StorageRow) charges {
	s := b.newSheet("Storage", landscape, storageColumns(inv))
	s.heading()
	var sum money.Exact
	for _, r := range rows {
		s.add(inv.Period, text(inv.Group.ID), text(r.Filesystem), text(r.Tier), text(r.Holder),
			day(r.From), day(r.Until), r.Days,
			quota(r), text(string(r.QuotaUnit)), count(r.QuotaBytes), count(r.UsedBytes),
			text(r.Meter), text(r.Unit), number(r.Quantity), number(r.Price),
			number(r.Amount),
			text(r.Waived), text(r.Card), version(r.Version), text(r.Rule), positive(r.EstimatedDays))
		sum = sum.Add(r.Amount)
	}
	s.table("Storage")
	s.close()
	return charges{[]string{columnRange(s.name, storageAmountColumn, 2, max(2, s.rows))}, sum}
}

// quota is the quota in the unit that it was declared in; where none is set,
// or its unit is not known, the cell is empty.
func quota(r StorageRow) any {
	if r.QuotaBytes == ingest.Unknown {
		return nil
	}
	switch r.QuotaUnit {
	case ingest.TB:
		return number(money.Ratio(r.QuotaBytes, 1e12))
	case ingest.TiB:
		return number(money.Ratio(r.QuotaBytes, 1<<40))
	}
	return nil
}
