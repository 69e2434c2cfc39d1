package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is the root of the tree as this test sees it.
const repository = "../.."

// mayImport is the architecture: who may import whom. The flow is
// ingest → rates → rating → invoice → history and documents → cmd, and each
// heavy library is known to one package. Standard library packages are free
// but for those that forbidden names.
var mayImport = map[string][]string{
	"ingest":          {"github.com/klauspost/compress"},
	"ingest/sametext": {},
	"ingest/jobstore": {"hpcbill/ingest", "hpcbill/ingest/jobstore/columnar"},
	// The one package that knows Arrow.
	"ingest/jobstore/columnar": {"github.com/apache/arrow/go/v17", "github.com/klauspost/compress"},
	"rates/money":              {},
	"rates/nearest":            {},
	"rates/yamldoc":            {"hpcbill/rates/nearest", "go.yaml.in/yaml/v3"},
	"rates/formula":            {"hpcbill/rates/money", "hpcbill/rates/nearest"},
	"rates/csvdoc":             {"hpcbill/rates/nearest", "hpcbill/rates/yamldoc"},
	"rates":                    {"hpcbill/rates/csvdoc", "hpcbill/rates/money", "hpcbill/rates/formula", "hpcbill/rates/nearest", "hpcbill/rates/yamldoc", "go.yaml.in/yaml/v3"},
	"rating":                   {"hpcbill/ingest", "hpcbill/ingest/sametext", "hpcbill/rates", "hpcbill/rates/money", "hpcbill/rates/formula"},
	"rating/chargestore":       {"hpcbill/ingest", "hpcbill/ingest/sametext", "hpcbill/rates", "hpcbill/rates/money", "hpcbill/rating", "hpcbill/ingest/jobstore/columnar"},
	"invoice":                  {"hpcbill/ingest", "hpcbill/rates", "hpcbill/rates/csvdoc", "hpcbill/rates/money", "hpcbill/rating", "golang.org/x/text"},
	"invoice/history":          {"hpcbill/invoice", "hpcbill/rates", "hpcbill/rates/money", "modernc.org/sqlite"},
	"invoice/html":             {"hpcbill/invoice", "hpcbill/rates", "hpcbill/rates/money", "hpcbill/templates"},
	"invoice/xlsx":             {"hpcbill/ingest", "hpcbill/invoice", "hpcbill/rates", "hpcbill/rates/money", "hpcbill/templates", "github.com/xuri/excelize/v2"},
	"invoice/csv":              {"hpcbill/invoice", "hpcbill/rates", "hpcbill/rates/money", "hpcbill/templates"},
	"templates":                {},
	"cmd/hpcbill": {
		"hpcbill/ingest", "hpcbill/ingest/jobstore", "hpcbill/rates", "hpcbill/rates/money", "hpcbill/rates/nearest", "hpcbill/rates/yamldoc",
		"hpcbill/rating", "hpcbill/rating/chargestore", "hpcbill/invoice", "hpcbill/invoice/history",
		"hpcbill/invoice/html", "hpcbill/invoice/xlsx", "hpcbill/invoice/csv",
		"github.com/spf13/cobra", "github.com/robfig/cron/v3", "go.yaml.in/yaml/v3", "golang.org/x/term",
	},
}

// testsMayImport is what any test may use besides.
var testsMayImport = []string{"github.com/stretchr/testify/require", "pgregory.net/rapid", "github.com/rogpeppe/go-internal", "hpcbill"}

// topLevel is everything that may stand in the root.
var topLevel = []string{
	"cmd", "ingest", "rating", "invoice", "templates", "rates", "testdata", "go.mod", "go.sum", "Makefile",
	"README.md", "LICENSE", "CHANGELOG.md",
}

// floatsAllowed are the files and packages where a float is right, and why.
var floatsAllowed = map[string]string{
	"rates/slurm_billing.go": "Slurm computes billing in doubles, and this reproduces Slurm",
	"invoice/xlsx":           "the numbers of a spreadsheet are floats: exact figures become one as they are written, and nothing is computed after",
}

// clockAllowed are the files that look at the clock, and why that reaches no
// result.
var clockAllowed = map[string]string{
	"ingest/jobstore/store.go": "to give up waiting for another process after a while",
}

// longestFunction is a screen. Tables and switches of one line a case count
// like any other code.
const longestFunction = 70

type goFile struct {
	name string // slash path from the root
	test bool
	ast  *ast.File
	set  *token.FileSet
	text string
}

func (f goFile) dir() string { return path.Dir(f.name) }

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	err := filepath.WalkDir(repository, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(repository, p)
		name = filepath.ToSlash(name)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, p, text, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, goFile{name, strings.HasSuffix(name, "_test.go"), tree, set, string(text)})
		return nil
	})
	require.NoError(t, err)
	return files
}

func TestTidyImports(t *testing.T) {
	for _, f := range goFiles(t) {
		allowed, known := mayImport[f.dir()]
		if !known {
			t.Errorf("%s: package %s is not in the table of imports", f.name, f.dir())
			continue
		}
		if f.test {
			allowed = slices.Concat(allowed, testsMayImport)
		}
		for _, spec := range f.ast.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if !foreign(imported) || within(imported, allowed) {
				continue
			}
			t.Errorf("%s imports %s, which %s may not", f.name, imported, f.dir())
		}
	}
}

// foreign reports whether an import is not of the standard library.
func foreign(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".") || first == "hpcbill"
}

// within reports whether an import is one of the allowed paths; a library's
// path allows its subpackages, our own packages stand for themselves alone.
func within(imported string, allowed []string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		ours := strings.HasPrefix(a, "hpcbill/")
		return imported == a || !ours && strings.HasPrefix(imported, a+"/")
	})
}

func TestTidyNoGlobalState(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function", f.name)
			}
		}
	}
}

func TestTidyFunctionsFitAScreen(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := f.set.Position(fn.End()).Line - f.set.Position(fn.Pos()).Line + 1; lines > longestFunction {
				t.Errorf("%s: %s has %d lines; a function fits a screen of %d", f.name, fn.Name.Name, lines, longestFunction)
			}
		}
	}
}

func TestTidyNoFloatTouchesMoney(t *testing.T) {
	for _, f := range goFiles(t) {
		top, _, _ := strings.Cut(f.name, "/")
		if f.test || floatsAllowed[f.name] != "" || floatsAllowed[f.dir()] != "" || !slices.Contains([]string{"rates", "rating", "invoice", "ingest"}, top) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && (id.Name == "float64" || id.Name == "float32") {
				t.Errorf("%s:%d: a float where quantities, prices and amounts are exact", f.name, f.set.Position(id.Pos()).Line)
			}
			return true
		})
	}
}

var vagueNames = regexp.MustCompile(`^(utils?|common|helpers?|models?|types|misc|base|shared)$`)

func TestTidyNames(t *testing.T) {
	for _, f := range goFiles(t) {
		base := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.name), ".go"), "_test")
		if !f.test && vagueNames.MatchString(base) || vagueNames.MatchString(path.Base(f.dir())) {
			t.Errorf("%s: a file is named for the one concept in it", f.name)
		}
		if top, _, found := strings.Cut(f.name, "/"); !found {
			t.Errorf("%s: the root holds no code", top)
		}
	}
}

func TestTidyTopLevel(t *testing.T) {
	entries, err := os.ReadDir(repository)
	require.NoError(t, err)
	var strange []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(topLevel, e.Name()) && !ignored(e.Name()) {
			strange = append(strange, e.Name())
		}
	}
	sort.Strings(strange)
	require.Empty(t, strange, "what stands in the root is fixed")
}

// ignored are what the Makefile makes and git does not track.
func ignored(name string) bool { return name == "bin" || name == "demo-site" }

func TestTidyPrintsNothingBehindTheCommand(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || strings.HasPrefix(f.name, "cmd/") {
			continue
		}
		for _, spec := range f.ast.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if imported == "log" || imported == "log/slog" || imported == "flag" {
				t.Errorf("%s imports %s: nothing is logged and passed over, and flags live in cmd", f.name, imported)
			}
		}
		for _, banned := range []string{"os.Getenv(", "os.Exit(", "time.Now("} {
			if strings.Contains(f.text, banned) && clockAllowed[f.name] == "" {
				t.Errorf("%s calls %s…): environment, exit and clock come in from outside", f.name, banned)
			}
		}
	}
}
