package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hpcbill/rates"
	"hpcbill/rates/nearest"

	"github.com/spf13/cobra"
)

//go:embed init
var initFiles embed.FS

// initExamples are the sites that init can write, one for each seed model.
var initExamples = []string{"pitt-crc", "osc", "ialab"}

func (a *app) initCommand() *cobra.Command {
	var example string
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "write a site that passes check",
		Long: `Writes hpcbill.yaml, groups.yaml, storage.csv and a rate card into DIR (the
site directory when none is given), ready to be edited. Files that are there are
never overwritten: if any of them exists, nothing is written.`,
		Example: "  hpcbill init mysite\n  hpcbill init mysite --example osc",
		Args:    atMostOne,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := a.siteDir
			if len(args) == 1 {
				dir = args[0]
			}
			return a.init(dir, example)
		},
	}
	c.Flags().StringVar(&example, "example", "pitt-crc", strings.Join(initExamples, ", "))
	return c
}

func (a *app) init(dir, example string) error {
	root := path.Join("init", example)
	if _, err := fs.Stat(initFiles, root); err != nil {
		return usageError{fmt.Errorf("no example %q", example), nearest.Remedy(example, initExamples)}
	}
	files, err := embeddedFiles(initFiles, root)
	if err != nil {
		return err
	}
	for _, card := range []string{example} {
		text, ok := rates.Shipped(card)
		if !ok {
			return fmt.Errorf("BUG: no shipped card %q", card)
		}
		files = append(files, inputText{"rates/" + card + ".yaml", text})
	}
	if err := writeNewFiles(dir, files); err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintf(a.stdout, "%s\n", filepath.Join(dir, filepath.FromSlash(f.name)))
	}
	fmt.Fprintf(a.stdout, "\nedit them, then: hpcbill --site %s check\n", dir)
	return nil
}

// embeddedFiles gives the files below root, named from it, in order.
func embeddedFiles(from embed.FS, root string) ([]inputText, error) {
	var files []inputText
	err := fs.WalkDir(from, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := from.ReadFile(p)
		files = append(files, inputText{strings.TrimPrefix(p, root+"/"), text})
		return err
	})
	return files, err
}

// writeNewFiles writes files below dir, or none when any of them is there.
func writeNewFiles(dir string, files []inputText) error {
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.name))
		if _, err := os.Lstat(name); err == nil {
			return usageError{fmt.Errorf("%s is there already", name), "choose an empty directory; nothing was written"}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := writeFile(name, func(w io.Writer) error { _, err := w.Write(f.text); return err }); err != nil {
			return err
		}
	}
	return nil
}
