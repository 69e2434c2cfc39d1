package html

import (
	"strconv"
	"strings"

	"hpcbill/rates/money"
	"hpcbill/templates"
)

// Holding is what the group held at one place on some days of the period.
type Holding struct {
	Place  string // the file system, with the tier
	Holder string // whom a listing names, "" where the group is named
	Days   int

	QuotaBytes, UsedBytes int64 // below 0 where there is none, or it is not known
	// Unit is TB or TiB, in which the quota is declared; Counted is the one in
	// which it is charged, "" where it is not. Where they differ both are shown.
	Unit, Counted string
}

// storageRow is a Holding as it stands on the page.
type storageRow struct{ Place, Holder, Days, Quota, Used string }

func storageOf(held []Holding, words templates.Words) (rows []storageRow, holders bool) {
	for _, h := range held {
		rows = append(rows, storageRow{
			Place: templates.Visible(h.Place), Holder: templates.Visible(h.Holder), Days: words.Number(strconv.Itoa(h.Days)),
			Quota: sizeText(h.QuotaBytes, h, words), Used: sizeText(h.UsedBytes, h, words),
		})
		holders = holders || h.Holder != ""
	}
	return rows, holders
}

// sizeText is a size in the unit that was declared, and in the one that is
// charged.
func sizeText(bytes int64, h Holding, words templates.Words) string {
	if bytes < 0 {
		return "–"
	}
	parts := []string{sizeIn(bytes, h.Unit, words)}
	if h.Counted != "" && h.Counted != h.Unit {
		parts = append(parts, sizeIn(bytes, h.Counted, words))
	}
	return strings.Join(parts, " = ")
}

func sizeIn(bytes int64, unit string, words templates.Words) string {
	per := int64(1e12)
	if unit == "TiB" {
		per = 1 << 40
	}
	size := money.Ratio(bytes, per)
	if bytes > 0 && size.Round(maxQuantityPlaces, money.HalfEven).Sign() == 0 {
		return words.Number(strconv.FormatInt(bytes, 10)) + " B"
	}
	return words.Number(shortest(size, 0, maxQuantityPlaces)) + " " + unit
}
