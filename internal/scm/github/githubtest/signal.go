package githubtest

import (
	"slices"
	"time"
)

type status struct {
	id                                 int64
	commit, context, state, url, words string
	by                                 *user
	at                                 time.Time
}

type check struct {
	id                       int64
	commit, name, conclusion string // in_progress or queued: not completed
	by                       *user
	at                       time.Time
}

func (c *check) completed() bool { return c.conclusion != "in_progress" && c.conclusion != "queued" }

type release struct {
	id                int64
	tag               string
	draft, prerelease bool
	published         time.Time
	by                *user
}

// latest returns the state of a context or check run of a commit: the state of a
// status; success, failure or pending for a check run. Empty: none.
func (r *Repository) latest(commit, context string) string {
	for _, one := range slices.Backward(r.statuses) {
		if one.commit == commit && one.context == context {
			return one.state
		}
	}
	for _, one := range slices.Backward(r.checks) {
		if one.commit != commit || one.name != context {
			continue
		}
		switch one.conclusion {
		case "success", "neutral", "skipped":
			return "success"
		case "in_progress", "queued":
			return "pending"
		}
		return "failure"
	}
	return ""
}

// Status is the latest status of a context.
type Status struct{ Context, State, Description, URL, By string }

// Statuses returns the latest status of every context of a commit, by context.
func (r *Repository) Statuses(commit string) map[string]Status {
	latest := map[string]Status{}
	r.s.act(func() {
		for _, one := range r.statuses {
			if one.commit == commit {
				latest[one.context] = Status{Context: one.context, State: one.state, Description: one.words, URL: one.url, By: one.by.login}
			}
		}
	})
	return latest
}

// SetStatus sets a commit status: success, pending, failure or error.
func (r *Repository) SetStatus(who, commit, context, state string) {
	r.s.act(func() {
		r.statuses = append(r.statuses, &status{
			id: r.s.next(), commit: commit, context: context, state: state, by: r.s.user(who), at: r.s.time(),
		})
	})
}

// SetCheckRun adds a check run with a conclusion, or in_progress or queued.
func (r *Repository) SetCheckRun(who, commit, name, conclusion string) {
	r.s.act(func() {
		r.checks = append(r.checks, &check{
			id: r.s.next(), commit: commit, name: name, conclusion: conclusion, by: r.s.user(who), at: r.s.time(),
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
