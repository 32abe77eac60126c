package gitlab

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// repository is one project during one reconciliation: its cached users and statuses
// are never older.
type repository struct {
	forge *Forge
	id    int
	info  scm.Info

	squash   bool // squashing is on by default
	features scm.Features
	pulls    scm.PullRequests // without any if merge requests are disabled
	comments scm.Conversation

	users       rest.Memo[string, int] // account IDs by login in lower case, zero: unknown
	weight      rest.Memo[int, weight] // of reviewers, by account ID
	mu          sync.Mutex
	drafts      map[int]bool   // known merge requests, and whether they are drafts
	requests    map[string]int // open merge requests by head commit
	pipelines   map[string]statusPipeline
	statusCache rest.StatusCache[ownStatus]
}

// features is what GitLab supports.
var features = scm.Features{
	PullRequests: true, Closers: true, Approvals: true, Statuses: true, Comments: true,
	Teams: true, Compare: true, Releases: true, GuardedMerge: true, Rules: true, Deployments: true, PullSign: "!",
}

// Open fetches a project by its path, and the account of the credential if it is not
// cached.
func (f *Forge) Open(ctx context.Context, name string) (scm.Repository, error) {
	noun := "project " + rest.OneLine(name)
	if !isPath(name) {
		return nil, fault.New(fault.Invalid, "%s: the name of a project is GROUP/NAME, with subgroups GROUP/SUBGROUP/NAME", noun)
	}
	found, _, err := f.api.Projects.GetProject(name, nil, in(ctx))
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
	r := &repository{
		forge: f, id: found.ID, info: info, squash: found.SquashOption == gogitlab.SquashOptionDefaultOn, features: features,
		drafts: map[int]bool{}, requests: map[string]int{}, pipelines: map[string]statusPipeline{},
	}
	r.pulls, r.comments = pulls{r}, conversation{r}
	if found.MergeRequestsAccessLevel == gogitlab.DisabledAccessControl {
		const reason = "pull requests are disabled: allow merge requests in the settings of the project"
		none := rest.NoPulls{Repository: info.Name, Reason: reason}
		r.pulls, r.comments = none, rest.NoConversation{}
		r.features = none.Without(features)
	}
	level, err := r.ownLevel(ctx, found, self.id)
	if err != nil {
		return nil, explain(noun, err)
	}
	r.info.Self, r.info.MayPush = self.person, level >= developer
	return r, nil
}

// describe builds the URLs itself: the clone URL receives the credential, and the
// server config grants permissions by the host of the web URL. No response may
// redirect them.
func (f *Forge) describe(found *gogitlab.Project) (scm.Info, error) {
	key, err := identity.ForgeKey(f.host, identity.NumericID(found.ID))
	if err != nil {
		return scm.Info{}, fault.New(fault.Temporary, "the answer describes no project: %w", err)
	}
	if !isPath(found.PathWithNamespace) {
		return scm.Info{}, fault.New(fault.Temporary, "the answer describes no project: it names no path")
	}
	page := f.page + "/" + found.PathWithNamespace
	info := scm.Info{
		Key: key, Name: found.PathWithNamespace, URL: page, CloneURL: page + ".git",
		DefaultBranch: found.DefaultBranch, Archived: found.Archived, Fork: found.ForkedFromProject != nil,
	}
	if found.EmptyRepo {
		info.DefaultBranch = "" // the branch does not exist yet
	}
	return info, nil
}

// Info returns what GitLab reported when the project was opened.
func (r *repository) Info() scm.Info { return r.info }

// Time implements scm.Clock.
func (r *repository) Time() time.Time { return r.forge.Time() }

// Features returns all features, without those of merge requests if they are
// disabled.
func (r *repository) Features() scm.Features { return r.features }

// PullRequests returns the merge requests of the project.
func (r *repository) PullRequests() scm.PullRequests { return r.pulls }

// Signals returns the checks and reviews of the project.
func (r *repository) Signals() scm.Signals { return signals{r} }

// Conversation returns the notes on its merge requests.
func (r *repository) Conversation() scm.Conversation { return r.comments }

// noun formats a description of an object of the project for errors.
func (r *repository) noun(format string, args ...any) string {
	return fmt.Sprintf(format, args...) + " of " + r.info.Name
}

// denied adds the reason to a refusal, if the project shows it: GitLab's message is
// only "Forbidden".
func (r *repository) denied(ctx context.Context, err error) error {
	if rest.StatusOf(err) != http.StatusForbidden || strings.Contains(err.Error(), "lacks the scope") {
		return err
	}
	found, _, failed := r.forge.api.Projects.GetProject(r.id, nil, in(ctx))
	if failed != nil {
		return err
	}
	if found.Archived {
		return fault.New(fault.Unauthorized, "%w: the project is archived", err)
	}
	self, failed := r.forge.account(ctx)
	if failed != nil {
		return err
	}
	if level, failed := r.ownLevel(ctx, found, self.id); failed == nil && level < developer {
		return fault.New(fault.Unauthorized, "%w: %s needs the role Developer there", err, self.person.Login)
	}
	return err
}

// segment matches the names of projects, groups and accounts.
var segment = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

const maxSegment = 255 // bytes

func isName(name string) bool {
	return len(name) <= maxSegment && segment.MatchString(name) && strings.Trim(name, ".") != ""
}

// maxDepth is the maximum number of path segments: nested groups and a project.
const maxDepth = 21

// isPath reports whether a path names a project or subgroup.
func isPath(path string) bool {
	names := strings.Split(path, "/")
	if len(names) < 2 || len(names) > maxDepth {
		return false
	}
	for _, name := range names {
		if !isName(name) {
			return false
		}
	}
	return true
}

// Compare lists the commits between two revisions, all of which GitLab returns in one
// response. Two that share no history are a NotFound fault.
func (f *Forge) Compare(ctx context.Context, repository, from, to string, limit int) (scm.Comparison, error) {
	noun := "comparison in " + rest.OneLine(repository)
	if !isPath(repository) {
		return scm.Comparison{}, fault.New(fault.Invalid, "%s: the name of a project is GROUP/NAME", noun)
	}
	if err := rest.CheckLimit(limit); err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	if from == "" || to == "" || len(from) > rest.MaxRevision || len(to) > rest.MaxRevision {
		return scm.Comparison{}, fault.New(fault.Invalid, "%s: it needs two commits of at most %d bytes", noun, rest.MaxRevision)
	}
	options := &gogitlab.CompareOptions{From: &from, To: &to, Straight: gogitlab.Ptr(false)}
	found, _, err := f.api.Repositories.Compare(repository, options, in(ctx))
	if err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	return scm.Comparison{
		Commits: f.commitsOf(repository, found.Commits[:min(limit, len(found.Commits))]), Total: len(found.Commits),
		URL: f.page + "/" + repository + "/-/compare/" + url.PathEscape(from) + "..." + url.PathEscape(to),
	}, nil
}

// mergedRequest matches how GitLab names a merge request of the same project in the message
// of a merge; references to other projects have another path.
// https://docs.gitlab.com/user/project/merge_requests/commit_templates/
var mergedRequest = regexp.MustCompile(`(?m)^See merge request ([A-Za-z0-9_./-]+)!([0-9]{1,9})$`)

func (f *Forge) commitsOf(repository string, found []*gogitlab.Commit) []scm.Commit {
	commits := make([]scm.Commit, len(found))
	for i, commit := range found {
		at := rest.TimeOf(commit.CommittedDate)
		commits[i] = scm.Commit{ID: commit.ID, Message: commit.Message, Author: commit.AuthorName, Committed: at}
		if named := mergedRequest.FindStringSubmatch(rest.CutBytes(commit.Message, scm.MaxComment)); named != nil &&
			strings.EqualFold(named[1], repository) {
			number, _ := strconv.Atoi(named[2]) // at most nine digits
			commits[i].PullRequest = scm.PullLink{Number: number, URL: fmt.Sprintf("%s/%s/-/merge_requests/%d", f.page, repository, number)}
		}
	}
	return commits
}

// Releases lists published releases. A release with a future date is not published.
// GitLab does not mark prereleases: they are recognized by their tag.
func (f *Forge) Releases(ctx context.Context, repository string, limit int) ([]scm.Release, error) {
	noun := "releases of " + rest.OneLine(repository)
	if !isPath(repository) {
		return nil, fault.New(fault.Invalid, "%s: the name of a project is GROUP/NAME", noun)
	}
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	found, err := pages(limit, func(page gogitlab.ListOptions) ([]scm.Release, *gogitlab.Response, error) {
		options := &gogitlab.ListReleasesOptions{ListOptions: page, OrderBy: gogitlab.Ptr("released_at"), Sort: gogitlab.Ptr("desc")}
		list, resp, err := f.api.Releases.ListReleases(repository, options, in(ctx))
		return published(list), resp, err
	})
	return found, explain(noun, err)
}

// Release returns the release of a tag. A release with a future date is not published.
// https://docs.gitlab.com/api/releases/#get-a-release-by-a-tag-name
func (f *Forge) Release(ctx context.Context, repository, tag string) (scm.Release, error) {
	noun := "release " + rest.OneLine(tag) + " of " + rest.OneLine(repository)
	if !isPath(repository) {
		return scm.Release{}, fault.New(fault.Invalid, "%s: the name of a project is GROUP/NAME", noun)
	}
	if !rest.ReleaseTag(tag) {
		return scm.Release{}, fault.New(fault.Invalid, "%s: that is not the tag of a release", noun)
	}
	found, _, err := f.api.Releases.GetRelease(repository, tag, in(ctx))
	if err != nil {
		return scm.Release{}, explain(noun, err)
	}
	shown := published([]*gogitlab.Release{found})
	if len(shown) == 0 {
		return scm.Release{}, fault.New(fault.NotFound, "%s: it is not published yet", noun)
	}
	release := shown[0]
	release.Notes, release.URL = rest.CutBytes(found.Description, scm.MaxNotes), f.page+"/"+repository+"/-/releases/"+url.PathEscape(tag)
	return release, nil
}

// prerelease matches a semantic version with a prerelease part.
// https://semver.org/#spec-item-9
var prerelease = regexp.MustCompile(`^v?\d+(\.\d+){0,2}-[0-9A-Za-z.-]+(\+[0-9A-Za-z.-]+)?$`)

func published(list []*gogitlab.Release) []scm.Release {
	var releases []scm.Release
	for _, release := range list {
		if release.UpcomingRelease {
			continue
		}
		releases = append(releases, scm.Release{
			Tag: release.TagName, Prerelease: prerelease.MatchString(release.TagName), Published: rest.TimeOf(release.ReleasedAt),
		})
	}
	return releases
}
