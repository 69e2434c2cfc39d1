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

func textColumn(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Text, Dictionary: true}, about}
}

// unlikeColumn is a column of texts of which most differ.
func unlikeColumn(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Text}, about}
}

func numberColumn(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Int64}, about}
}

// fewColumn is a column of numbers of which many are alike.
func fewColumn(name string, null int64, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Int64, Nullable: true, Null: null, Dictionary: true}, about}
}

func instantColumn(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Timestamp, Nullable: true, Null: int64(ingest.None)}, about}
}

func numeratorColumn(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Int64, Nullable: true, Null: noNumerator}, about}
}

func decimalColumn(name, about string) describedColumn {
	return describedColumn{columnar.Column{Name: name, Kind: columnar.Decimal, Scale: decimalPlaces, Nullable: true, Null: noDecimal}, about}
}

// describedColumns is the schema, as the package comment documents it.
func describedColumns() [columnCount]describedColumn {
	return [columnCount]describedColumn{
		colGroup:               textColumn("group_id", "who is billed; empty where attribution failed"),
		colCluster:             textColumn("cluster", ""),
		colJobID:               unlikeColumn("job_id", "as sacct prints it"),
		colJobIDRaw:            numberColumn("job_id_raw", ""),
		colUser:                textColumn("user_name", ""),
		colAccount:             textColumn("account", ""),
		colPartition:           textColumn("partition", ""),
		colQoS:                 textColumn("qos", ""),
		colState:               textColumn("state", ""),
		colName:                textColumn("job_name", ""),
		colStart:               instantColumn("start_time", "of the whole job"),
		colEnd:                 instantColumn("end_time", "of the whole job"),
		colFrom:                instantColumn("part_from", "of the part that was rated, where it is not the whole job"),
		colUntil:               instantColumn("part_until", "end of that part"),
		colElapsed:             numberColumn("elapsed_seconds", "of what was rated, without suspension"),
		colNodeCount:           fewColumn("node_count", ingest.Unknown, "allocated"),
		colCPUs:                fewColumn("cpus", ingest.Unknown, "allocated"),
		colGPUs:                fewColumn("gpus", ingest.Unknown, "allocated"),
		colMemory:              fewColumn("memory_mib", ingest.Unknown, "allocated, MiB"),
		colBilling:             fewColumn("billing", ingest.Unknown, "as Slurm recorded it"),
		colVerdict:             textColumn("verdict", "charged, waived, excluded, held, not run, running"),
		colCause:               textColumn("cause", "why it was not charged"),
		colCauseDetail:         textColumn("cause_detail", "what the cause is about"),
		colMeter:               textColumn("meter", "empty where there is no charge"),
		colUnit:                textColumn("unit", "of quantity"),
		colQuantity:            decimalColumn("quantity", "rounded half-even, for convenience"),
		colQuantityNumerator:   numeratorColumn("quantity_numerator", "of the exact quantity, in lowest terms"),
		colQuantityDenominator: fewColumn("quantity_denominator", noDenominator, "of the exact quantity, in lowest terms"),
		colQuantityExact:       textColumn("quantity_exact", "numerator/denominator where 64 bits do not hold them"),
		colPrice:               textColumn("price", "per unit, exact, in the card's currency"),
		colPriceLabel:          textColumn("price_label", "the value that picked the price"),
		colAmount:              decimalColumn("amount", "rounded half-even, for convenience; of a waived charge what was forgiven"),
		colAmountNumerator:     numeratorColumn("amount_numerator", "of the exact amount, in lowest terms"),
		colAmountDenominator:   fewColumn("amount_denominator", noDenominator, "of the exact amount, in lowest terms"),
		colAmountExact:         textColumn("amount_exact", "numerator/denominator where 64 bits do not hold them"),
		colCard:                textColumn("card", "the rate card"),
		colCardDigest:          textColumn("card_digest", "SHA-256 of its file"),
		colCardVersion:         textColumn("card_version", "the day from which the version holds"),
		colRule:                textColumn("rule", ""),
		colRuleFile:            textColumn("rule_file", ""),
		colRuleLine:            fewColumn("rule_line", noLine, "counted from 1"),
		colSourceFile:          textColumn("source_file", "the dump, as the operator named it"),
		colSourceLine:          numberColumn("source_line", "counted from 1"),
		colSourceDigest:        textColumn("source_digest", "SHA-256 of the dump"),
	}
}

func chargesTable() *columnar.Table {
	described := describedColumns()
	columns := make([]columnar.Column, columnCount)
	for i, d := range described {
		columns[i] = d.Column
	}
	return columnar.NewTable("charges", schemaVersion, columnar.PageRows, columns)
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
