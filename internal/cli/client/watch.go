package client

import (
	"context"
	"time"

	"promoter/internal/fault"
)

const (
	// pollEvery is how often the state is read even if the service reports no change, as
	// when a proxy does not pass on its stream.
	pollEvery = 10 * time.Second
	// reconnectAfter is when a stream of changes that ended is opened again.
	reconnectAfter = 5 * time.Second
	// betweenReads is the least time between two reads: a reconciliation of many
	// repositories is many changes.
	betweenReads = time.Second
)

// watch shows the state of a service again and again.
type watch struct {
	read func(context.Context) (report, error)
	// changes calls the function after each change until the stream of changes ends.
	changes func(context.Context, func()) error
	screen  screen
}

// screen is where the states appear.
type screen interface {
	show(report) error // a state, which may be the same as before
	lost(error)        // the service does not answer; each time that it does not
	close() error
}

// run reads the state until the context ends, which is no error. It returns an error if the
// service does not answer the first time, or refuses to.
func (w watch) run(ctx context.Context) (err error) {
	first, err := w.read(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if closing := w.screen.close(); err == nil {
			err = closing
		}
	}()
	if err := w.screen.show(first); err != nil {
		return err
	}
	changed, over := make(chan struct{}, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		<-over
	}()
	go func() {
		defer close(over)
		w.listen(ctx, changed)
	}()
	for {
		if !sleep(ctx, betweenReads) {
			return nil
		}
		poll := time.NewTimer(pollEvery - betweenReads)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-poll.C:
		}
		poll.Stop()
		if ctx.Err() != nil {
			return nil
		}
		state, err := w.read(ctx)
		switch kind := fault.KindOf(err); {
		case err == nil:
			if err := w.screen.show(state); err != nil {
				return err
			}
		case ctx.Err() != nil:
			return nil
		case kind == fault.Unauthorized || kind == fault.NotFound:
			return err
		default:
			w.screen.lost(err)
		}
	}
}

// listen reports changes, of which several may become one, and connects again when the
// stream ends.
func (w watch) listen(ctx context.Context, changed chan<- struct{}) {
	for {
		_ = w.changes(ctx, func() { // an error is shown when the state cannot be read either
			select {
			case changed <- struct{}{}:
			default:
			}
		})
		if !sleep(ctx, reconnectAfter) {
			return
		}
	}
}

// sleep reports whether the context lasted as long.
func sleep(ctx context.Context, long time.Duration) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
