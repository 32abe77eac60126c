// Package activity knows by name what a process works on, so that a process that cannot end names it.
//
// A command carries its Work in its context. What takes long begins an activity there, and ends it.
package activity

import (
	"context"
	"sync"
)

// Work is the activities of a process. It is safe for concurrent use.
type Work struct {
	mu     sync.Mutex
	active []*string // oldest first
}

type contextKey struct{}

// With returns a context that carries work.
func With(ctx context.Context, w *Work) context.Context {
	return context.WithValue(ctx, contextKey{}, w)
}

// Begin begins an activity of the work of a context, until the returned function is called. The name completes
// "the process exits without the end of …". Without work, it has no effect.
func Begin(ctx context.Context, name string) (end func()) {
	w, _ := ctx.Value(contextKey{}).(*Work)
	if w == nil {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	begun := &name
	w.active = append(w.active, begun)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for i, one := range w.active {
			if one == begun {
				w.active = append(w.active[:i], w.active[i+1:]...)
				return
			}
		}
	}
}

// Names returns what is active, oldest first.
func (w *Work) Names() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for _, one := range w.active {
		names = append(names, *one)
	}
	return names
}
