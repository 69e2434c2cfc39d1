package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// programVersion is the release; it is recorded with every issued invoice.
const programVersion = "0.1.0"

// programBuild names the release, the source revision where the build knows
// it, and the Go version.
func programBuild() string {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = " " + s.Value[:12]
			}
		}
	}
	return fmt.Sprintf("hpcbill %s%s %s", programVersion, revision, runtime.Version())
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the program's version",
		Example: "  hpcbill version",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.stdout, programBuild())
			return err
		},
	}
}
