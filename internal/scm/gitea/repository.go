package gitea

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// repository is one repository during one reconciliation: its cached data is never
// older.
type repository struct {
	forge       *Forge
	owner, name string
	info        scm.Info
	methods     []sdk.MergeStyle // merge methods, in the order in which they are tried
	linear      bool             // no method creates a merge commit
	features    scm.Features
	pulls       scm.PullRequests // without any if they are disabled
	comments    scm.Conversation
	empty       bool // without a commit, as Gitea reports
	admin       bool // our account administers the repository

	writers     rest.Memo[string, access] // by login in lower case
	roster      rest.Once[*roster]
	statusCache rest.StatusCache[scm.Status]
	labels      rest.Once[map[string]int64] // IDs of those that exist, by name
	labelIDs    rest.Memo[string, int64]    // also of those that were created; zero: it may not be
	mu          sync.Mutex
	drafts      map[int]string // by number, the draft prefix of the title
}

// features is what Gitea and Forgejo support.
var features = scm.Features{
	PullRequests: true, Closers: true, Approvals: true, Statuses: true, Comments: true,
	Teams: true, Compare: true, Releases: true, GuardedMerge: true, Rules: true, PullSign: "#",
}

// Open fetches a repository, and the account of the credential if it is not cached.
func (f *Forge) Open(ctx context.Context, name string) (scm.Repository, error) {
	noun := "repository " + rest.OneLine(name)
	owner, short, err := rest.SplitName(name)
	if err != nil {
		return nil, explain(noun, err)
	}
	found, resp, err := f.api(ctx).GetRepo(owner, short)
	if err != nil {
		return nil, explain(noun, answered(resp, err))
	}
	self, err := f.account(ctx)
	if err != nil {
		return nil, explain("the account of the token", err)
	}
	info, err := f.describe(found)
	if err != nil {
		return nil, explain(noun, err)
	}
	info.Self = self
	owner, short, _ = rest.SplitName(info.Name)
	r := &repository{
		forge: f, owner: owner, name: short, info: info, methods: mergeMethods(found), features: features,
		empty: found.Empty, admin: found.Permissions != nil && found.Permissions.Admin,
		linear: !found.AllowMerge && !found.AllowRebaseMerge,
		drafts: map[int]string{},
	}
	r.pulls, r.comments = pulls{r}, conversation{r}
	if !found.HasPullRequests {
		none := rest.NoPulls{Repository: info.Name, Reason: "pull requests are disabled: allow them in the settings of the repository"}
		r.pulls, r.comments = none, rest.NoConversation{}
		r.features = none.Without(features)
	}
	return r, nil
}

// describe builds the URLs itself: the clone URL receives the credential, and the
// server config grants permissions by the host of the web URL. No response may
// redirect them.
func (f *Forge) describe(found *sdk.Repository) (scm.Info, error) {
	key, err := identity.ForgeKey(f.host, identity.NumericID(found.ID))
	if err != nil {
		return scm.Info{}, fault.New(fault.Temporary, "the answer describes no repository: %w", err)
	}
	if _, _, err := rest.SplitName(found.FullName); err != nil {
		return scm.Info{}, fault.New(fault.Temporary, "the answer describes no repository: %w", err)
	}
	page := f.page + "/" + found.FullName
	info := scm.Info{
		Key: key, Name: found.FullName, URL: page, CloneURL: page + ".git", DefaultBranch: found.DefaultBranch,
		Archived: found.Archived, Fork: found.Fork, MayPush: (found.Permissions == nil || found.Permissions.Push) && !found.Mirror,
	}
	if found.Empty {
		info.DefaultBranch = "" // the branch does not exist yet
	}
	return info, nil
}

// account fetches the account of the credential. Without a credential it is empty.
func (f *Forge) account(ctx context.Context) (identity.User, error) {
	return f.self.Get(f.now(), func() (identity.User, error) {
		user, resp, err := f.api(ctx).GetMyUserInfo()
		return f.person(user), answered(resp, err)
	})
}

// Info returns what Gitea reported when the repository was opened.
func (r *repository) Info() scm.Info { return r.info }

// Time implements scm.Clock.
func (r *repository) Time() time.Time { return r.forge.Time() }

// Features returns all features, without those of pull requests if they are disabled.
func (r *repository) Features() scm.Features { return r.features }

// PullRequests returns the pull requests of the repository.
func (r *repository) PullRequests() scm.PullRequests { return r.pulls }

// Signals returns the checks and reviews of the repository.
func (r *repository) Signals() scm.Signals { return signals{r} }

// Conversation returns the comments on its pull requests.
func (r *repository) Conversation() scm.Conversation { return r.comments }

// noun formats a description of an object of the repository for errors.
func (r *repository) noun(format string, args ...any) string {
	return fmt.Sprintf(format, args...) + " of " + r.info.Name
}

// explain is explain for requests about pull requests. For a second after the first
// push, Gitea calls the repository empty, and finds none.
func (r *repository) explain(noun string, err error) error {
	if r.empty && statusOf(err) == http.StatusNotFound {
		return fault.Passing("%s: Gitea finds no commit in the repository yet", noun)
	}
	return explain(noun, err)
}

// Compare lists the commits between two revisions. Gitea returns all of them, newest
// first, and a 5xx error for a commit that does not exist.
func (f *Forge) Compare(ctx context.Context, repository, from, to string, limit int) (scm.Comparison, error) {
	noun := "comparison in " + rest.OneLine(repository)
	owner, name, err := rest.SplitName(repository)
	if err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	if err := rest.CheckLimit(limit); err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	if !isRevision(from) || !isRevision(to) {
		return scm.Comparison{}, fault.New(fault.Invalid, "%s: it needs two commits of at most %d bytes", noun, rest.MaxRevision)
	}
	found, resp, err := f.client(ctx, f.wishing(brief)).CompareCommits(owner, name, from, to)
	if err = answered(resp, err); err != nil {
		return scm.Comparison{}, explain(noun, f.missing(ctx, owner, name, err, from, to))
	}
	commits := f.commitsOf(owner+"/"+name, found.Commits)
	return scm.Comparison{
		Commits: commits[:min(limit, len(commits))], Total: max(found.TotalCommits, len(commits)),
		URL: f.page + "/" + owner + "/" + name + "/compare/" + inPath(from) + "..." + inPath(to),
	}, nil
}

// inPath escapes a revision for a URL path.
func inPath(revision string) string { return (&url.URL{Path: revision}).EscapedPath() }

// isRevision rejects what Gitea would parse as two revisions, or as a revision of
// another account.
func isRevision(name string) bool {
	return name != "" && len(name) <= rest.MaxRevision && !strings.Contains(name, "..") && !strings.ContainsAny(name, ": \n?#")
}

// missing determines which commit does not exist after a 5xx error.
func (f *Forge) missing(ctx context.Context, owner, name string, cause error, revisions ...string) error {
	if statusOf(cause) < http.StatusInternalServerError {
		return cause
	}
	for _, revision := range revisions {
		_, resp, err := f.client(ctx, f.wishing(brief)).GetSingleCommit(owner, name, revision)
		switch statusOf(answered(resp, err)) {
		case http.StatusNotFound, http.StatusUnprocessableEntity:
			return fault.New(fault.NotFound, "there is no commit %.12s", rest.OneLine(revision))
		}
	}
	return cause
}

// mergedPull matches how Gitea names a pull request in the subject of a merge, and of a
// squash merge. https://docs.gitea.com/usage/merge-message-templates
var mergedPull = []*regexp.Regexp{
	regexp.MustCompile(`^Merge pull request '[^\n]*' \(#([0-9]{1,9})\) from `),
	regexp.MustCompile(`^[^\n]* \(#([0-9]{1,9})\)(?:\n|$)`),
}

// commitsOf reverses the list: oldest first.
func (f *Forge) commitsOf(repository string, found []*sdk.Commit) []scm.Commit {
	var commits []scm.Commit
	for _, commit := range slices.Backward(found) {
		if commit == nil || commit.CommitMeta == nil || commit.RepoCommit == nil {
			continue
		}
		translated := scm.Commit{ID: strings.ToLower(commit.SHA), Message: strings.TrimRight(commit.RepoCommit.Message, "\n")}
		if commit.RepoCommit.Author != nil {
			translated.Author = commit.RepoCommit.Author.Name
		}
		if commit.RepoCommit.Committer != nil {
			at, err := time.Parse(time.RFC3339, commit.RepoCommit.Committer.Date)
			if err == nil {
				translated.Committed = at.UTC()
			}
		}
		if number := rest.PullNumber(translated.Message, mergedPull...); number > 0 {
			translated.PullRequest = scm.PullLink{Number: number, URL: fmt.Sprintf("%s/%s/pulls/%d", f.page, repository, number)}
		}
		commits = append(commits, translated)
	}
	return commits
}

// Releases lists published releases. Gitea returns drafts to users who may push,
// unless they are excluded.
func (f *Forge) Releases(ctx context.Context, repository string, limit int) ([]scm.Release, error) {
	noun := "releases of " + rest.OneLine(repository)
	owner, name, err := rest.SplitName(repository)
	if err != nil {
		return nil, explain(noun, err)
	}
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	no := false
	found, err := pages(limit, func(page sdk.ListOptions) ([]*sdk.Release, *sdk.Response, error) {
		return f.api(ctx).ListReleases(owner, name, sdk.ListReleasesOptions{ListOptions: page, IsDraft: &no})
	}, func(release *sdk.Release) (scm.Release, bool) {
		return scm.Release{Tag: release.TagName, Prerelease: release.IsPrerelease, Published: release.PublishedAt.UTC()}, !release.IsDraft
	})
	return found, explain(noun, err)
}

// Release returns the release of a tag.
// https://docs.gitea.com/api/#tag/repository/operation/repoGetReleaseByTag
func (f *Forge) Release(ctx context.Context, repository, tag string) (scm.Release, error) {
	noun := "release " + rest.OneLine(tag) + " of " + rest.OneLine(repository)
	owner, name, err := rest.SplitName(repository)
	if err != nil {
		return scm.Release{}, explain(noun, err)
	}
	if !rest.ReleaseTag(tag) {
		return scm.Release{}, fault.New(fault.Invalid, "%s: that is not the tag of a release", noun)
	}
	found, resp, err := f.api(ctx).GetReleaseByTag(owner, name, tag)
	if err = answered(resp, err); err != nil {
		return scm.Release{}, explain(noun, err)
	}
	if found.IsDraft {
		return scm.Release{}, fault.New(fault.NotFound, "%s: it is not published yet", noun)
	}
	return scm.Release{
		Tag: found.TagName, Prerelease: found.IsPrerelease, Published: found.PublishedAt.UTC(),
		Notes: rest.CutBytes(found.Note, scm.MaxNotes), URL: f.page + "/" + owner + "/" + name + "/releases/tag/" + inPath(tag),
	}, nil
}
