package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"hpcbill/rates"

	"github.com/spf13/cobra"
)

// importOptions are the flags of rates import.
type importOptions struct {
	name, currency, from string
	priorityFlags        []string
}

func (a *app) ratesImportCommand() *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "import FILE…",
		Short: "make a card of what Slurm shows of its partitions",
		Long: `Reads what Slurm shows of its configuration, told by content:

  scontrol show partition          blocks, one line each (-o), or --json
  sacctmgr show qos -P             for the UsageFactors

and prints a rate card: a rule and the node facts of each partition, the formula
that its TRESBillingWeights mean, UsageFactors other than 1 as factors. The card
passes check and is not finished: what Slurm cannot know, the prices first of
all, stands beside "# decide:". FILE - is standard input.

PriorityFlags of slurm.conf say whether the weights are added up (the default) or
the largest counts: scontrol show config | grep PriorityFlags. Where Slurm's own
billing of a whole partition tells that the flags are others, that is said.

Exit codes: 0 done · 2 usage · 3 the files have faults; no card is printed.`,
		Example: `  scontrol show partition > partitions.txt; sacctmgr show qos -P > qos.txt
  hpcbill rates import partitions.txt qos.txt --name mycluster --priority-flags MAX_TRES > rates/mycluster.yaml`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("import needs the files that Slurm's commands wrote"), "see hpcbill rates import --help"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.importRates(args, o, c.Flags().Changed("priority-flags"))
		},
	}
	f := c.Flags()
	f.StringVar(&o.name, "name", "imported", "the card's name")
	f.StringVar(&o.currency, "currency", "", "the ISO 4217 code of the prices (default USD, to be decided)")
	f.StringVar(&o.from, "from", "", "the first day on which the card holds (default the first of this month)")
	f.StringSliceVar(&o.priorityFlags, "priority-flags", nil, "PriorityFlags of slurm.conf, such as MAX_TRES; none where it has none")
	return c
}

func (a *app) importRates(names []string, o importOptions, flagsGiven bool) error {
	options := rates.ImportOptions{Currency: o.currency}
	if flagsGiven {
		options.PriorityFlags = []string{}
	}
	for _, flag := range o.priorityFlags {
		if flag = strings.ToUpper(strings.TrimSpace(flag)); flag != "NONE" && flag != "" {
			options.PriorityFlags = append(options.PriorityFlags, flag)
		}
	}
	now := a.now()
	options.From = rates.Date{Year: now.Year(), Month: int(now.Month()), Day: 1}
	if o.from != "" {
		day, err := rates.ParseDate(o.from)
		if err != nil {
			return usageError{fmt.Errorf("--from: %w", err), "write year-month-day"}
		}
		options.From = day
	}
	files, err := a.importFiles(names)
	if err != nil {
		return err
	}
	text, notes, err := rates.ImportCard(o.name, files, options)
	if err != nil {
		return importError(err)
	}
	for _, n := range notes {
		fmt.Fprintf(a.stderr, "hpcbill: %s\n", oneLine(n))
	}
	_, err = a.stdout.Write(text)
	return err
}

func (a *app) importFiles(names []string) ([]rates.ImportFile, error) {
	var files []rates.ImportFile
	for _, name := range names {
		var text []byte
		var err error
		if name == "-" {
			name = "standard input"
			text, err = io.ReadAll(a.stdin)
		} else {
			text, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, inputError{fmt.Errorf("%s: %w", name, plain(err)), ""}
		}
		files = append(files, rates.ImportFile{Name: name, Text: text})
	}
	return files, nil
}

// importError tells faults of the files from faults of the command line.
func importError(err error) error {
	var faults rates.Faults
	if !errors.As(err, &faults) {
		return usageError{err, "see hpcbill rates import --help"}
	}
	var all []error
	for _, f := range faults {
		all = append(all, inputError{f, f.Hint()})
	}
	return errors.Join(all...)
}
