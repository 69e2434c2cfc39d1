// Package chargestore keeps the charges of a period in Parquet.
//
// It owns where they lie and that a period is replaced whole or not at all.
// It prices nothing and sums nothing.
package chargestore
