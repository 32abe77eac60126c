package server

import (
	"crypto/rand"
	"encoding/base64"
	"slices"
	"sync"
	"time"
)

// Bounds of states: how long GitHub lets a person take, and how many pages may be
// open side by side. The oldest goes first.
const (
	stateLife = time.Hour
	maxStates = 64
	stateSize = 32 // bytes
)

// states are what the buttons of open pages send along. Each is good once.
type states struct {
	mu   sync.Mutex
	open []openState
}

type openState struct {
	text string
	at   time.Time
}

// mint makes one.
func (s *states) mint(now time.Time) string {
	raw := make([]byte, stateSize)
	_, _ = rand.Read(raw) // it never fails
	text := base64.RawURLEncoding.EncodeToString(raw)
	s.add(openState{text, now})
	return text
}

func (s *states) add(one openState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, one)
	if more := len(s.open) - maxStates; more > 0 {
		s.open = slices.Delete(s.open, 0, more)
	}
}

// take says whether a button had this one lately, and forgets it.
func (s *states) take(text string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	s.open = slices.DeleteFunc(s.open, func(one openState) bool {
		late, match := now.Sub(one.at) > stateLife, same(one.text, text)
		found = found || match && !late
		return late || match
	})
	return found
}

// giveBack lets one be used again, where nothing came of it.
func (s *states) giveBack(text string, now time.Time) { s.add(openState{text, now}) }
