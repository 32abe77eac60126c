package gitlabtest

import (
	"maps"
	"slices"
	"strings"

	"promoter/internal/scm/forgetest"
)

// Project is one project on the server.
type Project struct {
	Git      forgetest.Branches
	Pulls    forgetest.Pulls // merge requests
	Settings forgetest.Settings

	s        *Server
	model    *forgetest.Repository
	settings Settings
	guarded  map[string]Protection // by the name or pattern of branches
	statuses []*status
	lines    []*pipeline // pipelines
	hooks    []hook      // webhooks
	late     int         // merges that are still deferred
	lag      int         // responses about a merge request that still have the previous head
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
	// CI is the name of a job that the pipeline of every branch runs, and passes. Empty:
	// the project has no pipelines.
	CI string
	// MergedResults runs the pipelines of merge requests on the result of the merge.
	MergedResults bool
	MergeError    string // of every merge; empty: none
}

// ApprovalRule is an approval rule of a project.
type ApprovalRule struct {
	Name     string
	Required int
	Branches []string // protected branches that it applies to; none: all
	Type     string   // empty: regular; report_approver: of a security policy, which no merge request violates
}

// Protection holds the requirements of a branch. Roles are the minimum role; NoOne
// allows no user.
type Protection struct {
	Push, Merge string
	CodeOwners  bool
}

// NewProject creates a project with one commit of the files on main. It is private.
func (s *Server) NewProject(path string, files map[string]string) *Project {
	var p *Project
	s.act(func() { p = own(s.hub.NewRepository(path, files)) })
	return p
}

func newProject(s *Server, model *forgetest.Repository) *Project {
	return &Project{
		Git: model.Branches(), Pulls: model.PullRequests(), Settings: model.Settings(), s: s, model: model, guarded: map[string]Protection{},
	}
}

// own returns what only GitLab has of a repository.
func own(r *forgetest.Repository) *Project { return r.Own.(*Project) }

// ID returns the number, which a rename keeps.
func (p *Project) ID() int { return int(p.model.ID) }

// Set changes settings.
func (p *Project) Set(change func(*Settings)) { p.s.act(func() { change(&p.settings) }) }

// hook is a webhook with its state.
type hook struct{ url, status string }

// AddHook adds a webhook whose state is executable, temporarily_disabled or disabled.
// https://docs.gitlab.com/user/project/integrations/webhooks/#auto-disabled-webhooks
func (p *Project) AddHook(url, status string) {
	p.s.act(func() { p.hooks = append(p.hooks, hook{url, status}) })
}

// Lock makes a merge request one that GitLab is merging.
func (p *Project) Lock(number int, locked bool) {
	p.Pulls.With("ci", number, func(m *request, _ *user) { of(m).locked = locked })
}

// Late makes this many merges fail because GitLab is still checking mergeability.
func (p *Project) Late(merges int) { p.s.act(func() { p.late = merges }) }

// Lag makes this many responses about each merge request still return the head before
// a push: GitLab processes a push asynchronously.
func (p *Project) Lag(answers int) { p.s.act(func() { p.lag = answers }) }

// Protect protects branches by a name, in which * matches any text.
func (p *Project) Protect(name string, protection Protection) {
	p.s.act(func() { p.guarded[name] = protection })
}

func (p *Project) visible(u *user) bool { return p.model.Permission(u) != NoOne }

// level returns the number of a member's role, zero for other users.
func (p *Project) level(u *user) int { return forgetest.Rank(p.model.Member(u)) }

// is reports whether an account has at least a role.
func (p *Project) is(u *user, role string) bool { return p.level(u) >= forgetest.Rank(role) }

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

// allows reports whether an account has the role that a protection requires.
func (p *Project) allows(role string, u *user) bool { return role != NoOne && p.is(u, role) }

func (p *Project) mayPush(u *user, branch string) bool {
	guard, guarded := p.protection(branch)
	return p.is(u, Developer) && !p.model.Archived && (!guarded || p.allows(guard.Push, u))
}

func (p *Project) mayMerge(u *user, branch string) bool {
	guard, guarded := p.protection(branch)
	return p.is(u, Developer) && !p.model.Archived && (!guarded || p.allows(guard.Merge, u))
}
