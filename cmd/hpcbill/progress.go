package main

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// progress draws a bar on a terminal while a dump is read; a pipe gets none.
type progress struct {
	a         *app
	name      string
	size      int64 // 0 where it is not known
	bytesRead atomic.Int64
	jobsRead  atomic.Int64
	setAside  atomic.Int64 // records quarantined
	stop      chan struct{}
	done      chan struct{}
	terminal  bool
}

// How often the bar is drawn, and how wide it is.
const (
	progressInterval = 200 * time.Millisecond
	progressWidth    = 24
	defaultWidth     = 79 // of a terminal that does not say
)

func (a *app) newProgress(name string, size int64) *progress {
	p := &progress{a: a, name: name, size: size, stop: make(chan struct{}), done: make(chan struct{})}
	f, ok := a.stderr.(*os.File)
	p.terminal = ok && term.IsTerminal(int(f.Fd()))
	if !p.terminal {
		close(p.done)
		return p
	}
	go p.draw()
	return p
}

func (p *progress) read(bytes int64) { p.bytesRead.Store(bytes) }
func (p *progress) jobs(n int)       { p.jobsRead.Add(int64(n)) }
func (p *progress) quarantined()     { p.setAside.Add(1) }

func (p *progress) draw() {
	defer close(p.done)
	start := time.Now()
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			fmt.Fprint(p.a.stderr, "\r\033[K")
			return
		case <-tick.C:
			fmt.Fprint(p.a.stderr, "\r\033[K"+p.line(time.Since(start), p.width()))
		}
	}
}

// width is how many characters a line of the terminal holds, but for the last.
func (p *progress) width() int {
	if f, ok := p.a.stderr.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 1 {
			return columns - 1
		}
	}
	return defaultWidth
}

// line is the bar: name, share, bytes, jobs, records quarantined and the time
// that is left at the pace so far, in at most width characters: the bar goes
// first, then the head of the name, since a line that wraps is not drawn over.
func (p *progress) line(elapsed time.Duration, width int) string {
	bar, rest := p.parts(elapsed)
	name := []rune(p.name)
	if len(name)+len([]rune(bar))+len([]rune(rest)) > width {
		bar = ""
	}
	if room := max(width-len([]rune(bar))-len([]rune(rest)), 1); len(name) > room {
		name = append([]rune{'…'}, name[len(name)-room+1:]...)
	}
	return string(name) + bar + rest
}

func (p *progress) parts(elapsed time.Duration) (bar, rest string) {
	read := p.bytesRead.Load()
	counts := fmt.Sprintf("%s jobs  %s quarantined", grouped(p.jobsRead.Load()), grouped(p.setAside.Load()))
	if p.size == 0 {
		return "", fmt.Sprintf("  %s MB  %s", grouped(read/1e6), counts)
	}
	read = min(read, p.size)
	full := int(read * progressWidth / p.size)
	left := ""
	if read > 0 {
		left = "  " + (time.Duration(elapsed.Milliseconds()*(p.size-read)/read) * time.Millisecond).Round(time.Second).String() + " left"
	}
	return " " + strings.Repeat("█", full) + strings.Repeat("░", progressWidth-full),
		fmt.Sprintf(" %3d %%  %s of %s MB  %s%s", read*100/p.size, grouped(read/1e6), grouped(p.size/1e6), counts, left)
}

// end removes the bar.
func (p *progress) end() {
	if p.terminal {
		close(p.stop)
	}
	<-p.done
}
