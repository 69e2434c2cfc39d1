package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hpcbill/rates"

	"github.com/spf13/cobra"
)

//go:embed demo
var demoFiles embed.FS

// The demo's month, and the moment at which it is billed: a fixed one, so that
// every demo writes the same bytes.
const (
	demoPeriod = "2026-03"
	demoClock  = "2026-04-03T10:00:00Z"
)

// demoCards are the shipped cards that the demo copies into its site, where a
// person can edit them.
var demoCards = []string{"pitt-crc", "osc", "ialab"}

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo [DIR]",
		Short: "make a site of three clusters and run its month to issued invoices",
		Long: `Writes a site into DIR (default demo-site): three clusters, one for each way of
charging (service units, core-hours and GPU-hours, GPU-hours alone), their dumps
of one month and the days around it, storage quotas and a roster. Then ingests,
bills, shows what is held and how each thing is cleared, bills again and issues.

Run again on the same DIR it says that the month is issued and unchanged.`,
		Example: "  hpcbill demo\n  hpcbill demo /tmp/demo-site",
		Args:    atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			a.siteDir = "demo-site"
			if len(args) == 1 {
				a.siteDir = args[0]
			}
			at, err := time.Parse(time.RFC3339, demoClock)
			if err != nil {
				return err
			}
			a.now = func() time.Time { return at }
			getenv := a.getenv
			a.getenv = func(name string) string {
				if name == "USER" || name == "LOGNAME" || name == "SUDO_USER" {
					return "demo"
				}
				return getenv(name)
			}
			return a.demo(c.Context())
		},
	}
}

func (a *app) demo(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(a.siteDir, configFile)); err == nil {
		return a.demoAgain(ctx)
	}
	files, err := demoSite()
	if err != nil {
		return err
	}
	if err := writeNewFiles(a.siteDir, files); err != nil {
		return err
	}
	a.step("a site of three clusters in %s", a.siteDir)
	fmt.Fprintln(a.stdout, "hpcbill.yaml, groups.yaml, storage.csv, rates/*.yaml and dumps/*/*.txt.gz are there to be read")
	if err := a.demoDraft(ctx, "ingest"); err != nil {
		return err
	}
	a.step("clear what is held")
	for _, clear := range demoClearings {
		if err := clear.apply(a.siteDir); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "· %s\n", clear.what)
	}
	if err := a.demoDraft(ctx, "ingest the corrected dump"); err != nil {
		return err
	}
	a.step("hpcbill --site %s issue --period %s", a.siteDir, demoPeriod)
	err = a.withSite(func(s *site) error {
		p, err := rates.ParsePeriod(demoPeriod, s.zone())
		if err != nil {
			return err
		}
		return a.issue(ctx, s, p, "")
	})
	if err != nil {
		return err
	}
	a.demoNext()
	return nil
}

// demoSite gives the files of the demo's site: its own and copies of the
// shipped cards.
func demoSite() ([]inputText, error) {
	files, err := embeddedFiles(demoFiles, "demo/site")
	if err != nil {
		return nil, err
	}
	for _, card := range demoCards {
		text, ok := rates.Shipped(card)
		if !ok {
			return nil, fmt.Errorf("BUG: no shipped card %q", card)
		}
		files = append(files, inputText{"rates/" + card + ".yaml", text})
	}
	return files, nil
}

// demoAgain shows that an issued month, computed again, is what it was.
func (a *app) demoAgain(ctx context.Context) error {
	return a.withSite(func(s *site) error {
		if err := a.ingestSources(ctx, s, ingestOptions{}); err != nil {
			return err
		}
		p, err := rates.ParsePeriod(demoPeriod, s.zone())
		if err != nil {
			return err
		}
		if err := a.bill(ctx, s, p, true); err != nil {
			return err
		}
		a.demoNext()
		return nil
	})
}

// demoDraft ingests and bills as the two verbs do.
func (a *app) demoDraft(ctx context.Context, ingestTitle string) error {
	return a.withSite(func(s *site) error {
		a.step("hpcbill --site %s ingest      # %s", a.siteDir, ingestTitle)
		if err := a.ingestSources(ctx, s, ingestOptions{}); err != nil {
			return err
		}
		p, err := rates.ParsePeriod(demoPeriod, s.zone())
		if err != nil {
			return err
		}
		a.step("hpcbill --site %s bill --period %s", a.siteDir, p)
		return a.bill(ctx, s, p, true)
	})
}

func (a *app) step(format string, args ...any) {
	fmt.Fprintf(a.stdout, "\n── "+format+"\n\n", args...)
}

// clearing is one held thing and the edit that a person would make for it.
type clearing struct {
	what  string
	apply func(dir string) error
}

// The marker before the mapping that the demo's roster lacks.
const demoMarker = "# hpcbill demo: uncomment to clear"

var demoClearings = []clearing{
	{"groups.yaml: the user whom no group had is mapped (the line was there, commented out)", uncommentMapping},
	{"rates/pitt-crc.yaml: the new partition gets a rule, before the others", insertRule},
	{"dumps/: the dump with the torn line is replaced by a corrected one of the same name", replaceDumps},
}

func uncommentMapping(dir string) error {
	return editFile(filepath.Join(dir, "groups.yaml"), func(text string) (string, bool) {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if strings.Contains(line, demoMarker) {
				before, after, found := strings.Cut(line, "# -")
				if !found {
					return text, false
				}
				lines[i] = strings.TrimRight(before+"-"+strings.Split(after, demoMarker)[0], " ")
				return strings.Join(lines, "\n"), true
			}
		}
		return text, false
	})
}

func insertRule(dir string) error {
	rule, err := demoFiles.ReadFile("demo/clear/gh200-rule.txt")
	if err != nil {
		return err
	}
	return editFile(filepath.Join(dir, "rates", "pitt-crc.yaml"), func(text string) (string, bool) {
		before, after, found := strings.Cut(text, "\n    rules:")
		line, rest, _ := strings.Cut(after, "\n")
		return before + "\n    rules:" + line + "\n" + string(rule) + rest, found
	})
}

// replaceDumps puts each corrected dump where the dump of its name is.
func replaceDumps(dir string) error {
	corrected, err := embeddedFiles(demoFiles, "demo/clear")
	if err != nil {
		return err
	}
	for _, f := range corrected {
		if !strings.HasSuffix(f.name, ".gz") {
			continue
		}
		there, err := filepath.Glob(filepath.Join(dir, "dumps", "*", f.name))
		if err != nil {
			return err
		}
		if len(there) != 1 {
			return fmt.Errorf("BUG: the demo has %d dumps named %s", len(there), f.name)
		}
		if err := writeFile(there[0], func(w io.Writer) error { _, err := w.Write(f.text); return err }); err != nil {
			return err
		}
	}
	return nil
}

func editFile(name string, edit func(string) (string, bool)) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	edited, ok := edit(string(text))
	if !ok {
		return fmt.Errorf("BUG: %s is not as the demo left it", name)
	}
	return writeFile(name, func(w io.Writer) error { _, err := io.WriteString(w, edited); return err })
}

// demoNext names the commands to try.
func (a *app) demoNext() {
	a.step("try next")
	for _, line := range [][2]string{
		{"explain crc/1408941", "how one job's charge came about, to the line of its dump"},
		{"verify --all", "derive every invoice again and compare to the cent"},
		{`query "SELECT * FROM v_group_totals"`, "SQL over what was issued"},
		{"report unbilled --period 2026-03", "what was not billed, and why"},
		{"help", "all verbs"},
	} {
		fmt.Fprintf(a.stdout, "  hpcbill --site %s %-38s %s\n", a.siteDir, line[0], line[1])
	}
}
