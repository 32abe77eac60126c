package cli

import (
	"fmt"
	"io"
	"sync"
)

// progress shows on a terminal how far long work has come, on one line that is
// written over and cleared at the end. Elsewhere it shows nothing.
type progress struct {
	out   io.Writer // nil: nobody watches
	mutex sync.Mutex
	shown bool
}

// clearLine goes to the start of the line and erases it (ECMA-48, 8.3.41).
const clearLine = "\r\x1b[K"

func newProgress(system System) *progress {
	if !system.ErrTerminal {
		return &progress{}
	}
	return &progress{out: system.Err}
}

func (p *progress) show(doing string, done, total int) {
	if p.out == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.shown = true
	if total > 0 {
		_, _ = fmt.Fprintf(p.out, "%s%s %d/%d", clearLine, doing, done, total)
		return
	}
	_, _ = fmt.Fprintf(p.out, "%s%s", clearLine, doing)
}

func (p *progress) clear() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.shown {
		_, _ = io.WriteString(p.out, clearLine)
		p.shown = false
	}
}
