package main

import (
	"fmt"
	"strings"

	"hpcbill/rates/nearest"

	"github.com/spf13/cobra"
)

// knownVerb refuses a verb that there is not.
func knownVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var verbs []string
	for _, v := range c.Commands() {
		verbs = append(verbs, v.Name())
	}
	return usageError{fmt.Errorf("there is no verb %q", args[0]), nearest.Remedy(args[0], verbs)}
}

// seeHelp names the page of a verb: that of report unbilled is help report
// unbilled.
func seeHelp(c *cobra.Command) string {
	return "see hpcbill help" + strings.TrimPrefix(c.CommandPath(), c.Root().Name())
}

// noArguments, oneArgument and atMostOne say what is wrong in the program's
// own voice and give exit code 2.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument %q", c.Name(), args[0]), seeHelp(c)}
	}
	return nil
}

func oneArgument(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("%s needs one %s", c.Name(), name), seeHelp(c)}
		}
		return nil
	}
}

func atMostOne(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError{fmt.Errorf("%s takes one argument, not %d", c.Name(), len(args)), seeHelp(c)}
	}
	return nil
}
