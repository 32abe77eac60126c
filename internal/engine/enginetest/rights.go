package enginetest

import (
	"context"
	"slices"
	"sync"

	"promoter/internal/verb"

	"promoter/internal/promotion"

	"promoter/internal/engine"
	"promoter/internal/identity"
)

// Permissions says who may give commands: everybody but strangers.
type Permissions struct {
	mutex sync.Mutex
	// Strangers may do nothing. Only names who may give a verb at all, and Where in
	// which environments somebody may give those that decide; without an entry it is
	// everybody, everywhere.
	Strangers map[string]bool
	Only      map[verb.Verb][]string
	Where     map[string][]string
	// Fail is asked before every answer.
	Fail  func(person identity.User) error
	Asked int
}

// NewPermissions makes rights without strangers.
func NewPermissions() *Permissions {
	return &Permissions{Strangers: map[string]bool{}, Only: map[verb.Verb][]string{}, Where: map[string][]string{}}
}

// Allowed implements engine.Permissions.
func (r *Permissions) Allowed(_ context.Context, person identity.User, verb verb.Verb, targets ...promotion.Target) (engine.Permission, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.Asked++
	if r.Fail != nil {
		if err := r.Fail(person); err != nil {
			return engine.Permission{}, err
		}
	}
	if only, named := r.Only[verb]; named && !slices.Contains(only, person.Login) {
		return engine.Permission{Reason: "only " + only[0] + " may " + string(verb)}, nil
	}
	for _, target := range targets {
		if where, named := r.Where[person.Login]; named && !slices.Contains(where, target.Environment) {
			return engine.Permission{Reason: "not in " + target.Environment}, nil
		}
	}
	return engine.Permission{Allowed: !r.Strangers[person.Login]}, nil
}
