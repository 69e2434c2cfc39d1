package chargestore

import (
	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// schemaVersion is written into every file; it rises when a column's name,
// type or meaning changes.
const schemaVersion = 1

// decimalPlaces is the scale of the columns that hold a rounded quantity or
// amount, decimalDigits their precision.
const (
	decimalPlaces = 12
	decimalDigits = 38
)

// The columns of a file of charges, by position.
const (
	colGroup = iota
	colVerdict
	colCause
	colCauseDetail
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

var columnNames = [columnCount]string{
	"group_id", "verdict", "cause", "cause_detail", "cluster", "job_id", "job_id_raw", "user_name", "account",
	"partition", "qos", "state", "job_name", "start_time", "end_time", "from_time", "until_time", "elapsed_seconds",
	"node_count", "cpus", "gpus", "memory_mib", "billing", "meter", "unit", "quantity", "quantity_numerator",
	"quantity_denominator", "quantity_exact", "price", "price_label", "amount", "amount_numerator",
	"amount_denominator", "amount_exact", "card", "card_digest", "card_version", "rule", "rule_file", "rule_line",
	"source_file", "source_line", "source_digest",
}

// notInLine marks a fraction that 64 bits do not hold: NULL in the files.
const notInLine = 0

// chargesTable is the schema, as the package comment documents it.
func chargesTable() *columnar.Table {
	columns := make([]columnar.Column, columnCount)
	for i, name := range columnNames {
		columns[i] = columnar.Column{Name: name, Kind: columnar.Text, Dictionary: true}
	}
	number := func(dictionary bool, cols ...int) {
		for _, c := range cols {
			columns[c].Kind, columns[c].Dictionary = columnar.Int64, dictionary
		}
	}
	nullable := func(null int64, cols ...int) {
		for _, c := range cols {
			columns[c].Nullable, columns[c].Null = true, null
		}
	}
	number(false, colJobIDRaw, colElapsed, colSourceLine, colQuantityNumerator, colAmountNumerator)
	number(true, colNodeCount, colCPUs, colGPUs, colMemory, colBilling, colRuleLine, colQuantityDenominator, colAmountDenominator)
	nullable(ingest.Unknown, colNodeCount, colCPUs, colGPUs, colMemory, colBilling)
	nullable(notInLine, colQuantityDenominator, colAmountDenominator)
	for _, c := range []int{colStart, colEnd, colFrom, colUntil} {
		columns[c].Kind, columns[c].Dictionary = columnar.Timestamp, false
	}
	nullable(int64(ingest.None), colStart, colEnd, colFrom, colUntil)
	for _, c := range []int{colQuantity, colAmount} {
		columns[c] = columnar.Column{Name: columnNames[c], Kind: columnar.Decimal, Scale: decimalPlaces}
	}
	columns[colJobID].Dictionary = false
	return columnar.NewTable("charges", schemaVersion, columns)
}
