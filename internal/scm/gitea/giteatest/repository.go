package giteatest

import (
	"strings"

	"promoter/internal/scm/forgetest"
)

// Repository is one repository on the server.
type Repository struct {
	Git      forgetest.Branches
	Pulls    forgetest.Pulls
	Settings forgetest.Settings

	s          *Server
	model      *forgetest.Repository
	ways       map[string]bool // allowed merge methods
	preferred  string
	detect     bool                  // manual merges are detected
	protection map[string]Protection // by branch
	late       int                   // how many merges of a new head are deferred
	settling   int                   // requests that fail after the first push
	labels     []*label

	teams       []*team         // with access
	throughTeam map[string]bool // logins in lower case, whose permission is that of a team
}

type label struct {
	id   int64
	name string
}

// Protection is the protection rule of a branch.
type Protection struct {
	Checks       []string // required contexts or patterns
	Approvals    int
	Outdated     bool // an outdated head is blocked
	Rejected     bool // requested changes block
	Requests     bool // official requests for reviews block
	Signed       bool
	DismissStale bool     // a push dismisses approvals
	PushDenied   bool     // pushes over Git are rejected
	MergeAllowed []string // logins; none: all users with write access
}

// NewRepository creates OWNER/NAME with one commit of the files on main. It is
// private.
func (s *Server) NewRepository(name string, files map[string]string) *Repository {
	var r *Repository
	s.act(func() {
		r = own(s.hub.NewRepository(name, files))
		r.settling = 0
	})
	return r
}

// NewEmptyRepository creates OWNER/NAME without a commit. For a while after the first
// push, its branches and commits cannot be read, as on a real server.
func (s *Server) NewEmptyRepository(name string) *Repository {
	var r *Repository
	s.act(func() { r = own(s.hub.NewEmpty(name)) })
	return r
}

func newRepository(s *Server, model *forgetest.Repository) *Repository {
	return &Repository{
		Git: model.Branches(), Pulls: model.PullRequests(), Settings: model.Settings(), s: s, model: model, preferred: "merge",
		ways:       map[string]bool{"merge": true, "rebase": true, "rebase-merge": true, "squash": true, "fast-forward-only": true},
		protection: map[string]Protection{}, throughTeam: map[string]bool{},
	}
}

// own returns what only a Gitea has of a repository.
func own(r *forgetest.Repository) *Repository { return r.Own.(*Repository) }

// ID returns the numeric ID, which a rename keeps.
func (r *Repository) ID() int64 { return r.model.ID }

// TidyUp deletes the branch of a closed pull request as who, with the button on its
// page.
func (r *Repository) TidyUp(who string, number int) {
	r.Pulls.With(who, number, func(p *pull, by *user) {
		p.From.Bare.Delete(p.Head)
		p.Happened(forgetest.HeadDeleted, by, p.Head)
		p.From.Follow(by)
	})
}

// Label adds a label as who, of which the timeline tells.
func (r *Repository) Label(who string, number int, name string) {
	r.Pulls.With(who, number, func(p *pull, by *user) { addLabel(p, by, name) })
}

// Reopen reopens a pull request as who, which does not restore a deleted branch.
func (r *Repository) Reopen(who string, number int) {
	r.Pulls.With(who, number, func(p *pull, by *user) { p.Reopen(by) })
}

// AllowWays restricts the merge methods: merge, rebase, rebase-merge, squash,
// fast-forward-only.
func (r *Repository) AllowWays(ways ...string) {
	r.s.act(func() {
		r.ways = map[string]bool{}
		for _, way := range ways {
			r.ways[way] = true
		}
	})
}

// PreferWay sets the default merge method.
func (r *Repository) PreferWay(way string) { r.s.act(func() { r.preferred = way }) }

// DetectMerges makes Gitea detect that a head was pushed to its base: the setting
// "autodetect manual merge", which is off by default.
func (r *Repository) DetectMerges() { r.s.act(func() { r.detect = true }) }

// LookLate defers this many merges of every new head with "Please try again later",
// as Gitea does while it checks for conflicts.
func (r *Repository) LookLate(times int) { r.s.act(func() { r.late = times }) }

// Protect protects a branch; the zero Protection removes the protection.
func (r *Repository) Protect(branch string, p Protection) {
	r.s.act(func() {
		r.protection[branch] = p
		for _, open := range r.model.Pulls { // all are checked again
			progressOf(open).waits = r.late
		}
		forgetest.Deny(r.model, r.protection, func(p Protection) bool { return p.PushDenied })
	})
}

// settle makes requests fail for a while after the first push.
func settle(push forgetest.Push) {
	if len(push.Before) == 0 && len(push.Now) > 0 {
		own(push.To).settling = 4
	}
}

// settles reports whether the repository is still called empty, as in the first second
// after the first push.
func (r *Repository) settles() bool {
	if r.settling == 0 {
		return false
	}
	r.settling--
	return true
}

// PermitTeam gives a team of the organization a permission for code, issues, and pull
// requests, as the web pages do. The permission of its members in the repository stays
// "none" in the API.
func (r *Repository) PermitTeam(name, permission string) {
	r.s.act(func() {
		org, short, _ := strings.Cut(name, "/")
		for _, t := range r.s.teams {
			if lower(t.org) != lower(org) || lower(t.name) != lower(short) {
				continue
			}
			t.units = units(permission)
			r.teams = append(r.teams, t)
			for login := range t.members {
				r.model.Permissions[login] = permission
				r.throughTeam[login] = true
			}
		}
	})
}

// labelNamed returns a label of the repository, and creates it if necessary.
func (r *Repository) labelNamed(name string) *label {
	for _, one := range r.labels {
		if one.name == name {
			return one
		}
	}
	made := &label{id: r.model.Hub.NextID(), name: name}
	r.labels = append(r.labels, made)
	return made
}
