package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rates/nearest"

	"github.com/spf13/cobra"
)

func (a *app) whatIfCommand() *cobra.Command {
	var card, cluster, filesystem string
	c := &cobra.Command{
		Use:   "whatif --card FILE --period YYYY-MM",
		Short: "a period under another card, per group, before and after",
		Long: `Computes the month twice: as it is, and with another card in the place of a
cluster's, or of a file system's. Nothing is written; what was issued is not
touched.`,
		Example: `  hpcbill report whatif --card rates/next-year.yaml --period 2026-03 --cluster h2p
  hpcbill report whatif --card rates/storage-next.yaml --period 2026-03 --filesystem '*'`,
		Args: noArguments,
	}
	format := addFormat(c)
	period := c.Flags().String("period", "", "the month, such as 2026-03")
	c.Flags().StringVar(&card, "card", "", "the card to try")
	c.Flags().StringVar(&cluster, "cluster", "", "the cluster whose card it replaces, where there are several")
	c.Flags().StringVar(&filesystem, "filesystem", "", "the file system whose card it replaces, as storage.cards in hpcbill.yaml has it")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.printReport(*format, func(print func(*table, error) error) error {
			return a.withPeriod(*period, func(s *site, p rates.Period) error {
				return print(s.reportWhatIf(c.Context(), p, card, cluster, filesystem))
			})
		})
	}
	return c
}

// reportWhatIf computes a period under its own cards and once more with
// another card in the place of a cluster's or a file system's, and shows both per
// group.
func (s *site) reportWhatIf(ctx context.Context, p rates.Period, card, cluster, filesystem string) (*table, error) {
	if card == "" {
		return nil, usageError{fmt.Errorf("--card is missing"), "name the card to try: --card rates/next-year.yaml"}
	}
	other, err := s.withCard(card, cluster, filesystem)
	if err != nil {
		return nil, err
	}
	now, err := s.compute(ctx, s.inputs, p, nil)
	if err != nil {
		return nil, err
	}
	then, err := s.compute(ctx, other, p, nil)
	if err != nil {
		return nil, err
	}
	c := s.config.Currency
	t := &table{columns: columns("group", ">before", ">after", ">difference", ">percent")}
	var before, after money.Amount
	for _, pair := range pairTotals(now.invoices, then.invoices) {
		t.add(pair.group, c.Plain(pair.before), c.Plain(pair.after), c.Plain(pair.after-pair.before), percent(pair.before, pair.after))
		before, after = before+pair.before, after+pair.after
	}
	t.add("total", c.Plain(before), c.Plain(after), c.Plain(after-before), percent(before, after))
	if held := then.summary.Held() - now.summary.Held(); held > 0 {
		t.add(fmt.Sprintf("(%s more held under %s)", count(held, "item"), card), "", "", "", "")
	}
	return t, nil
}

// withCard gives the inputs with another card for one cluster, or for the
// only one, or for a file system.
func (s *site) withCard(file, cluster, filesystem string) (*inputs, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError{fmt.Errorf("--card: %s: %w", file, plain(err)), ""}
	}
	card, err := rates.LoadCard(file, text)
	if err != nil {
		return nil, err
	}
	if card.Currency != s.config.Currency {
		return nil, usageError{fmt.Errorf("--card: %s is in %s, the site in %s", file, card.Currency.Code, s.config.Currency.Code), "nothing is converted"}
	}
	other, config := *s.inputs, *s.config
	other.config = &config
	other.cards = map[string]*rates.Card{file: card}
	for name, c := range s.cards {
		other.cards[name] = c
	}
	switch last := card.Versions[len(card.Versions)-1]; {
	case filesystem != "":
		err = config.storageUnder(filesystem, file)
	case cluster == "" && len(last.Rules) == 0:
		return nil, usageError{fmt.Errorf("--card: %s prices storage alone", file), "say whose card it replaces: --filesystem '*'"}
	case cluster == "" && len(s.config.Clusters) == 1:
		cluster = s.config.Clusters[0].Name
	}
	if cluster != "" || filesystem == "" {
		err = errors.Join(err, config.clusterUnder(cluster, file))
	}
	return &other, err
}

// clusterUnder puts another card in the place of a cluster's.
func (c *config) clusterUnder(cluster, card string) error {
	c.Clusters = slices.Clone(c.Clusters)
	for i := range c.Clusters {
		if c.Clusters[i].Name == cluster {
			c.Clusters[i].Card = card
			return nil
		}
	}
	return usageError{fmt.Errorf("--cluster: there is no cluster %q", cluster), "name the one whose card is replaced"}
}

// storageUnder puts another card in the place of a file system's.
func (c *config) storageUnder(filesystem, card string) error {
	c.StorageCards = slices.Clone(c.StorageCards)
	var patterns []string
	for i := range c.StorageCards {
		if c.StorageCards[i].Filesystem == filesystem {
			c.StorageCards[i].Card = card
			return nil
		}
		patterns = append(patterns, c.StorageCards[i].Filesystem)
	}
	return usageError{fmt.Errorf("--filesystem: storage.cards in %s has no %q", configFile, filesystem), nearest.Remedy(filesystem, patterns)}
}

// totals is a group's total in two states.
type totals struct {
	group         string
	before, after money.Amount
}

// pairTotals puts the totals of two states side by side, in the order of the
// first and then of what only the second has.
func pairTotals(before, after []invoice.Invoice) []totals {
	var pairs []totals
	at := map[string]int{}
	for _, inv := range before {
		at[inv.Group.ID] = len(pairs)
		pairs = append(pairs, totals{group: inv.Group.ID, before: inv.Total})
	}
	for _, inv := range after {
		i, seen := at[inv.Group.ID]
		if !seen {
			i = len(pairs)
			pairs = append(pairs, totals{group: inv.Group.ID})
		}
		pairs[i].after = inv.Total
	}
	return pairs
}

// percent is the change in percent to one place, "" from nothing.
func percent(before, after money.Amount) string {
	change, ok := money.Int(int64(after - before)).Mul(money.Int(100)).Quo(money.Int(int64(before)))
	if !ok {
		return ""
	}
	return change.Decimal(1, money.HalfUp)
}
