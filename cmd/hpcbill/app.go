package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// app is the program without its process: streams, clock and environment come
// in from outside, so that a test runs what a user runs.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	now            func() time.Time
	getenv         func(string) string

	siteDir string // --site
}

// run executes one command line and gives its exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.rootCommand()
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		return a.report(err)
	}
	return exitDone
}

const rootLong = `hpcbill turns what a Slurm cluster recorded into invoices: sacct dumps are
ingested into Parquet, each job is rated exactly under a rate card, storage
quotas are added, and every group gets an invoice and a workbook, recorded in a
history that only grows.

Everything of one installation lives in a site directory (--site, $HPCBILL_SITE
or the current directory).

Exit codes: 0 done · 1 failed · 2 usage or configuration · 3 the input has
faults · 4 already issued, and what is asked for differs.`

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:               "hpcbill",
		Short:             "from sacct dumps to invoices that can be audited",
		Long:              rootLong,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              knownVerb,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{err, seeHelp(c)}
	})
	site := a.getenv("HPCBILL_SITE")
	if site == "" {
		site = "."
	}
	root.PersistentFlags().StringVar(&a.siteDir, "site", site, "the site directory")
	group(root, "Set up", a.initCommand(), a.demoCommand(), a.checkCommand(), a.ratesCommand(), a.rosterCommand())
	group(root, "Every month", a.ingestCommand(), a.billCommand(), a.issueCommand(), a.runCommand(), a.scheduleCommand())
	group(root, "Afterwards", a.listCommand(), a.showCommand(), a.verifyCommand(), a.queryCommand(), a.reportCommand())
	group(root, "Why and how much", a.explainCommand(), a.estimateCommand(), a.usageCommand())
	root.AddCommand(a.versionCommand(), a.cardsTopic(), a.sacctTopic())
	root.SetHelpCommand(&cobra.Command{Use: "help [VERB]", Short: "explain a verb", RunE: a.help})
	return root
}

// group adds verbs under a heading of the help text.
func group(root *cobra.Command, title string, verbs ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, v := range verbs {
		v.GroupID = title
		root.AddCommand(v)
	}
}

// help explains a verb, or refuses one that there is not.
func (a *app) help(c *cobra.Command, args []string) error {
	verb, rest, err := c.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return knownVerb(c.Root(), args)
	}
	return verb.Help()
}
