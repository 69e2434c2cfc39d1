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
	stop      chan struct{}
	done      chan struct{}
	terminal  bool
}

// How often the bar is drawn, and how wide it is.
const (
	progressInterval = 200 * time.Millisecond
	progressWidth    = 24
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
			fmt.Fprint(p.a.stderr, "\r\033[K"+p.line(time.Since(start)))
		}
	}
}

// line is the bar: name, share, bytes, jobs and the time that is left at the
// pace so far.
func (p *progress) line(elapsed time.Duration) string {
	read, jobs := p.bytesRead.Load(), p.jobsRead.Load()
	if p.size == 0 {
		return fmt.Sprintf("%s  %s MB  %s jobs", p.name, grouped(read/1e6), grouped(jobs))
	}
	read = min(read, p.size)
	full := int(read * progressWidth / p.size)
	bar := strings.Repeat("█", full) + strings.Repeat("░", progressWidth-full)
	left := ""
	if read > 0 {
		left = (time.Duration(elapsed.Milliseconds()*(p.size-read)/read) * time.Millisecond).Round(time.Second).String() + " left"
	}
	return fmt.Sprintf("%s %s %3d %%  %s of %s MB  %s jobs  %s", p.name, bar, read*100/p.size,
		grouped(read/1e6), grouped(p.size/1e6), grouped(jobs), left)
}

// end removes the bar.
func (p *progress) end() {
	if p.terminal {
		close(p.stop)
	}
	<-p.done
}
