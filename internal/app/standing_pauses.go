package app

import (
	"fmt"
	"maps"
	"slices"

	"promoter/internal/outbound"
)

// credentialPause is one that a forge asked for of one credential.
type credentialPause struct {
	credential string // in words, as people know it
	outbound.Pause
}

// pauses are those that are on, by forge and credential.
func (s *standing) pauses() []credentialPause {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var all []credentialPause
	for _, name := range slices.Sorted(maps.Keys(s.forges)) {
		all = append(all, s.forges[name].pauses()...)
	}
	return all
}

// pauses are those of the credentials that a forge is asked with, and of asking it
// without one.
func (f *forge) pauses() (all []credentialPause) {
	if f.err != nil {
		return nil
	}
	add := func(credential string, asked any) {
		if one, tells := asked.(interface {
			Paused() (outbound.Pause, bool)
		}); tells {
			if pause, on := one.Paused(); on {
				all = append(all, credentialPause{credential, pause})
			}
		}
	}
	add("the token of "+f.config.Name, f.scm)
	add("no credential", f.public)
	if f.app != nil {
		add("the App of "+f.config.Name, f.app.app)
		for _, one := range f.app.used() {
			add(fmt.Sprintf("the installation at %s of the App of %s", one.Installation.Account, f.config.Name), one)
		}
	}
	return all
}
