package service

import (
	"sync"

	"promoter/internal/drift"
)

// driftMemory is the drift of the repositories as this process last reconciled them. It is lost
// when the process ends, and known again after the next reconciliation of each repository.
type driftMemory struct {
	mutex sync.Mutex
	last  map[string][]drift.Drift // by key
}

func (m *driftMemory) set(key string, found []drift.Drift) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.last == nil {
		m.last = map[string][]drift.Drift{}
	}
	if len(found) == 0 {
		delete(m.last, key)
		return
	}
	m.last[key] = found
}

func (m *driftMemory) of(key string) []drift.Drift {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.last[key]
}
