package gitlabtest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/forgetest"
)

// Project is one project on the server. Its methods act as users with browsers and
// clones. A method with a who parameter creates that account if necessary.
type Project struct {
	Git  forgetest.Branches
	s    *Server
	bare *gittest.Repository

	id       int
	path     string // GROUP/…/NAME
	fork     *Project
	public   bool
	archived bool
	removed  bool
	members  map[*user]int
	settings Settings
	guarded  map[string]Protection // by the name or pattern of branches
	created  time.Time

	heads    map[string]string // last known state of the branches
	lastIID  int
	requests map[int]*request
	asked    []*note // on issues, which have nothing else
	statuses []*status
	lines    []*pipeline // pipelines
	releases []*release
	late     int // merges that are still deferred
	lag      int // responses about a merge request that still have the previous head
}

// Settings are the project settings that affect merge requests. The zero value is
// GitLab's default, with the merge method merge.
type Settings struct {
	Method          string // merge, rebase_merge or ff; empty: merge
	Squash          string // never, always, default_on or default_off; empty: default_off
	Pipelines       bool   // pipelines must succeed
	Trains          bool   // merge trains
	AutoRebase      bool   // a fast-forward rebases automatically
	ResetApprovals  bool   // a push revokes approvals
	CommittersApart bool   // committers may not approve
	Rules           []ApprovalRule
	Signed          bool // a push rule rejects unsigned commits
}

// ApprovalRule is an approval rule of a project.
type ApprovalRule struct {
	Name     string
	Required int
	Branches []string // protected branches that it applies to; none: all
}

// Protection holds the requirements of a branch. Roles are the minimum role; NoOne
// allows no user.
type Protection struct {
	Push, Merge int
	CodeOwners  bool
}

// setup configures Git repositories as GitLab does.
var setup = gittest.Setup{
	Hidden:  []string{"refs/merge-requests", "refs/keep-around"},
	Refusal: []string{"GitLab: You are not allowed to push code to protected branches on this project."},
}

// NewProject creates a project with one commit of the files on main. It is private.
func (s *Server) NewProject(path string, files map[string]string) *Project {
	var p *Project
	s.act(func() {
		p = s.newProject(path)
		p.bare.Add("main", "Begin", s.author(s.user("root")), files)
		p.look(s.user("root"))
	})
	return p
}

func (s *Server) newProject(path string) *Project {
	p := &Project{
		s: s, id: 5000 + s.next(), path: path, members: map[*user]int{s.user("root"): Owner}, guarded: map[string]Protection{},
		created: s.time(), heads: map[string]string{}, requests: map[int]*request{},
	}
	p.bare = s.git.Init(itoa(p.id), setup)
	p.Git = s.front.Branches(p.bare,
		func(who string) gittest.Author { return s.author(s.user(who)) }, func(who string) { p.look(s.user(who)) })
	s.projects[p.id], s.paths[lower(path)] = p, p.id
	return p
}

func (s *Server) author(u *user) gittest.Author {
	return gittest.Author{Name: u.name, Email: u.name + "@users.noreply.gitlab.com", At: s.time()}
}

// ID returns the number, which a rename keeps.
func (p *Project) ID() int { return p.id }

// Path returns the current GROUP/…/NAME.
func (p *Project) Path() string {
	var path string
	p.s.act(func() { path = p.path })
	return path
}

// CloneURL returns the URL for Git.
func (p *Project) CloneURL() string { return p.s.URL() + "/" + p.Path() + ".git" }

// Permit sets the role of an account; NoOne removes it.
func (p *Project) Permit(who string, role int) {
	p.s.act(func() { p.members[p.s.user(who)] = role })
}

// Move changes the path of the project; the old one redirects to it.
func (p *Project) Move(path string) {
	p.s.act(func() {
		p.path = path
		p.s.paths[lower(path)] = p.id
	})
}

// SetArchived sets whether the project is read-only.
func (p *Project) SetArchived(archived bool) { p.s.act(func() { p.archived = archived }) }

// SetPublic makes the project visible to every user.
func (p *Project) SetPublic(public bool) { p.s.act(func() { p.public = public }) }

// Remove deletes the project.
func (p *Project) Remove() { p.s.act(func() { p.removed = true }) }

// Set changes settings.
func (p *Project) Set(change func(*Settings)) { p.s.act(func() { change(&p.settings) }) }

// Late makes this many merges fail because GitLab is still checking mergeability.
func (p *Project) Late(merges int) { p.s.act(func() { p.late = merges }) }

// Lag makes this many responses about each merge request still return the head before
// a push: GitLab processes a push asynchronously.
func (p *Project) Lag(answers int) { p.s.act(func() { p.lag = answers }) }

// Protect protects branches by a name, in which * matches any text.
func (p *Project) Protect(name string, protection Protection) {
	p.s.act(func() { p.guarded[name] = protection })
}

func (p *Project) visible(u *user) bool { return p.public || p.level(u) > NoOne }

func (p *Project) level(u *user) int { return p.members[u] }

// protection returns the protection of a branch, false if it has none.
func (p *Project) protection(branch string) (Protection, bool) {
	for _, name := range slices.Sorted(maps.Keys(p.guarded)) {
		before, after, starred := strings.Cut(name, "*")
		if name == branch || starred && strings.HasPrefix(branch, before) && strings.HasSuffix(branch, after) && len(branch) >= len(before)+len(after) {
			return p.guarded[name], true
		}
	}
	return Protection{}, false
}

// allows reports whether an account with this role has what the protection requires.
func allows(role, has int) bool { return role > NoOne && has >= role }

func (p *Project) mayPush(u *user, branch string) bool {
	guard, guarded := p.protection(branch)
	return p.level(u) >= Developer && !p.archived && (!guarded || allows(guard.Push, p.level(u)))
}

func (p *Project) mayMerge(u *user, branch string) bool {
	guard, guarded := p.protection(branch)
	return p.level(u) >= Developer && !p.archived && (!guarded || allows(guard.Merge, p.level(u)))
}
