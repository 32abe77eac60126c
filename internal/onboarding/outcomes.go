package onboarding

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"promoter/internal/atomicfile"
	"promoter/internal/identity"
)

const (
	// maxOutcomes bounds the file, in bytes.
	maxOutcomes = 32 << 20
	// nothingFor is how long a repository without references is skipped even if it
	// changes: most are no GitOps repositories and never will be.
	nothingFor = 6 * time.Hour
	// leftFor is how long a repository is left to a user who works on it.
	leftFor = time.Hour
	// outcomeFor is how long an outcome is kept that is not read.
	outcomeFor = 90 * 24 * time.Hour
)

// outcomes caches the results, so that a repository in which nothing changed costs no
// request. They decide nothing: without the cache, the forge is queried again.
type outcomes struct {
	file string // empty: nothing is stored
	now  func() time.Time

	mutex sync.Mutex
	known map[identity.RepositoryKey]lastResult
}

// lastResult is the last result of a repository, and how long it is valid.
type lastResult struct {
	Version string    `json:"version,omitempty"` // of the repository; empty: unknown
	Never   bool      `json:"never,omitempty"`   // closed or merged
	Again   time.Time `json:"again,omitzero"`    // valid until then, whatever the version
	Until   time.Time `json:"until,omitzero"`    // invalid after then; zero: never
	Seen    time.Time `json:"seen"`

	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"`
	Number int    `json:"number,omitempty"`
	URL    string `json:"url,omitempty"`
}

// readOutcomes reads what an earlier process stored in a folder. A file that cannot be
// read counts as empty.
func readOutcomes(folder string, now func() time.Time) *outcomes {
	o := &outcomes{now: now, known: map[identity.RepositoryKey]lastResult{}}
	if folder == "" {
		return o
	}
	o.file = filepath.Join(folder, "outcomes.json")
	var known map[identity.RepositoryKey]lastResult
	content, err := atomicfile.Read(o.file, maxOutcomes)
	if err != nil || json.Unmarshal(content, &known) != nil {
		return o
	}
	for key, one := range known {
		if now().Sub(one.Seen) < outcomeFor {
			o.known[key] = one
		}
	}
	return o
}

// persistent reports whether the outcomes outlive the process.
func (o *outcomes) persistent() bool { return o.file != "" }

// find returns the result of a repository for which nothing has to be done; nil: none is
// known.
func (o *outcomes) find(key identity.RepositoryKey, version string) *Result {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	one, known := o.known[key]
	if now := o.now(); !known || !one.valid(version, now) {
		return nil
	}
	one.Seen = o.now()
	o.known[key] = one
	return &Result{State: one.State, Reason: one.Reason, Number: one.Number, URL: one.URL, Known: true}
}

// valid reports whether the outcome would be the same now.
func (o lastResult) valid(version string, now time.Time) bool {
	switch {
	case o.Never || now.Before(o.Again):
		return true
	case !o.Until.IsZero() && !now.Before(o.Until):
		return false
	}
	return o.Version != "" && o.Version == version
}

// record caches the result of a repository, if it lasts until the version changes. A
// candidate, one of very many, is not searched again soon.
func (o *outcomes) record(key identity.RepositoryKey, version string, result Result, isCandidate bool) {
	one := lastResult{Version: version, Seen: o.now(), State: result.State, Reason: result.Reason, Number: result.Number, URL: result.URL}
	switch result.State {
	case Declined:
		one.Never = true
	case NothingFound:
		if isCandidate {
			one.Again = o.now().Add(nothingFor)
		}
	case LeftAlone:
		one.Until = o.now().Add(leftFor)
	case Open:
	default:
		return
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.known[key] = one
}

// save stores the outcomes.
func (o *outcomes) save() error {
	if o.file == "" {
		return nil
	}
	o.mutex.Lock()
	data, err := json.Marshal(o.known)
	o.mutex.Unlock()
	if err != nil {
		return fmt.Errorf("store which repositories were offered a config file: %w", err)
	}
	if err := atomicfile.Replace(o.file, data); err != nil {
		return fmt.Errorf("store which repositories were offered a config file: %w", err)
	}
	return nil
}
