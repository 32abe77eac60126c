package giteatest

import (
	"net/http"

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
		protection: map[string]Protection{},
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
		forgetest.Deny(r.model, r.protection, func(p Protection) bool { return p.PushDenied })
	})
}

// settle makes requests fail for a while after the first push.
func settle(push forgetest.Push) {
	if len(push.Before) == 0 && len(push.Now) > 0 {
		own(push.To).settling = 2
	}
}

// settled returns the 5xx error of the first second after the first push, nil
// afterwards.
func (r *Repository) settled() *reply {
	if r.settling == 0 {
		return nil
	}
	r.settling--
	return refuse(http.StatusInternalServerError, "object does not exist [id: , rel_path: ]")
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
