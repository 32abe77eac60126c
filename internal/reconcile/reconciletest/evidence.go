package reconciletest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"promoter/internal/health"
)

// Evidence is what sources reported about health, and a database.
type Evidence struct {
	mutex   sync.Mutex
	reports map[string]health.Report // by object
	states  map[health.Key]health.State
}

// NewEvidence returns evidence without reports.
func NewEvidence() *Evidence {
	return &Evidence{reports: map[string]health.Report{}, states: map[health.Key]health.State{}}
}

// Report replaces the last report about an object.
func (e *Evidence) Report(r health.Report) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.reports[r.Receiver+" "+r.Subject] = r
}

// Forget loses what was stored, but for the reports.
func (e *Evidence) Forget() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	clear(e.states)
}

// Reports implements observe.Evidence.
func (e *Evidence) Reports(_ context.Context, receivers []string) ([]health.Report, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	var all []health.Report
	for _, object := range slices.Sorted(maps.Keys(e.reports)) {
		if r := e.reports[object]; slices.Contains(receivers, r.Receiver) {
			all = append(all, r)
		}
	}
	return all, nil
}

// Load implements observe.Evidence.
func (e *Evidence) Load(_ context.Context, keys []health.Key) (map[health.Key]health.State, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	found := map[health.Key]health.State{}
	for _, key := range keys {
		if state, stored := e.states[key]; stored {
			found[key] = state
		}
	}
	return found, nil
}

// Store implements observe.Evidence.
func (e *Evidence) Store(_ context.Context, states map[health.Key]health.State) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	maps.Copy(e.states, states)
	return nil
}
