package enginetest

import (
	"context"
	"slices"
	"sync"

	"promoter/internal/engine"
	"promoter/internal/identity"
	"promoter/internal/promotion"
)

// Rights says who may give commands: everybody but strangers.
type Rights struct {
	mutex sync.Mutex
	// Strangers may do nothing. Only names who may give a verb at all, and Where in
	// which environments somebody may give those that decide; without an entry it is
	// everybody, everywhere.
	Strangers map[string]bool
	Only      map[promotion.Verb][]string
	Where     map[string][]string
	// Fail is asked before every answer.
	Fail  func(person identity.User) error
	Asked int
}

// NewRights makes rights without strangers.
func NewRights() *Rights {
	return &Rights{Strangers: map[string]bool{}, Only: map[promotion.Verb][]string{}, Where: map[string][]string{}}
}

// May implements engine.Rights.
func (r *Rights) May(_ context.Context, person identity.User, verb promotion.Verb, targets ...promotion.Target) (engine.Right, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.Asked++
	if r.Fail != nil {
		if err := r.Fail(person); err != nil {
			return engine.Right{}, err
		}
	}
	if only, named := r.Only[verb]; named && !slices.Contains(only, person.Login) {
		return engine.Right{Why: "only " + only[0] + " may " + string(verb)}, nil
	}
	for _, target := range targets {
		if where, named := r.Where[person.Login]; named && !slices.Contains(where, target.Environment) {
			return engine.Right{Why: "not in " + target.Environment}, nil
		}
	}
	return engine.Right{May: !r.Strangers[person.Login]}, nil
}
