package main

import (
	"errors"
	"fmt"
	"strings"

	"hpcbill/rates/money"
	"hpcbill/rating"

	"github.com/spf13/cobra"
)

const priorityLong = `Shows what the weights of Slurm's multifactor priority amount to. Slurm adds
weight times factor, and no factor is above 1: the percent are of the highest
priority, and what the factor can move a job by. The default weights are those
that a laboratory publishes; scontrol show config has a cluster's own as
PriorityWeightAge and so on.`

// exampleWeights are published by the laboratory of the card ialab.
const exampleWeights = "Age=1000,JobSize=10000,Fairshare=100000,QoS=1000000"

func (a *app) priorityCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "priority",
		Short:   "what the weights of a multifactor priority amount to",
		Long:    priorityLong,
		Example: "  hpcbill report priority --weights " + exampleWeights,
		Args:    noArguments,
	}
	format := addFormat(c)
	weights := c.Flags().String("weights", exampleWeights, "factors and their weights")
	c.RunE = func(*cobra.Command, []string) error {
		return a.printReport(*format, func(print func(*table, error) error) error { return print(reportPriority(*weights)) })
	}
	return c
}

func reportPriority(text string) (*table, error) {
	var names []string
	var weights []money.Exact
	sum := money.Exact{}
	for _, part := range strings.Split(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		name = strings.TrimPrefix(strings.TrimSpace(name), "PriorityWeight")
		w, err := money.ParseDecimal(strings.TrimSpace(number))
		if err != nil || w.Sign() < 0 || name == "" {
			return nil, usageError{fmt.Errorf("--weights: %q is no factor with its weight", part), "such as " + exampleWeights}
		}
		names, weights, sum = append(names, name), append(weights, w), sum.Add(w)
	}
	if sum.Sign() == 0 {
		return nil, usageError{errors.New("--weights: all are 0"), "such as " + exampleWeights}
	}
	t := &table{columns: columns("factor", ">weight", ">percent")}
	for i, part := range rating.PriorityParts(weights) {
		t.add(names[i], weights[i].String(), part.Mul(money.Int(100)).Decimal(2, money.HalfUp))
	}
	t.add("highest priority", sum.String(), "100.00")
	return t, nil
}
