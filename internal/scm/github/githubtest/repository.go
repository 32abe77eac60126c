package githubtest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/forgetest"
)

// Repository is one repository on the server. Its methods act as users with browsers
// and clones. A method with a who parameter creates that account if necessary.
type Repository struct {
	Git  forgetest.Branches
	s    *Server
	bare *gittest.Repository

	id          int64
	owner, name string
	fork        *Repository // repository that it was forked from
	private     bool
	archived    bool
	removed     bool
	methods     map[string]bool // merge, squash, rebase
	autoDelete  bool
	protection  map[string]Protection // by branch
	rulesets    []*ruleset
	permissions map[string]string // login in lower case -> admin, write, read
	created     time.Time
	pushed      time.Time // to any branch

	bases      map[string]string // last known state of the branches
	lastNumber int
	pulls      map[int]*pull
	asked      []*comment // on issues, which have nothing else
	statuses   []*status
	checks     []*check
	releases   []*release
	labels     map[string]int64
}

// Protection is the classic protection of a branch.
type Protection struct {
	Demands
	PushDenied bool // pushes over Git are rejected
}

// NewRepository creates OWNER/NAME with one commit of the files on main. It is
// private.
func (s *Server) NewRepository(name string, files map[string]string) *Repository {
	var r *Repository
	s.act(func() {
		r = s.newRepository(name)
		r.bare.Add("main", "Begin", s.author(s.user(r.owner)), files)
		r.look(s.user(r.owner))
	})
	return r
}

func (s *Server) newRepository(fullName string) *Repository {
	owner, name, _ := strings.Cut(fullName, "/")
	r := &Repository{
		s: s, id: 5000 + s.next(), owner: owner, name: name, private: true, created: s.time(), pushed: s.time(),
		methods:    map[string]bool{"merge": true, "squash": true, "rebase": true},
		protection: map[string]Protection{}, permissions: map[string]string{lower(owner): "admin"},
		bases: map[string]string{}, pulls: map[int]*pull{}, labels: map[string]int64{},
	}
	r.bare = s.git.Init(itoa(int(r.id)), setup)
	r.Git = s.front.Branches(r.bare,
		func(who string) gittest.Author { return s.author(s.user(who)) }, func(who string) { r.look(s.user(who)) })
	s.repos[r.id], s.names[lower(fullName)] = r, r.id
	s.user(owner)
	return r
}

// setup configures Git repositories as GitHub does.
var setup = gittest.Setup{
	Hidden: []string{"refs/pull"},
	Refusal: []string{
		"error: GH006: Protected branch update failed for refs/heads/BRANCH.",
		"error: Changes must be made through a pull request.",
	},
}

func (s *Server) author(u *user) gittest.Author {
	return gittest.Author{Name: u.login, Email: u.login + "@users.noreply.github.com", At: s.time()}
}

// ID returns the numeric ID, which a rename keeps.
func (r *Repository) ID() int64 { return r.id }

// FullName returns the current OWNER/NAME.
func (r *Repository) FullName() string {
	var name string
	r.s.act(func() { name = r.fullName() })
	return name
}

func (r *Repository) fullName() string { return r.owner + "/" + r.name }

// CloneURL returns the URL for Git.
func (r *Repository) CloneURL() string { return r.s.URL() + "/" + r.Settings.Name() + ".git" }

// Permit sets the permission of an account: admin, write, read or none. The owner is
// an admin.
func (r *Repository) Permit(who, permission string) {
	r.s.act(func() { r.permissions[lower(r.s.user(who).login)] = permission })
}

// Rename renames the repository; the old name redirects to the new one.
func (r *Repository) Rename(name string) {
	r.s.act(func() {
		r.name = name
		r.s.names[lower(r.fullName())] = r.id
	})
}

// SetArchived sets whether the repository is read-only.
func (r *Repository) SetArchived(archived bool) { r.s.act(func() { r.archived = archived }) }

// SetPrivate sets whether the repository is visible only to users with a permission.
func (r *Repository) SetPrivate(private bool) { r.s.act(func() { r.private = private }) }

// Remove deletes the repository.
func (r *Repository) Remove() { r.s.act(func() { r.removed = true }) }

// AllowMethods restricts the merge methods to these.
func (r *Repository) AllowMethods(methods ...string) {
	r.s.act(func() {
		r.methods = map[string]bool{}
		for _, method := range methods {
			r.methods[method] = true
		}
	})
}

// DeleteMergedBranches enables deletion of the head after a merge.
func (r *Repository) DeleteMergedBranches() { r.s.act(func() { r.autoDelete = true }) }

// Protect protects a branch; the zero Protection removes the protection.
func (r *Repository) Protect(branch string, p Protection) {
	r.s.act(func() {
		r.protection[branch] = p
		if reflect.ValueOf(p).IsZero() {
			delete(r.protection, branch)
		}
		var denied []string
		for _, name := range slices.Sorted(maps.Keys(r.protection)) {
			if r.protection[name].PushDenied {
				denied = append(denied, name)
			}
		}
		r.bare.Protect(denied...)
	})
}

// permission returns the permission of an account: admin, write, read or none.
func (r *Repository) permission(u *user) string {
	if own, ok := r.permissions[lower(u.login)]; ok {
		return own
	}
	if r.private {
		return "none"
	}
	return "read"
}

func (r *Repository) mayPush(u *user) bool {
	own := r.permission(u)
	return own == "admin" || own == "write"
}
