package main

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestProgressLine(t *testing.T) {
	p := &progress{name: "dumps/2026-03.txt", size: 200e6}
	p.read(50e6)
	p.jobs(1200)
	p.quarantined()
	p.quarantined()
	f := func(width int, want string) {
		t.Helper()
		line := p.line(10*time.Second, width)
		require.Equal(t, want, line)
		require.LessOrEqual(t, utf8.RuneCountInString(line), width)
	}
	f(120, "dumps/2026-03.txt ██████░░░░░░░░░░░░░░░░░░  25 %  50 of 200 MB  1,200 jobs  2 quarantined  30s left")
	f(80, "dumps/2026-03.txt  25 %  50 of 200 MB  1,200 jobs  2 quarantined  30s left")
	f(70, "…/2026-03.txt  25 %  50 of 200 MB  1,200 jobs  2 quarantined  30s left")
	p.size = 0 // a pipe
	f(80, "dumps/2026-03.txt  50 MB  1,200 jobs  2 quarantined")
}
