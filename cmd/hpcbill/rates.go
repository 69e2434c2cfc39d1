package main

import (
	"fmt"

	"hpcbill/rates"
	"hpcbill/rates/nearest"

	"github.com/spf13/cobra"
)

func (a *app) ratesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "rates",
		Short: "cards to begin with: those of the program, or one made of Slurm's configuration",
		Long: `Cards to begin with: those that come with the program, or one that is made of
what Slurm shows of its partitions. hpcbill help cards is the guide to writing
your own: the whole language, and a cookbook.`,
		Example: "  hpcbill rates list\n  hpcbill rates show osc > rates/mine.yaml\n  hpcbill rates import partitions.txt > rates/mine.yaml",
		Args:    noArguments,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		&cobra.Command{
			Use:     "list",
			Short:   "list them",
			Example: "  hpcbill rates list",
			Args:    noArguments,
			RunE: func(*cobra.Command, []string) error {
				for _, name := range rates.ShippedNames() {
					text, _ := rates.Shipped(name)
					card, err := rates.LoadCard(shippedPrefix+name, text)
					if err != nil {
						return err
					}
					fmt.Fprintf(a.stdout, "%-12s %s\n", name, card.Source)
				}
				return nil
			},
		},
		&cobra.Command{
			Use:     "show NAME",
			Short:   "print one, to be edited",
			Example: "  hpcbill rates show pitt-crc > rates/mine.yaml",
			Args:    oneArgument("card"),
			RunE: func(_ *cobra.Command, args []string) error {
				text, ok := rates.Shipped(args[0])
				if !ok {
					return usageError{fmt.Errorf("no card named %q comes with the program", args[0]), nearest.Remedy(args[0], rates.ShippedNames())}
				}
				_, err := a.stdout.Write(text)
				return err
			},
		},
		a.ratesImportCommand(),
		&cobra.Command{
			Use:   "schema",
			Short: "print the JSON Schema of a rate card, for editors",
			Long: `Prints the JSON Schema of a rate card. An editor that knows it completes keys and
marks what no card may have; what formulas say, only check tells. With the YAML
language server, begin a card with

  # yaml-language-server: $schema=card.schema.json`,
			Example: "  hpcbill rates schema > rates/card.schema.json",
			Args:    noArguments,
			RunE: func(*cobra.Command, []string) error {
				_, err := a.stdout.Write(rates.Schema())
				return err
			},
		},
	)
	return c
}
