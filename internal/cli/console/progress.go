package console

import (
	"fmt"
	"io"
	"sync"
	"time"

	"promoter/internal/cli/render"
)

// progressInterval is the least time between two lines of progress in a log.
const progressInterval = 10 * time.Second

// Progress shows the progress of long work: on one line of a terminal, which is cleared
// at the end, and in the log of a job on a line now and then.
type Progress struct {
	out      io.Writer
	terminal bool
	now      func() time.Time
	mutex    sync.Mutex
	shown    string    // on the terminal now
	last     time.Time // of the last line in a log, or of the start
}

// clearLine goes to the start of the line and erases it (ECMA-48, 8.3.41).
const clearLine = "\r\x1b[K"

// NewProgress shows progress on standard error.
func NewProgress(system System) *Progress {
	return &Progress{out: system.Err, terminal: system.ErrTerminal, now: time.Now}
}

// Show shows how much of the work is done. A total of 0 is unknown.
func (p *Progress) Show(doing string, done, total int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.terminal {
		p.shown = doing
		if total > 0 {
			p.shown = fmt.Sprintf("%s %d/%d", doing, done, total)
		}
		_, _ = io.WriteString(p.out, clearLine+p.shown)
		return
	}
	now := p.now()
	switch {
	case p.last.IsZero():
		p.last = now
	case now.Sub(p.last) >= progressInterval:
		p.last = now
		if total > 0 {
			doing = fmt.Sprintf("%s: %d of %d", doing, done, total)
		}
		render.PrintMessage(p.out, "%s", doing)
	}
}

// Around prints something else, which a line of progress must not disturb.
func (p *Progress) Around(write func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.shown == "" {
		write()
		return
	}
	_, _ = io.WriteString(p.out, clearLine)
	write()
	_, _ = io.WriteString(p.out, p.shown)
}

// Clear removes the line at the end.
func (p *Progress) Clear() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.shown != "" {
		_, _ = io.WriteString(p.out, clearLine)
		p.shown = ""
	}
}
