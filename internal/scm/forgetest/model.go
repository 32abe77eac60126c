package forgetest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/git/gittest"
	"promoter/internal/scm"
)

// Hub is the state that every forge has: accounts, and repositories with their pull
// requests. The lock of its Front guards it: methods of the model do not lock, those
// of Pulls and Settings do.
type Hub struct {
	Front *Front
	Users map[string]*User      // by login in lower case
	Repos map[int64]*Repository // by ID

	t      testing.TB
	http   *httptest.Server
	git    *gittest.Git
	kind   Kind
	lastID int64
	names  map[string]int64 // full names in lower case, also former ones
}

// Kind describes a kind of forge. All functions are called with the lock.
type Kind struct {
	Root      string        // path of the server
	Precision time.Duration // of times
	EmailHost string        // of the addresses of commit authors
	Git       gittest.Setup // of bare repositories
	HeadRef   string        // format of the ref of a pull request's head
	Creator   string        // account that creates repositories; empty: their owner
	// Repository and Pull are called for new ones.
	Repository func(*Repository)
	Pull       func(*Pull)
	// Draft reports whether a pull request is a draft.
	Draft func(*Pull) bool
	// Pushed, if set, is called after a change of branches.
	Pushed func(Push)
	// Follow applies changed branches of a repository to a pull request.
	Follow func(*Pull, Push)
	// Merge merges a pull request with a method, bypassing all protection. It returns
	// the resulting commit, and false on a conflict.
	Merge func(p *Pull, by *User, method string) (commit string, clean bool)
	// OnMerge lists the kinds of events of a merge: a forge may report it as a closing
	// too.
	OnMerge []string
}

// Push is a change of branches.
type Push struct {
	By          *User
	To          *Repository
	Before, Now map[string]string // commits by branch
}

// Move is one change of a branch.
type Move struct {
	ID                    int64
	Branch, Before, After string // commits, empty if it does not exist
	By                    *User
	At                    time.Time
	Together              int // branches that moved in the same push
}

// NewHub starts a server that stops at the end of the test.
func NewHub(t testing.TB, fake Fake, kind Kind, handler http.Handler) *Hub {
	h := &Hub{
		Front: New(t, fake), t: t, git: gittest.New(t), kind: kind,
		Users: map[string]*User{}, Repos: map[int64]*Repository{}, names: map[string]int64{},
	}
	h.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Front.wrapped(handler).ServeHTTP(w, r)
	}))
	t.Cleanup(h.http.Close)
	return h
}

// URL returns the root URL of the pages and of Git, without a trailing slash.
func (h *Hub) URL() string { return h.http.URL + h.kind.Root }

// Host returns the host with its port, as used in keys of repositories and users.
func (h *Hub) Host() string { return strings.TrimPrefix(h.http.URL, "http://") }

// Client returns an HTTP client for the server.
func (h *Hub) Client() *http.Client { return h.http.Client() }

// ServeGit serves OWNER/NAME.git below the root over smart HTTP; see Front.ServeGit.
func (h *Hub) ServeGit(w http.ResponseWriter, r *http.Request, admit func(gittest.Visit) gittest.Admission) {
	http.StripPrefix(h.kind.Root, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Front.ServeGit(h.git, w, r, admit)
	})).ServeHTTP(w, r)
}

// Now returns the current time in the forge's precision.
func (h *Hub) Now() time.Time { return h.Front.fake.Now().UTC().Truncate(h.kind.Precision) }

// NextID returns a new ID.
func (h *Hub) NextID() int64 {
	h.lastID++
	return h.lastID
}

// User is an account.
type User struct {
	ID                int64
	Login             string
	Bot, Organization bool
}

// User returns an account, and creates it if necessary.
func (h *Hub) User(login string) *User {
	u := h.Users[lower(login)]
	if u == nil {
		u = &User{ID: 1000 + h.NextID(), Login: login, Bot: strings.HasSuffix(login, "[bot]")}
		h.Users[lower(login)] = u
	}
	return u
}

// Author returns the commit author of an account.
func (h *Hub) Author(u *User) gittest.Author {
	return gittest.Author{Name: u.Login, Email: lower(u.Login) + "@" + h.kind.EmailHost, At: h.Now()}
}

// Logins returns the logins of accounts.
func Logins(users []*User) []string {
	var logins []string
	for _, u := range users {
		logins = append(logins, u.Login)
	}
	return logins
}

// Repository is a repository of the model.
type Repository struct {
	Hub  *Hub
	Bare *gittest.Repository
	Own  any // what only this kind of forge has

	ID          int64
	Owner, Name string
	Fork        *Repository // repository that it was forked from
	Private     bool
	Archived    bool
	Removed     bool
	AutoDelete  bool              // the head is deleted after a merge
	Created     time.Time         // of the repository
	Pushed      time.Time         // to any branch
	Permissions map[string]string // login in lower case -> see Rank
	Heads       map[string]string // last known state of the branches
	Moves       []Move            // of the branches, oldest first

	Pulls    map[int]*Pull
	Statuses []*Status
	Releases []*Release
	Deployed []*Deployment

	lastNumber int
	issues     []*Event // comments on issues, which have nothing else
}

// Status is a commit status.
type Status struct {
	ID                                       int64
	Commit, Context, State, URL, Description string
	By                                       *User
	At                                       time.Time
}

// Deployment is a deployment to an environment, with its status as the forge names it.
type Deployment struct {
	ID                         int64
	Commit, Environment, State string
	By                         *User
	At                         time.Time
}

// DeployedTo returns the deployments to an environment, the newest first.
func (r *Repository) DeployedTo(environment string) []*Deployment {
	var found []*Deployment
	for _, one := range slices.Backward(r.Deployed) {
		if environment == "" || one.Environment == environment {
			found = append(found, one)
		}
	}
	return found
}

// Release is a release, or a draft of one.
type Release struct {
	ID                int64
	Tag, Notes        string
	Draft, Prerelease bool
	Published         time.Time
	By                *User
}

// NewRepository creates OWNER/NAME with one commit of the files on main. It is
// private.
func (h *Hub) NewRepository(fullName string, files map[string]string) *Repository {
	r := h.NewEmpty(fullName)
	by := h.User(cmp.Or(h.kind.Creator, r.Owner))
	r.Bare.Add("main", "Begin", h.Author(by), files)
	r.Follow(by)
	return r
}

// NewEmpty creates OWNER/NAME without a commit.
func (h *Hub) NewEmpty(fullName string) *Repository {
	slash := strings.LastIndex(fullName, "/")
	r := &Repository{
		Hub: h, ID: 5000 + h.NextID(), Owner: fullName[:slash], Name: fullName[slash+1:], Private: true, Created: h.Now(), Pushed: h.Now(),
		Permissions: map[string]string{lower(cmp.Or(h.kind.Creator, fullName[:slash])): "owner"}, Heads: map[string]string{}, Pulls: map[int]*Pull{},
	}
	r.Bare = h.git.Init(fmt.Sprint(r.ID), h.kind.Git)
	h.Repos[r.ID], h.names[lower(fullName)] = r, r.ID
	h.User(cmp.Or(h.kind.Creator, r.Owner))
	h.kind.Repository(r)
	return r
}

// Find returns the repository with a current or former name; nil: none.
func (h *Hub) Find(name string) *Repository { return h.Repos[h.names[lower(name)]] }

// FullName returns OWNER/NAME.
func (r *Repository) FullName() string { return r.Owner + "/" + r.Name }

// Page returns the web URL.
func (r *Repository) Page() string { return r.Hub.URL() + "/" + r.FullName() }

// IsNamed reports whether this is the current name.
func (r *Repository) IsNamed(name string) bool { return lower(r.FullName()) == lower(name) }

// Rank orders permissions: none, guest, read, write, admin, owner. The numbers are
// GitLab's.
func Rank(permission string) int {
	return max(0, slices.Index([]string{"none", "guest", "read", "write", "admin", "owner"}, permission)) * 10
}

// Member returns the permission that an account was given.
func (r *Repository) Member(u *User) string { return cmp.Or(r.Permissions[lower(u.Login)], "none") }

// Permission returns the permission of an account.
func (r *Repository) Permission(u *User) string {
	if own, given := r.Permissions[lower(u.Login)]; given || r.Private {
		return cmp.Or(own, "none")
	}
	return "read"
}

// MayPush reports whether an account has write access.
func (r *Repository) MayPush(u *User) bool { return Rank(r.Permission(u)) >= Rank("write") }

// Administers reports whether an account is an administrator.
func (r *Repository) Administers(u *User) bool { return Rank(r.Permission(u)) >= Rank("admin") }

// Deny makes Git reject pushes to the branches whose protection denies them.
func Deny[P any](r *Repository, protection map[string]P, denies func(P) bool) {
	var denied []string
	for _, branch := range slices.Sorted(maps.Keys(protection)) {
		if denies(protection[branch]) {
			denied = append(denied, branch)
		}
	}
	r.Bare.Protect(denied...)
}

// Sorted lists the pull requests by number, oldest first.
func (r *Repository) Sorted() []*Pull {
	var pulls []*Pull
	for _, number := range slices.Sorted(maps.Keys(r.Pulls)) {
		pulls = append(pulls, r.Pulls[number])
	}
	return pulls
}

// PublishedAs returns the release of a tag that is not a draft.
func (r *Repository) PublishedAs(tag string) (*Release, bool) {
	shown := r.Published(false)
	i := slices.IndexFunc(shown, func(one *Release) bool { return one.Tag == tag })
	if i < 0 {
		return nil, false
	}
	return shown[i], true
}

// Published returns the releases, the latest first, with or without drafts.
func (r *Repository) Published(drafts bool) []*Release {
	shown := slices.DeleteFunc(slices.Clone(r.Releases), func(one *Release) bool { return one.Draft && !drafts })
	slices.SortStableFunc(shown, func(a, b *Release) int { return b.Published.Compare(a.Published) })
	return shown
}

// Latest returns the latest status of every context of a commit.
func (r *Repository) Latest(commit string) []*Status {
	latest := map[string]*Status{}
	for _, one := range r.Statuses {
		if one.Commit == commit {
			latest[one.Context] = one
		}
	}
	var found []*Status
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		found = append(found, latest[name])
	}
	return found
}

// AddStatus stores a status, now.
func (r *Repository) AddStatus(one Status) *Status {
	one.ID, one.At = r.Hub.NextID(), r.Hub.Now()
	r.Statuses = append(r.Statuses, &one)
	return &one
}

// Comments returns the comments of the whole repository, by ID.
func (r *Repository) Comments() []*Event {
	all := slices.Clone(r.issues)
	for _, p := range r.Pulls {
		all = append(all, p.Comments()...)
	}
	slices.SortFunc(all, func(a, b *Event) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Comment returns a comment by its ID; nil: none.
func (r *Repository) Comment(id int64) *Event {
	for _, one := range r.Comments() {
		if one.ID == id {
			return one
		}
	}
	return nil
}

// Follow compares the branches with their last known state, as a forge does after a
// push, and updates the pull requests of the whole server.
func (r *Repository) Follow(by *User) {
	push := Push{By: by, To: r, Before: r.Heads, Now: r.Bare.Heads()}
	r.Heads = push.Now
	if !maps.Equal(push.Before, push.Now) {
		r.Pushed = r.Hub.Now()
		r.Moves = append(r.Moves, push.moves()...)
	}
	if pushed := r.Hub.kind.Pushed; pushed != nil {
		pushed(push)
	}
	for _, id := range slices.Sorted(maps.Keys(r.Hub.Repos)) {
		for _, p := range r.Hub.Repos[id].Sorted() {
			if p.From == r || p.Repo == r {
				r.Hub.kind.Follow(p, push)
			}
		}
	}
}

// moves returns what moved in a push.
func (p Push) moves() []Move {
	var moved []Move
	all := maps.Clone(p.Before)
	maps.Copy(all, p.Now)
	for _, branch := range slices.Sorted(maps.Keys(all)) {
		if before, after := p.Before[branch], p.Now[branch]; before != after {
			moved = append(moved, Move{ID: p.To.Hub.NextID(), Branch: branch, Before: before, After: after, By: p.By, At: p.To.Hub.Now()})
		}
	}
	for i := range moved {
		moved[i].Together = len(moved)
	}
	return moved
}

// MovesOf returns the moves of a branch, newest first; of all if it is empty.
func (r *Repository) MovesOf(branch string) []Move {
	all := slices.DeleteFunc(slices.Clone(r.Moves), func(m Move) bool { return branch != "" && m.Branch != branch })
	slices.Reverse(all)
	return all
}

// Pull is a pull request of the model.
type Pull struct {
	Own any // what only this kind of forge has

	ID         int64
	Number     int
	Repo       *Repository // the base repository
	From       *Repository // of the head
	Head       string      // branch
	HeadCommit string      // kept when closed
	Base       string      // branch
	Title      string
	Body       string
	Author     *User
	Labels     []string
	Assignees  []*User
	Reviewers  []*User
	Teams      []string
	Created    time.Time
	Updated    time.Time

	Closed      *Moment // also when merged
	Merged      bool
	MergeCommit string

	Reviews []*Review
	Events  []*Event // the timeline, comments among them
}

// Moment is the user and the time of an action.
type Moment struct {
	By *User
	At time.Time
}

// Review is a review of a commit.
type Review struct {
	ID                  int64
	Author              *User
	State               scm.ReviewState
	Commit              string
	Official, Dismissed bool // official: by a user who may push
	At                  time.Time
}

// Kinds of events that every forge has.
const (
	Commented   = "commented"
	Closed      = "closed"
	Reopened    = "reopened"
	Merged      = "merged"
	HeadDeleted = "head deleted"
	HeadPushed  = "head pushed"
)

// Event is an entry of a timeline.
type Event struct {
	ID               int64
	Kind             string
	Pull             *Pull // nil: on an issue
	Repo             *Repository
	Number           int
	By               *User
	Body             string
	Created, Updated time.Time
	Edited           time.Time // last edit of the body; zero: none
	Reactions        []*Reaction
}

// Reaction is an account's reaction to a comment.
type Reaction struct {
	ID      int64
	By      *User
	Content string
	At      time.Time
}

// React adds a reaction, and reports whether it is new.
func (e *Event) React(by *User, content string) (*Reaction, bool) {
	for _, one := range e.Reactions {
		if one.By == by && one.Content == content {
			return one, false
		}
	}
	made := &Reaction{ID: e.Repo.Hub.NextID(), By: by, Content: content, At: e.Repo.Hub.Now()}
	e.Reactions = append(e.Reactions, made)
	return made, true
}

// Open creates a pull request, which the caller has validated. Without the branch of
// the head, it has no head.
func (r *Repository) Open(by *User, from *Repository, head, base, title string) *Pull {
	r.lastNumber++
	p := &Pull{
		Number: r.lastNumber, ID: 90000 + r.Hub.NextID(), Repo: r, From: from, Head: head, HeadCommit: from.Bare.Head(head),
		Base: base, Title: title, Author: by, Created: r.Hub.Now(), Updated: r.Hub.Now(),
	}
	r.Pulls[p.Number] = p
	if p.HeadCommit != "" {
		p.Publish()
	}
	r.Hub.kind.Pull(p)
	return p
}

// Ref returns the ref of the head in the base repository.
func (p *Pull) Ref() string { return fmt.Sprintf(p.Repo.Hub.kind.HeadRef, p.Number) }

// Publish writes the head to the base repository.
func (p *Pull) Publish() { p.Repo.Bare.Take(p.From.Bare, p.Head, p.Ref()) }

// IsOpen reports whether the pull request is open.
func (p *Pull) IsOpen() bool { return p.Closed == nil }

// Touch records a change.
func (p *Pull) Touch() { p.Updated = p.Repo.Hub.Now() }

// Happened adds an event.
func (p *Pull) Happened(kind string, by *User, body string) *Event {
	p.Touch()
	one := &Event{
		ID: p.Repo.Hub.NextID(), Kind: kind, Pull: p, Repo: p.Repo, Number: p.Number, By: by, Body: body, Created: p.Updated, Updated: p.Updated,
	}
	p.Events = append(p.Events, one)
	return one
}

// Reword edits the body of a comment.
func (e *Event) Reword(body string) {
	e.Body, e.Updated = body, e.Repo.Hub.Now()
	e.Edited = e.Updated
}

// Close closes the pull request.
func (p *Pull) Close(by *User) {
	p.Closed = &Moment{By: by, At: p.Happened(Closed, by, "").Created}
}

// Land records that the pull request was merged as a commit.
func (p *Pull) Land(by *User, commit string) {
	p.Merged, p.MergeCommit = true, commit
	for _, kind := range p.Repo.Hub.kind.OnMerge {
		p.Happened(kind, by, commit)
	}
	p.Closed = &Moment{By: by, At: p.Updated}
}

// Landed updates the base to a commit that merges the pull request, and applies what
// follows from it.
func (p *Pull) Landed(by *User, commit string) {
	p.Repo.Bare.Update(p.Base, commit, p.Repo.Bare.Head(p.Base))
	p.Land(by, commit)
	if p.Repo.AutoDelete && p.From == p.Repo {
		p.Repo.Bare.Delete(p.Head)
	}
	p.Repo.Follow(by)
}

// Reopen reopens the pull request.
func (p *Pull) Reopen(by *User) {
	p.Closed = nil
	p.Happened(Reopened, by, "")
}

// Label adds a label.
func (p *Pull) Label(name string) {
	if !slices.Contains(p.Labels, name) {
		p.Labels = append(p.Labels, name)
		p.Touch()
	}
}

// Comments returns the comments of the timeline.
func (p *Pull) Comments() []*Event {
	return slices.DeleteFunc(slices.Clone(p.Events), func(e *Event) bool { return e.Kind != Commented })
}

// Votes returns the decisive reviews: the latest official one of each user, without
// comments and dismissed ones.
func (p *Pull) Votes() map[string]*Review {
	last := map[string]*Review{}
	for _, one := range p.Reviews {
		if one.State != scm.Commented && one.Official && !one.Dismissed {
			last[one.Author.Login] = one
		}
	}
	return last
}

func lower(text string) string { return strings.ToLower(text) }
