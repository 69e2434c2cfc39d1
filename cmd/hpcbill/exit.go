package main

import (
	"errors"
	"fmt"
	"strings"

	"hpcbill/ingest"
	"hpcbill/invoice/history"
	"hpcbill/rates"
)

// The exit codes, as every help text and the README state them.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2 // usage or configuration
	exitInput   = 3 // the input has faults; nothing was written
	exitDiffers = 4 // already issued, and what is asked for differs
)

// usageError is a command line or a configuration that cannot be used.
type usageError struct {
	error
	hint string
}

func (e usageError) Hint() string  { return e.hint }
func (e usageError) Unwrap() error { return e.error }

// inputError is input that was read and refused.
type inputError struct {
	error
	hint string
}

func (e inputError) Hint() string  { return e.hint }
func (e inputError) Unwrap() error { return e.error }

// hinted is a failure with a remedy.
type hinted struct {
	error
	hint string
}

func (e hinted) Hint() string  { return e.hint }
func (e hinted) Unwrap() error { return e.error }

// exitCode is the one place where an error becomes an exit code.
func exitCode(err error) int {
	var (
		usage   usageError
		input   inputError
		dump    *ingest.Error
		fault   rates.Fault
		differs *history.DiffersError
	)
	switch {
	case errors.As(err, &differs):
		return exitDiffers
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &input), errors.As(err, &dump):
		return exitInput
	case errors.As(err, &fault):
		return exitUsage
	}
	return exitFailed
}

// mostFaultsShown bounds what one run prints; the rest is counted.
const mostFaultsShown = 50

// report prints err as a user reads it and gives its exit code.
func (a *app) report(err error) int {
	faults := flatten(err)
	for i, f := range faults {
		if i == mostFaultsShown {
			fmt.Fprintf(a.stderr, "hpcbill: error: … and %d more\n", len(faults)-i)
			break
		}
		fmt.Fprintf(a.stderr, "hpcbill: error: %s\n", oneLine(f.Error()))
		if hint := hintOf(f); hint != "" {
			fmt.Fprintf(a.stderr, "hpcbill: hint: %s\n", oneLine(hint))
		}
	}
	return exitCode(err)
}

// flatten gives the single errors of a joined one, in order.
func flatten(err error) []error {
	var joined interface{ Unwrap() []error }
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		joined = j
	}
	if joined == nil {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}

func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// oneLine keeps a hostile text from forging a second message.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		if r < 0x20 || r == 0x7f {
			return '�'
		}
		return r
	}, s)
}
