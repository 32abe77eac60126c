package rest

import (
	"sync"
	"time"
)

// Memo keeps what a forge answered, by key, so that each question is asked once. Callers wait
// while one asks. The zero value is empty.
type Memo[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]V
}

// Get returns the answer that is kept, or asks for it. An error is not kept.
func (m *Memo[K, V]) Get(key K, ask func() (V, error)) (V, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.known[key]; ok {
		return known, nil
	}
	answer, err := ask()
	if err != nil {
		return answer, err
	}
	if m.known == nil {
		m.known = map[K]V{}
	}
	m.known[key] = answer
	return answer, nil
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
