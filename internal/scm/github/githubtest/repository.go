package githubtest

import (
	"reflect"
	"slices"
	"time"

	"promoter/internal/scm/forgetest"
)

// Repository is one repository on the server.
type Repository struct {
	Git      forgetest.Branches
	Pulls    forgetest.Pulls
	Settings forgetest.Settings

	s          *Server
	model      *forgetest.Repository
	methods    map[string]bool       // merge, squash, rebase
	protection map[string]Protection // by branch
	rulesets   []*ruleset
	checks     []*check
	labels     map[string]int64
	lateHeads  int  // see DelayHead
	free       bool // see WithoutRulesets
}

// Protection is the classic protection of a branch.
type Protection struct {
	Demands
	PushDenied bool // pushes over Git are rejected
}

// check is a check run.
type check struct {
	id                       int64
	workflow                 string // of GitHub Actions; empty: another app
	commit, name, conclusion string // in_progress or queued: not completed
	by                       *user
	at                       time.Time
	title, summary           string // of its output
}

func (c *check) completed() bool { return c.conclusion != "in_progress" && c.conclusion != "queued" }

// NewRepository creates OWNER/NAME with one commit of the files on main. It is
// private.
func (s *Server) NewRepository(name string, files map[string]string) *Repository {
	var r *Repository
	s.act(func() { r = own(s.hub.NewRepository(name, files)) })
	return r
}

func newRepository(s *Server, model *forgetest.Repository) *Repository {
	model.Permissions[lower(model.Owner)] = "admin" // GitHub's name
	return &Repository{
		Git: model.Branches(), Pulls: model.PullRequests(), Settings: model.Settings(), s: s, model: model,
		methods:    map[string]bool{"merge": true, "squash": true, "rebase": true},
		protection: map[string]Protection{}, labels: map[string]int64{},
	}
}

// own returns what only GitHub has of a repository.
func own(r *forgetest.Repository) *Repository { return r.Own.(*Repository) }

// ID returns the numeric ID, which a rename keeps.
func (r *Repository) ID() int64 { return r.model.ID }

// Fork creates a fork with this name and the current main.
func (r *Repository) Fork(owner, name string) *Repository {
	var fork *Repository
	r.s.act(func() { fork = own(r.model.ForkTo(owner + "/" + name)) })
	return fork
}

// AllowMethods restricts the merge methods to these.
func (r *Repository) AllowMethods(methods ...string) {
	r.s.act(func() {
		r.methods = map[string]bool{}
		for _, method := range methods {
			r.methods[method] = true
		}
	})
}

// Protect protects a branch; the zero Protection removes the protection.
func (r *Repository) Protect(branch string, p Protection) {
	r.s.act(func() {
		r.protection[branch] = p
		if reflect.ValueOf(p).IsZero() {
			delete(r.protection, branch)
		}
		forgetest.Deny(r.model, r.protection, func(p Protection) bool { return p.PushDenied })
	})
}

// SetCheckRun adds a check run with a conclusion, or in_progress or queued.
func (r *Repository) SetCheckRun(who, commit, name, conclusion string) {
	r.SetJob(who, commit, "", name, conclusion)
}

// SetJob adds the check run of a job of a workflow. Each workflow has a check suite of
// its own.
func (r *Repository) SetJob(who, commit, workflow, name, conclusion string) {
	r.s.act(func() {
		hub := r.model.Hub
		r.checks = append(r.checks, &check{
			id: hub.NextID(), workflow: workflow, commit: commit, name: name, conclusion: conclusion, by: hub.User(who), at: hub.Now(),
		})
	})
}

// latest returns the state of a context or check run of a commit: the state of a
// status; success, failure or pending for a check run. Empty: none. Those of other accounts
// than from do not count, unless that is empty.
func (r *Repository) latest(commit, context, from string) string {
	for _, one := range r.model.Latest(commit) {
		if one.Context == context && (from == "" || one.By.Login == from) {
			return one.State
		}
	}
	for _, one := range slices.Backward(r.checks) {
		if one.commit != commit || one.name != context || from != "" && one.by.Login != from {
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

// WithoutRulesets makes the repository a private one of a free plan.
func (r *Repository) WithoutRulesets() { r.s.act(func() { r.free = true }) }

// DelayHead refuses the next pull requests, as GitHub does just after the push of their
// head.
// https://github.com/gitbutlerapp/gitbutler/issues/4904
func (r *Repository) DelayHead(times int) { r.s.act(func() { r.lateHeads = times }) }

// suite returns the ID of the check suite of a check run: that of its first run.
func (r *Repository) suite(of *check) int64 {
	for _, one := range r.checks {
		if one.commit == of.commit && one.by == of.by && one.workflow == of.workflow {
			return one.id
		}
	}
	return of.id
}

// hasLabel reports whether a label exists in the repository.
func (r *Repository) hasLabel(name string) bool {
	used := slices.ContainsFunc(r.model.Sorted(), func(p *pull) bool { return slices.Contains(p.Labels, name) })
	return used || r.labels[name] != 0
}

// labelID returns the ID of a label, and creates it if necessary.
func (r *Repository) labelID(name string) int64 {
	if r.labels[name] == 0 {
		r.labels[name] = r.model.Hub.NextID()
	}
	return r.labels[name]
}

// Summary returns the summary of the latest check run of a name; empty: there is none.
func (r *Repository) Summary(commit, name string) (summary string) {
	r.s.act(func() {
		for _, one := range r.checks {
			if one.commit == commit && one.name == name {
				summary = one.summary
			}
		}
	})
	return summary
}
