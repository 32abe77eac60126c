package github

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// repository is one repository during one reconciliation: its cached permissions and
// statuses are never older.
type repository struct {
	forge       *Forge
	owner, name string
	info        scm.Info
	methods     []string // merge methods, in the order in which they are tried
	administers bool     // the credential can read all settings of a branch

	writers     rest.Memo[string, permission] // by login in lower case
	mu          sync.Mutex
	statusCache rest.StatusCache[scm.Status]
	asked       map[string]asked // by branch, as far as it was read
}

// features is what GitHub supports.
var features = scm.Features{
	PullRequests: true, Closers: true, Approvals: true, Statuses: true, Comments: true,
	Teams: true, Compare: true, Releases: true, GuardedMerge: true, Rules: true, Deployments: true, PullSign: "#",
}

// Open fetches a repository, and the account of the credential if it is not cached.
func (f *Forge) Open(ctx context.Context, name string) (scm.Repository, error) {
	noun := "repository " + rest.OneLine(name)
	owner, short, err := rest.SplitName(name)
	if err != nil {
		return nil, explain(noun, err)
	}
	found, _, err := f.api.Repositories.Get(ctx, owner, short)
	if err != nil {
		return nil, explain(noun, err)
	}
	self, err := f.account(ctx)
	if err != nil {
		return nil, explain("the account of the token", err)
	}
	info, err := f.describe(found)
	if err != nil {
		return nil, explain(noun, err)
	}
	if info.Self = self; f.app != nil {
		info.Committer = f.app.committer(ctx, f)
	}
	return &repository{
		forge: f, owner: found.GetOwner().GetLogin(), name: found.GetName(), info: info, methods: methodsOf(found),
		asked: map[string]asked{}, administers: f.administers(found),
	}, nil
}

// describe builds the URLs itself: the clone URL receives the credential, and the
// server config grants permissions by the host of the web URL. No response may
// redirect them.
func (f *Forge) describe(found *gogithub.Repository) (scm.Info, error) {
	key, err := identity.ForgeKey(f.host, identity.NumericID(found.GetID()))
	if err != nil {
		return scm.Info{}, fault.New(fault.Temporary, "the answer describes no repository: %w", err)
	}
	if _, _, err := rest.SplitName(found.GetFullName()); err != nil {
		return scm.Info{}, fault.New(fault.Temporary, "the answer describes no repository: %w", err)
	}
	page := f.page + "/" + found.GetFullName()
	return scm.Info{
		Key: key, Name: found.GetFullName(), URL: page, CloneURL: page + ".git",
		DefaultBranch: found.GetDefaultBranch(), Archived: found.GetArchived(), Fork: found.GetFork(), MayPush: f.mayPush(found),
	}, nil
}

// mayPush reports whether the credential may push. The permissions that GitHub
// returns with the repository are those of users; an installation has its own.
func (f *Forge) mayPush(found *gogithub.Repository) bool {
	if f.permitted != nil {
		return f.permitted.Grants(Permission{Name: "contents", Access: "write"})
	}
	push, known := found.GetPermissions()["push"]
	return push || !known
}

// administers reports whether the credential can read the settings of the repository.
func (f *Forge) administers(found *gogithub.Repository) bool {
	if f.permitted != nil {
		return f.permitted.Grants(Permission{Name: "administration", Access: "read"})
	}
	return found.GetPermissions()["admin"]
}

// TeamsHidden reports whether the App may not read teams. GitHub refuses to request their
// reviews then, with the words of an unknown team.
// https://github.com/github/docs/issues/35057
func (r *repository) TeamsHidden() string {
	if r.forge.permitted == nil || r.forge.permitted.Grants(Permission{Name: "members", Access: "read"}) {
		return ""
	}
	return "the installation of the App lacks the permission Members (organization): read-only"
}

// account fetches the account of the credential.
func (f *Forge) account(ctx context.Context) (identity.User, error) {
	if f.app != nil {
		return f.installed, nil
	}
	return f.self.Get(f.now(), func() (identity.User, error) {
		user, _, err := f.api.Users.Get(ctx, "")
		return f.person(user), err
	})
}

// person converts an account, as it counts for what users decide.
func (f *Forge) person(user *gogithub.User) identity.User { return f.robots.Person(f.accountOf(user)) }

// reviewer converts the account of a review.
func (f *Forge) reviewer(user *gogithub.User) identity.User {
	return f.robots.Account(f.accountOf(user))
}

// accountOf converts an account. Deleted accounts have no login.
func (f *Forge) accountOf(user *gogithub.User) identity.User {
	login := user.GetLogin()
	if login == "" {
		return identity.User{}
	}
	bot := user.GetType() == "Bot" || strings.HasSuffix(login, "[bot]")
	return identity.User{Host: f.host, ID: identity.NumericID(user.GetID()), Login: login, Bot: bot}
}

// Info returns what GitHub reported when the repository was opened.
func (r *repository) Info() scm.Info { return r.info }

// Time implements scm.Clock.
func (r *repository) Time() time.Time { return r.forge.Time() }

// Features returns all features.
func (r *repository) Features() scm.Features { return features }

// PullRequests returns the pull requests of the repository.
func (r *repository) PullRequests() scm.PullRequests { return pulls{r} }

// Signals returns the checks and reviews of the repository.
func (r *repository) Signals() scm.Signals { return signals{r} }

// Conversation returns the comments on its pull requests.
func (r *repository) Conversation() scm.Conversation { return conversation{r} }

// noun formats a description of an object of the repository for errors.
func (r *repository) noun(format string, args ...any) string {
	return fmt.Sprintf(format, args...) + " of " + r.info.Name
}

// Compare lists the commits between two revisions. Two that share no history are a
// NotFound fault: GitHub cannot compare them.
func (f *Forge) Compare(ctx context.Context, repository, from, to string, limit int) (scm.Comparison, error) {
	noun := "comparison in " + rest.OneLine(repository)
	owner, name, err := rest.SplitName(repository)
	if err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	if err := rest.CheckLimit(limit); err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	if from == "" || to == "" || len(from) > rest.MaxRevision || len(to) > rest.MaxRevision {
		return scm.Comparison{}, fault.New(fault.Invalid, "%s: it needs two commits of at most %d bytes", noun, rest.MaxRevision)
	}
	var comparison scm.Comparison
	comparison.Commits, err = pages(limit, func(page gogithub.ListOptions) ([]scm.Commit, *gogithub.Response, error) {
		found, resp, err := f.api.Repositories.CompareCommits(ctx, owner, name, from, to, &page)
		if err != nil {
			return nil, resp, err
		}
		comparison.Total, comparison.URL = found.GetTotalCommits(), found.GetHTMLURL()
		return f.commitsOf(owner+"/"+name, found.Commits), resp, nil
	})
	if err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	return comparison, nil
}

// mergedPull matches how GitHub names a pull request in the subject of a merge, and of a
// squash merge.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/about-pull-request-merges
var mergedPull = []*regexp.Regexp{
	regexp.MustCompile(`^Merge pull request #([0-9]{1,9}) from `),
	regexp.MustCompile(`^[^\n]* \(#([0-9]{1,9})\)(?:\n|$)`),
}

func (f *Forge) commitsOf(repository string, found []*gogithub.RepositoryCommit) []scm.Commit {
	commits := make([]scm.Commit, len(found))
	for i, commit := range found {
		inner := commit.GetCommit()
		commits[i] = scm.Commit{
			ID: commit.GetSHA(), Message: inner.GetMessage(),
			Author: inner.GetAuthor().GetName(), Committed: inner.GetCommitter().GetDate().UTC(),
		}
		if number := rest.PullNumber(inner.GetMessage(), mergedPull...); number > 0 {
			commits[i].PullRequest = scm.PullLink{Number: number, URL: fmt.Sprintf("%s/%s/pull/%d", f.page, repository, number)}
		}
	}
	return commits
}

// Releases lists published releases. GitHub returns drafts to users who may push, so
// pages are read until there are enough others.
func (f *Forge) Releases(ctx context.Context, repository string, limit int) ([]scm.Release, error) {
	noun := "releases of " + rest.OneLine(repository)
	owner, name, err := rest.SplitName(repository)
	if err != nil {
		return nil, explain(noun, err)
	}
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	found, err := pages(limit, func(page gogithub.ListOptions) ([]scm.Release, *gogithub.Response, error) {
		list, resp, err := f.api.Repositories.ListReleases(ctx, owner, name, &page)
		return published(list), resp, err
	})
	return found, explain(noun, err)
}

// Release returns the release of a tag.
// https://docs.github.com/en/rest/releases/releases#get-a-release-by-tag-name
func (f *Forge) Release(ctx context.Context, repository, tag string) (scm.Release, error) {
	noun := "release " + rest.OneLine(tag) + " of " + rest.OneLine(repository)
	owner, name, err := rest.SplitName(repository)
	if err != nil {
		return scm.Release{}, explain(noun, err)
	}
	if !rest.ReleaseTag(tag) {
		return scm.Release{}, fault.New(fault.Invalid, "%s: that is not the tag of a release", noun)
	}
	found, _, err := f.api.Repositories.GetReleaseByTag(ctx, owner, name, tag)
	if err != nil {
		return scm.Release{}, explain(noun, err)
	}
	if found.GetDraft() {
		return scm.Release{}, fault.New(fault.NotFound, "%s: it is not published yet", noun)
	}
	return scm.Release{
		Tag: found.GetTagName(), Prerelease: found.GetPrerelease(), Published: found.GetPublishedAt().UTC(),
		Notes: rest.CutBytes(found.GetBody(), scm.MaxNotes), URL: found.GetHTMLURL(),
	}, nil
}

func published(list []*gogithub.RepositoryRelease) []scm.Release {
	var releases []scm.Release
	for _, release := range list {
		if !release.GetDraft() {
			releases = append(releases,
				scm.Release{Tag: release.GetTagName(), Prerelease: release.GetPrerelease(), Published: release.GetPublishedAt().UTC()})
		}
	}
	return releases
}
