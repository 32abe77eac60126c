package rest

import (
	"strings"
	"sync"
)

// Said remembers what we say about commits, by the context of each status, so that
// nothing is said twice: each setting of a status is an entry that people see. The
// zero value remembers nothing. It is safe for many goroutines.
type Said[V any] struct {
	mu   sync.Mutex
	ours map[statusKey]V // our latest
	read map[string]bool // commits whose statuses are known
}

type statusKey struct{ commit, context string }

// Remember keeps our latest status of a context.
func (s *Said[V]) Remember(commit, context string, status V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ours == nil {
		s.ours = map[statusKey]V{}
	}
	s.ours[statusKey{strings.ToLower(commit), context}] = status
}

// Read says that all statuses of the commit were read, and ours remembered.
func (s *Said[V]) Read(commit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read == nil {
		s.read = map[string]bool{}
	}
	s.read[strings.ToLower(commit)] = true
}

// Latest returns our latest status, the zero one where there is none. It says false
// where that is not known yet.
func (s *Said[V]) Latest(commit, context string) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	commit = strings.ToLower(commit)
	status, ok := s.ours[statusKey{commit, context}]
	return status, ok || s.read[commit]
}

// Ours is Latest; where that is not known, the statuses of the commit are read first.
func (s *Said[V]) Ours(commit, context string, read func() error) (V, error) {
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
