package rest

import (
	"sync"
	"time"
)

// Memo keeps what a forge answered, by key, so that each question is asked once. Callers with the
// same key wait while one asks; those with another key do not, because an answer may take long. The
// zero value is empty.
type Memo[K comparable, V any] struct {
	mu      sync.Mutex
	answers map[K]*remembered[V]
}

// remembered is what is kept for one key. It is locked while it is asked for.
type remembered[V any] struct {
	mu    sync.Mutex
	known bool
	value V
}

// Get returns the answer that is kept, or asks for it. An error is not kept.
func (m *Memo[K, V]) Get(key K, ask func() (V, error)) (V, error) {
	kept := m.at(key)
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.known {
		return kept.value, nil
	}
	value, err := ask()
	if err == nil {
		kept.known = true
		kept.value = value
	}
	return value, err
}

func (m *Memo[K, V]) at(key K) *remembered[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answers == nil {
		m.answers = map[K]*remembered[V]{}
	}
	if m.answers[key] == nil {
		m.answers[key] = &remembered[V]{}
	}
	return m.answers[key]
}

// accountKept is how long the account of a credential is kept: the service is
// long-running, and accounts can be renamed.
const accountKept = time.Hour

// Account keeps the account of one credential. The zero value is empty.
type Account[A any] struct {
	mu      sync.Mutex
	account A
	until   time.Time
}

// Get returns the account, which it asks for once an hour.
func (a *Account[A]) Get(now time.Time, ask func() (A, error)) (A, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Before(a.until) {
		return a.account, nil
	}
	account, err := ask()
	if err == nil {
		a.account = account
		a.until = now.Add(accountKept)
	}
	return account, err
}
