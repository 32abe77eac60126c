package rest

import (
	"strings"
	"sync"
)

// StatusCache caches the statuses that we set on commits, by context, so that no status is
// set twice: each one is an entry that users see. The zero value is empty. It is safe
// for concurrent use.
type StatusCache[V any] struct {
	mu   sync.Mutex
	ours map[statusKey]V // our latest status
	read map[string]bool // commits whose statuses are known
}

type statusKey struct{ commit, context string }

// Remember stores our latest status of a context.
func (s *StatusCache[V]) Remember(commit, context string, status V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ours == nil {
		s.ours = map[statusKey]V{}
	}
	s.ours[statusKey{strings.ToLower(commit), context}] = status
}

// Read records that all statuses of the commit were read, and ours stored.
func (s *StatusCache[V]) Read(commit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read == nil {
		s.read = map[string]bool{}
	}
	s.read[strings.ToLower(commit)] = true
}

// Latest returns our latest status, or the zero value if there is none. It returns
// false if the statuses have not been read yet.
func (s *StatusCache[V]) Latest(commit, context string) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	commit = strings.ToLower(commit)
	status, ok := s.ours[statusKey{commit, context}]
	return status, ok || s.read[commit]
}

// Ours is like Latest, but reads the statuses of the commit first if necessary.
func (s *StatusCache[V]) Ours(commit, context string, read func() error) (V, error) {
	if latest, known := s.Latest(commit, context); known {
		return latest, nil
	}
	if err := read(); err != nil {
		var none V
		return none, err
	}
	latest, _ := s.Latest(commit, context)
	return latest, nil
}
