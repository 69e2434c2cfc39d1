package main

import (
	"hpcbill/rates"

	"github.com/spf13/cobra"
)

// cardsTopic is a topic of help, not a verb: the guide to rate cards.
func (a *app) cardsTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "cards",
		Short: "how to write a rate card: the whole language, and a cookbook",
		Long:  string(rates.Guide()),
	}
}
