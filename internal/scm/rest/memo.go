package rest

import (
	"maps"
	"sync"
	"time"
)

// Memo keeps what a forge answered, by key, so that each question is asked once. Callers with the
// same key wait while one asks; those with another key do not, because an answer may take long. The
// zero value is empty.
type Memo[K comparable, V any] struct {
	mu      sync.Mutex
	answers map[K]*Once[V]
}

// Get returns the answer that is kept, or asks for it. An error is not kept.
func (m *Memo[K, V]) Get(key K, ask func() (V, error)) (V, error) { return m.at(key).Get(ask) }

// Keep drops the answers about all keys that a function does not select.
func (m *Memo[K, V]) Keep(selects func(K) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.answers, func(key K, _ *Once[V]) bool { return !selects(key) })
}

func (m *Memo[K, V]) at(key K) *Once[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answers == nil {
		m.answers = map[K]*Once[V]{}
	}
	if m.answers[key] == nil {
		m.answers[key] = &Once[V]{}
	}
	return m.answers[key]
}

// Once keeps one answer. Callers wait while one asks. The zero value is empty.
type Once[V any] struct {
	mu    sync.Mutex
	known bool
	value V
}

// Get returns the answer that is kept, or asks for it. An error is not kept.
func (o *Once[V]) Get(ask func() (V, error)) (V, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known {
		return o.value, nil
	}
	value, err := ask()
	if err == nil {
		o.known = true
		o.value = value
	}
	return value, err
}

// Hourly keeps one answer for an hour: the service is long-running, accounts can be renamed,
// and rights change. The zero value is empty.
type Hourly[V any] struct {
	mu    sync.Mutex
	value V
	until time.Time
}

// Get returns the answer, which it asks for once an hour. An error is not kept.
func (h *Hourly[V]) Get(now time.Time, ask func() (V, error)) (V, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Before(h.until) {
		return h.value, nil
	}
	value, err := ask()
	if err == nil {
		h.value = value
		h.until = now.Add(time.Hour)
	}
	return value, err
}
