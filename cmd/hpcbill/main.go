// Hpcbill turns what a Slurm cluster recorded into invoices that a finance
// office can post and an auditor can re-derive.
//
// This package is flags, configuration, wiring, the clock and exit codes: one
// file a verb. No billing rule lives here.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		now: time.Now, getenv: os.Getenv,
	}
	code := a.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
