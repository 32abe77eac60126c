package app

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"promoter/internal/atomicfile"
	"promoter/internal/identity"
)

// onboarded remembers what came of offering a config file, so that a repository in
// which nothing changed costs no request. It decides nothing: the forge says whether
// a repository was asked before, and without the memory it is asked for that again.
type onboarded struct {
	file string // empty: nothing is kept
	now  func() time.Time

	mutex sync.Mutex
	known map[identity.RepositoryKey]outcome
}

// outcome is what came of it last.
type outcome struct {
	Mark  string    `json:"mark,omitempty"`  // of what was looked at; empty: that cannot be told
	Never bool      `json:"never,omitempty"` // closed or merged
	Again time.Time `json:"again,omitzero"`  // not before then, whatever the mark
	Until time.Time `json:"until,omitzero"`  // not after then; zero: for ever
	Seen  time.Time `json:"seen"`

	State  OnboardingState `json:"state"`
	Reason string          `json:"reason,omitempty"`
	Number int             `json:"number,omitempty"`
	URL    string          `json:"url,omitempty"`
}

const (
	// maxOutcomes bounds the file, in bytes.
	maxOutcomes = 32 << 20
	// nothingFor is how long a repository in which nothing was found is left alone,
	// although it was pushed to: most are no GitOps repositories and never will be.
	nothingFor = 6 * time.Hour
	// leftFor is how long one is left to a person who has it in hand.
	leftFor = time.Hour
	// outcomeFor is how long an outcome is remembered of which nobody asks.
	outcomeFor = 90 * 24 * time.Hour
)

// readOnboarded reads what an earlier round kept in a folder. What cannot be read is
// found out again.
func readOnboarded(folder string, now func() time.Time) *onboarded {
	o := &onboarded{now: now, known: map[identity.RepositoryKey]outcome{}}
	if folder == "" {
		return o
	}
	o.file = filepath.Join(folder, "outcomes.json")
	file, err := os.Open(o.file)
	if err != nil {
		return o
	}
	defer func() { _ = file.Close() }() // it was read
	var known map[identity.RepositoryKey]outcome
	if json.NewDecoder(io.LimitReader(file, maxOutcomes)).Decode(&known) != nil {
		return o
	}
	for key, one := range known {
		if now().Sub(one.Seen) < outcomeFor {
			o.known[key] = one
		}
	}
	return o
}

// kept says whether anything outlives the process.
func (o *onboarded) kept() bool { return o.file != "" }

// has returns what came of a repository about which nothing is to be done; nil: that
// is not known.
func (o *onboarded) has(key identity.RepositoryKey, mark string) *Onboarding {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	one, known := o.known[key]
	if now := o.now(); !known || !one.holds(mark, now) {
		return nil
	}
	one.Seen = o.now()
	o.known[key] = one
	return &Onboarding{State: one.State, Reason: one.Reason, Number: one.Number, URL: one.URL, remembered: true}
}

// holds says whether the outcome would be the same now.
func (o outcome) holds(mark string, now time.Time) bool {
	switch {
	case o.Never || now.Before(o.Again):
		return true
	case !o.Until.IsZero() && !now.Before(o.Until):
		return false
	}
	return o.Mark != "" && o.Mark == mark
}

// settle remembers what came of a repository, if it stays so until the mark changes.
// Of one of very many, what was not found is not looked for again soon.
func (o *onboarded) settle(key identity.RepositoryKey, mark string, came Onboarding, ofMany bool) {
	one := outcome{Mark: mark, Seen: o.now(), State: came.State, Reason: came.Reason, Number: came.Number, URL: came.URL}
	switch came.State {
	case OnboardingDeclined:
		one.Never = true
	case OnboardingNothing:
		if ofMany {
			one.Again = o.now().Add(nothingFor)
		}
	case OnboardingLeft:
		one.Until = o.now().Add(leftFor)
	case OnboardingOpen:
	default:
		return
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.known[key] = one
}

// save keeps what is known.
func (o *onboarded) save() error {
	if o.file == "" {
		return nil
	}
	o.mutex.Lock()
	data, err := json.Marshal(o.known)
	o.mutex.Unlock()
	if err == nil {
		err = atomicfile.Replace(o.file, data)
	}
	if err != nil {
		return fmt.Errorf("keep which repositories were offered a config: %w", err)
	}
	return nil
}
