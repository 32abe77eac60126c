package giteatest

import (
	"maps"
	"slices"
	"time"
)

// Status is the latest status of a context.
type Status struct{ Context, State, Description, URL, By string }

// Statuses returns the latest status of every context of a commit, by context.
func (r *Repository) Statuses(commit string) map[string]Status {
	latest := map[string]Status{}
	r.s.act(func() {
		for _, one := range r.latest(commit) {
			latest[one.context] = Status{Context: one.context, State: one.state, Description: one.words, URL: one.url, By: one.by.login}
		}
	})
	return latest
}

// latest returns the latest status of every context.
func (r *Repository) latest(commit string) []*status {
	latest := map[string]*status{}
	for _, one := range r.statuses {
		if one.commit == commit {
			latest[one.context] = one
		}
	}
	var found []*status
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		found = append(found, latest[name])
	}
	return found
}

// SetStatus sets a commit status: success, pending, failure, error, warning or
// skipped.
func (r *Repository) SetStatus(who, commit, context, state string) {
	r.s.act(func() {
		r.statuses = append(r.statuses, &status{
			id: r.s.next(), commit: commit, context: context, state: state, by: r.s.user(who), at: r.s.time(),
		})
	})
}

// AddRelease publishes a release, or creates a draft.
func (r *Repository) AddRelease(who, tag string, published time.Time, draft, prerelease bool) {
	r.s.act(func() {
		r.releases = append(r.releases, &release{
			id: r.s.next(), tag: tag, draft: draft, prerelease: prerelease, published: published.UTC(), by: r.s.user(who),
		})
	})
}
