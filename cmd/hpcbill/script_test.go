package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptClock is the variable by which a story sets the clock: a test reads
// the same bytes whenever it runs.
const scriptClock = "CLOCK"

func TestMain(m *testing.M) {
	runAsCommand()
	testscript.Main(m, map[string]func(){
		"hpcbill": func() {
			a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: scriptNow, getenv: os.Getenv}
			os.Exit(a.run(context.Background(), os.Args[1:]))
		},
	})
}

func scriptNow() time.Time {
	t, err := time.Parse(time.RFC3339, os.Getenv(scriptClock))
	if err != nil {
		return time.Now()
	}
	return t
}

// TestScripts runs the stories of the command line: testdata/script/*.txtar.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join(repository, "testdata", "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv(scriptClock, "2026-04-02T09:00:00Z")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"tree":   treeCommand,
			"same":   sameCommand,
			"exits":  exitsCommand,
			"unread": unreadCommand,
		},
		RequireExplicitExec: true,
	})
}

// exitsCommand (exits CODE COMMAND…) runs a command that must end with the
// code, and keeps its output for stdout and stderr.
func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, not %s", code, args[0])
	}
}

// unreadCommand (unread DIR COMMAND…) runs a command that must do without what
// the files below DIR say: they are as long as ever, and all zeros meanwhile.
func unreadCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: unread DIR COMMAND…")
	}
	contents := map[string][]byte{}
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			contents[p], err = os.ReadFile(p)
		}
		return err
	}))
	if len(contents) == 0 {
		ts.Fatalf("no files below %s", args[0])
	}
	for p, content := range contents {
		ts.Check(os.WriteFile(p, make([]byte, len(content)), 0o644))
	}
	failed := ts.Exec(args[1], args[2:]...)
	for p, content := range contents {
		ts.Check(os.WriteFile(p, content, 0o644))
	}
	ts.Check(failed)
}

// treeCommand (tree DIR FILE) writes the names and sizes of all files below
// DIR to FILE, so that a story can assert that nothing was written.
func treeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: tree DIR FILE")
	}
	var b bytes.Buffer
	root := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, p)
		content := []byte(nil)
		if !d.IsDir() {
			if content, err = os.ReadFile(p); err != nil {
				return err
			}
		}
		b.WriteString(name + " " + digestOf(content) + "\n")
		return nil
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o644))
}

// sameCommand (same A B) compares two files byte by byte.
func sameCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same A B")
	}
	a, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	if bytes.Equal(a, b) == neg {
		ts.Fatalf("%s and %s: same is %v", args[0], args[1], !neg)
	}
}
