package chargestore

import (
	"math"
	"strings"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// schemaVersion is written into every file; it rises when a column's name,
// type or meaning changes.
const schemaVersion = 1

// The scale and the precision of the rounded quantities and amounts.
const (
	decimalPlaces = 12
	decimalDigits = 38
)

// The columns of a file of charges, by position.
const (
	colGroup = iota
	colCluster
	colJobID
	colJobIDRaw
	colUser
	colAccount
	colPartition
	colQoS
	colState
	colName
	colStart
	colEnd
	colFrom
	colUntil
	colElapsed
	colNodeCount
	colCPUs
	colGPUs
	colMemory
	colBilling
	colVerdict
	colCause
	colCauseDetail
	colMeter
	colUnit
	colQuantity
	colQuantityNumerator
	colQuantityDenominator
	colQuantityExact
	colPrice
	colPriceLabel
	colAmount
	colAmountNumerator
	colAmountDenominator
	colAmountExact
	colCard
	colCardDigest
	colCardVersion
	colRule
	colRuleFile
	colRuleLine
	colSourceFile
	colSourceLine
	colSourceDigest
	columnCount
)

// Values that stand for NULL in columns where they cannot occur.
const (
	noNumerator   = math.MinInt64 // money.Exact keeps −2^63 as a big number
	noDenominator = 0
	noDecimal     = 0 // beside a decimal that is there stands a 1
	noLine        = 0
)

type describedColumn struct {
	columnar.Column
	about string
}

func text(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Text, Dictionary: true}, about}
}

// unlike is a column of texts of which most differ.
func unlike(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Text}, about}
}

func number(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Int64}, about}
}

// few is a column of numbers of which many are alike.
func few(name string, null int64, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Int64, Nullable: true, Null: null, Dictionary: true}, about}
}

func instant(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Timestamp, Nullable: true, Null: int64(ingest.None)}, about}
}

func numerator(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Int64, Nullable: true, Null: noNumerator}, about}
}

func decimal(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Decimal, Scale: decimalPlaces, Nullable: true, Null: noDecimal}, about}
}

// describedColumns is the schema, as the package comment documents it.
func describedColumns() [columnCount]describedColumn {
	return [columnCount]describedColumn{
		colGroup:               text("group_id", "who is billed; empty where attribution failed"),
		colCluster:             text("cluster", ""),
		colJobID:               unlike("job_id", "as sacct prints it"),
		colJobIDRaw:            number("job_id_raw", ""),
		colUser:                text("user_name", ""),
		colAccount:             text("account", ""),
		colPartition:           text("partition", ""),
		colQoS:                 text("qos", ""),
		colState:               text("state", ""),
		colName:                text("job_name", ""),
		colStart:               instant("start_time", "of the whole job"),
		colEnd:                 instant("end_time", "of the whole job"),
		colFrom:                instant("part_from", "of the part that was rated, where it is not the whole job"),
		colUntil:               instant("part_until", "end of that part"),
		colElapsed:             number("elapsed_seconds", "of what was rated, without suspension"),
		colNodeCount:           few("node_count", ingest.Unknown, "allocated"),
		colCPUs:                few("cpus", ingest.Unknown, "allocated"),
		colGPUs:                few("gpus", ingest.Unknown, "allocated"),
		colMemory:              few("memory_mib", ingest.Unknown, "allocated, MiB"),
		colBilling:             few("billing", ingest.Unknown, "as Slurm recorded it"),
		colVerdict:             text("verdict", "charged, waived, excluded, held, not run, running"),
		colCause:               text("cause", "why it was not charged"),
		colCauseDetail:         text("cause_detail", "what the cause is about"),
		colMeter:               text("meter", "empty where there is no charge"),
		colUnit:                text("unit", "of quantity"),
		colQuantity:            decimal("quantity", "rounded half-even, for convenience"),
		colQuantityNumerator:   numerator("quantity_numerator", "of the exact quantity, in lowest terms"),
		colQuantityDenominator: few("quantity_denominator", noDenominator, "of the exact quantity, in lowest terms"),
		colQuantityExact:       text("quantity_exact", "numerator/denominator where 64 bits do not hold them"),
		colPrice:               text("price", "per unit, exact, in the card's currency"),
		colPriceLabel:          text("price_label", "the value that picked the price"),
		colAmount:              decimal("amount", "rounded half-even, for convenience; of a waived charge what was forgiven"),
		colAmountNumerator:     numerator("amount_numerator", "of the exact amount, in lowest terms"),
		colAmountDenominator:   few("amount_denominator", noDenominator, "of the exact amount, in lowest terms"),
		colAmountExact:         text("amount_exact", "numerator/denominator where 64 bits do not hold them"),
		colCard:                text("card", "the rate card"),
		colCardDigest:          text("card_digest", "SHA-256 of its file"),
		colCardVersion:         text("card_version", "the day from which the version holds"),
		colRule:                text("rule", ""),
		colRuleFile:            text("rule_file", ""),
		colRuleLine:            few("rule_line", noLine, "counted from 1"),
		colSourceFile:          text("source_file", "the dump, as the operator named it"),
		colSourceLine:          number("source_line", "counted from 1"),
		colSourceDigest:        text("source_digest", "SHA-256 of the dump"),
	}
}

func chargesTable() *columnar.Table {
	described := describedColumns()
	columns := make([]columnar.Column, columnCount)
	for i, d := range described {
		columns[i] = d.Column
	}
	return columnar.NewTable("charges", schemaVersion, columns)
}

// descriptions is the documentation that a file carries: a line a column.
func descriptions() string {
	var b strings.Builder
	for _, d := range describedColumns() {
		b.WriteString(d.Name)
		if d.about != "" {
			b.WriteString(": " + d.about)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
