package app

import (
	"context"
	"errors"
	"testing"
)

// Ctrl-C while GitHub takes its time with the key: the pages stop waiting, and the App
// that comes of it is told all the same.
func TestCreator_outcome_waitsForTheKey(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	c := &creator{appMaker: &appMaker{}}
	c.mu.Lock() // as Make does
	stop()
	type told struct {
		kept KeptApp
		err  error
	}
	ended := make(chan told)
	go func() {
		kept, err := c.outcome(ctx, errors.New("answer what had begun: it took too long"))
		ended <- told{kept, err}
	}()
	c.appKept(KeptApp{ID: 7})
	c.mu.Unlock()
	if got := <-ended; got.err != nil || got.kept.ID != 7 {
		t.Errorf("got %+v", got)
	}
}

// Where there is no App, what went wrong with it is told first.
func TestCreator_outcome(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	refused, late := errors.New("refused"), errors.New("late")
	for _, test := range []struct{ fail, listen, want error }{
		{refused, late, refused},
		{nil, late, late},
		{nil, nil, context.Canceled},
	} {
		c := &creator{appMaker: &appMaker{}, fail: test.fail}
		if _, err := c.outcome(ctx, test.listen); !errors.Is(err, test.want) {
			t.Errorf("got %v, want %v", err, test.want)
		}
	}
}
