package giteatest

import (
	"maps"
	"net/http"
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
	ways        map[string]bool // allowed merge methods
	preferred   string
	autoDelete  bool
	detect      bool                  // manual merges are detected
	protection  map[string]Protection // by branch
	permissions map[string]string     // login in lower case -> admin, write, read
	late        int                   // how many merges of a new head are deferred
	settling    int                   // requests that fail after the first push

	bases      map[string]string // last known state of the branches
	lastNumber int
	pulls      map[int]*pull
	asked      []*event // comments on issues, which have nothing else
	statuses   []*status
	releases   []*release
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
		r = s.newRepository(name)
		r.bare.Add("main", "Begin", s.author(s.user(r.owner)), files)
		r.look(s.user(r.owner))
		r.settling = 0
	})
	return r
}

// NewEmptyRepository creates OWNER/NAME without a commit. For a while after the first
// push, its branches and commits cannot be read, as on a real server.
func (s *Server) NewEmptyRepository(name string) *Repository {
	var r *Repository
	s.act(func() { r = s.newRepository(name) })
	return r
}

func (s *Server) newRepository(fullName string) *Repository {
	owner, name, _ := strings.Cut(fullName, "/")
	r := &Repository{
		s: s, id: 5000 + s.next(), owner: owner, name: name, private: true, preferred: "merge",
		ways:       map[string]bool{"merge": true, "rebase": true, "rebase-merge": true, "squash": true, "fast-forward-only": true},
		protection: map[string]Protection{}, permissions: map[string]string{lower(owner): "owner"},
		bases: map[string]string{}, pulls: map[int]*pull{},
	}
	r.bare = s.git.Init(itoa(int(r.id)), setup)
	r.Git = s.front.Branches(r.bare,
		func(who string) gittest.Author { return s.author(s.user(who)) }, func(who string) { r.look(s.user(who)) })
	s.repos[r.id], s.names[lower(fullName)] = r, r.id
	s.user(owner)
	return r
}

// setup configures Git repositories as Gitea does.
var setup = gittest.Setup{
	Hidden:  []string{"refs/pull"},
	Refusal: []string{"", "Gitea: Not allowed to push to protected branch BRANCH"},
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
func (r *Repository) CloneURL() string { return r.s.URL() + "/" + r.FullName() + ".git" }

// TidyUp deletes the branch of a closed pull request as who, with the button on its
// page.
func (r *Repository) TidyUp(who string, number int) {
	r.s.act(func() {
		p := r.must(number)
		p.from.bare.Delete(p.head)
		p.happened("delete_branch", r.s.user(who), p.head)
		p.from.look(r.s.user(who))
	})
}

// Permit sets the permission of an account: admin, write, read or none.
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

// DeleteMergedBranches enables deletion of the head after a merge.
func (r *Repository) DeleteMergedBranches() { r.s.act(func() { r.autoDelete = true }) }

// LookLate defers this many merges of every new head with "Please try again later",
// as Gitea does while it checks for conflicts.
func (r *Repository) LookLate(times int) { r.s.act(func() { r.late = times }) }

// Protect protects a branch; the zero Protection removes the protection.
func (r *Repository) Protect(branch string, p Protection) {
	r.s.act(func() {
		r.protection[branch] = p
		var denied []string
		for _, name := range slices.Sorted(maps.Keys(r.protection)) {
			if r.protection[name].PushDenied {
				denied = append(denied, name)
			}
		}
		r.bare.Protect(denied...)
	})
}

// Unprotect removes the protection of a branch.
func (r *Repository) Unprotect(branch string) {
	r.Protect(branch, Protection{})
	r.s.act(func() { delete(r.protection, branch) })
}

// permission returns the permission of an account: owner, admin, write, read or none.
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
	return own == "owner" || own == "admin" || own == "write"
}

func (r *Repository) administers(u *user) bool {
	own := r.permission(u)
	return own == "owner" || own == "admin"
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

// sees reports whether the token may read a repository.
func (k *token) sees(r *Repository) bool { return r.permission(k.owner) != "none" }

type status struct {
	id                                 int64
	commit, context, state, url, words string
	by                                 *user
	at                                 time.Time
}

type release struct {
	id                int64
	tag               string
	draft, prerelease bool
	published         time.Time
	by                *user
}
