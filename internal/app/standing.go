package app

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"promoter/internal/config"
	"promoter/internal/git"
	"promoter/internal/scm/github"
)

// standing are the forges of the last round of work. The next one uses them on, as
// long as their credentials are the same, with what they remember: answers with their
// ETags, limits that a forge named, tokens of installations.
type standing struct {
	mutex  sync.Mutex
	forges map[string]*forge // by name
}

// follow lets the forges of a round take the places of the last.
func (s *standing) follow(forges map[string]*forge) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for name, f := range forges {
		if before := s.forges[name]; before != nil {
			f.follow(before)
		}
	}
	s.forges = forges
}

// follow takes over what another one remembers that is asked with the same credential.
// Of plain Git nothing is remembered.
func (f *forge) follow(before *forge) {
	if f.err != nil || before.err != nil || f.config.Kind == config.ForgeGit || !sameCredential(f.credential, before.credential) {
		return
	}
	f.scm, f.public = before.scm, before.public
	if f.app != nil && before.app != nil {
		f.app.stood = before.app.standing()
	}
}

func sameCredential(a, b git.Credential) bool {
	return a.User == b.User && a.Password.Reveal() == b.Password.Reveal()
}

// used are the installations that are worked with, and those of the round before that
// this one did not come to yet, by account.
func (a *installations) used() []*github.Installed {
	all := a.standing()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for id, before := range a.stood {
		if a.known[id] == nil {
			all[id] = before
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *github.Installed) int {
		return cmp.Compare(a.Installation.Account, b.Installation.Account)
	})
}

// standing are the installations that were worked with.
func (a *installations) standing() map[int64]*github.Installed {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	all := map[int64]*github.Installed{}
	for id, used := range a.known {
		if used.err == nil {
			all[id] = used.github
		}
	}
	return all
}
