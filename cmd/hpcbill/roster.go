package main

import (
	"errors"
	"fmt"

	"hpcbill/rates"

	"github.com/spf13/cobra"
)

func (a *app) rosterCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "roster",
		Short:   "a roster of groups from what Slurm knows",
		Example: "  sacctmgr show assoc -P > assoc.txt\n  hpcbill roster import assoc.txt > groups.yaml",
		Args:    noArguments,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.rosterImportCommand())
	return c
}

func (a *app) rosterImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE…",
		Short: "make a roster of Slurm's accounts",
		Long: `Reads the accounts of a cluster, told by content:

  sacctmgr show assoc -P           as it is; with the parents:
  sacctmgr show assoc -P format=Cluster,Account,ParentName,User
  sacctmgr dump CLUSTER file=FILE  the FILE; knows descriptions and coordinators

and prints a roster to review: a group for each account, with its parent as the
department, its coordinators and its users in comments. It passes check; names,
classes and funds are for a person to fill in. FILE - is standard input. Several
files, of several clusters, make one roster: an account that two clusters have
is one group.

Exit codes: 0 done · 2 usage · 3 the files have faults; no roster is printed.`,
		Example: "  sacctmgr show assoc -P > assoc.txt\n  hpcbill roster import assoc.txt > groups.yaml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("import needs the files that sacctmgr wrote"), "see hpcbill roster import --help"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.importRoster(args) },
	}
}

func (a *app) importRoster(names []string) error {
	files, err := a.importFiles(names)
	if err != nil {
		return err
	}
	text, notes, err := rates.ImportRoster(files)
	var faults rates.Faults
	if errors.As(err, &faults) {
		return importError(err)
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(a.stderr, "hpcbill: %s\n", oneLine(n))
	}
	_, err = a.stdout.Write(text)
	return err
}
