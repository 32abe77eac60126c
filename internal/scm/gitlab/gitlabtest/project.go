package gitlabtest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/forgetest"
)

// Project is one project on the server. Its methods act as people with browsers
// and clones do. A method that names who makes that account if need be.
type Project struct {
	forgetest.Branches
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

	heads    map[string]string // branches as they were at the last look
	lastIID  int
	requests map[int]*request
	asked    []*note // on issues, which have no more than those
	statuses []*status
	lines    []*pipeline // pipelines
	releases []*release
	late     int // merges that still find the computing going on
	lag      int // answers about a merge request that still have the head before a push
}

// Settings are those of a project that merge requests depend on. The zero value is
// GitLab's standard, with the merge method merge.
type Settings struct {
	Method          string // merge, rebase_merge or ff; empty: merge
	Squash          string // never, always, default_on or default_off; empty: default_off
	Pipelines       bool   // pipelines must succeed
	Trains          bool   // merge trains
	AutoRebase      bool   // a fast-forward rebases by itself
	ResetApprovals  bool   // a push takes approvals back
	CommittersApart bool   // who committed may not approve
	Rules           []ApprovalRule
	Signed          bool // a push rule rejects unsigned commits
}

// ApprovalRule is an approval rule of a project.
type ApprovalRule struct {
	Name     string
	Required int
	Branches []string // protected ones that it is about; none: all
}

// Protection is what a branch asks. Roles say who may: NoOne for nobody.
type Protection struct {
	Push, Merge int
	CodeOwners  bool
}

// setup is what GitLab does with its repositories.
var setup = gittest.Setup{
	Hidden:  []string{"refs/merge-requests", "refs/keep-around"},
	Refusal: []string{"GitLab: You are not allowed to push code to protected branches on this project."},
}

// NewProject makes a project with one commit of the files on main. It is private.
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
	p.Branches = s.front.Branches(p.bare,
		func(who string) gittest.Author { return s.author(s.user(who)) }, func(who string) { p.look(s.user(who)) })
	s.projects[p.id], s.paths[lower(path)] = p, p.id
	return p
}

func (s *Server) author(u *user) gittest.Author {
	return gittest.Author{Name: u.name, Email: u.name + "@users.noreply.gitlab.com", At: s.time()}
}

// ID is the number, which a rename keeps.
func (p *Project) ID() int { return p.id }

// Path is GROUP/…/NAME as it is now.
func (p *Project) Path() string {
	var path string
	p.s.act(func() { path = p.path })
	return path
}

// CloneURL is where Git finds it.
func (p *Project) CloneURL() string { return p.s.URL() + "/" + p.Path() + ".git" }

// Permit gives an account a role; NoOne takes it away.
func (p *Project) Permit(who string, role int) {
	p.s.act(func() { p.members[p.s.user(who)] = role })
}

// Move gives the project another path; the old one leads to it.
func (p *Project) Move(path string) {
	p.s.act(func() {
		p.path = path
		p.s.paths[lower(path)] = p.id
	})
}

// SetArchived makes it read-only, or not.
func (p *Project) SetArchived(archived bool) { p.s.act(func() { p.archived = archived }) }

// SetPublic lets everybody see it.
func (p *Project) SetPublic(public bool) { p.s.act(func() { p.public = public }) }

// Remove deletes it.
func (p *Project) Remove() { p.s.act(func() { p.removed = true }) }

// Set changes settings.
func (p *Project) Set(change func(*Settings)) { p.s.act(func() { change(&p.settings) }) }

// Late lets so many merges find that GitLab has not computed yet whether it can.
func (p *Project) Late(merges int) { p.s.act(func() { p.late = merges }) }

// Lag lets so many answers about each merge request still have its head from before
// a push: GitLab works on a push after it was answered.
func (p *Project) Lag(answers int) { p.s.act(func() { p.lag = answers }) }

// Protect protects branches by a name, in which * stands for any text.
func (p *Project) Protect(name string, protection Protection) {
	p.s.act(func() { p.guarded[name] = protection })
}

func (p *Project) visible(u *user) bool { return p.public || p.level(u) > NoOne }

func (p *Project) level(u *user) int { return p.members[u] }

// protection is the one of a branch, false when it has none.
func (p *Project) protection(branch string) (Protection, bool) {
	for _, name := range slices.Sorted(maps.Keys(p.guarded)) {
		before, after, starred := strings.Cut(name, "*")
		if name == branch || starred && strings.HasPrefix(branch, before) && strings.HasSuffix(branch, after) && len(branch) >= len(before)+len(after) {
			return p.guarded[name], true
		}
	}
	return Protection{}, false
}

// allows says whether an account with this role may do what the protection allows
// to a role.
func allows(role, has int) bool { return role > NoOne && has >= role }

func (p *Project) mayPush(u *user, branch string) bool {
	guard, guarded := p.protection(branch)
	return p.level(u) >= Developer && !p.archived && (!guarded || allows(guard.Push, p.level(u)))
}

func (p *Project) mayMerge(u *user, branch string) bool {
	guard, guarded := p.protection(branch)
	return p.level(u) >= Developer && !p.archived && (!guarded || allows(guard.Merge, p.level(u)))
}
