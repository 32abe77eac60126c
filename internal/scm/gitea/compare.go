package gitea

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// longestRevision bounds the length of a revision: a commit ID, a tag or a branch.
const longestRevision = 255

// Compare lists the commits between two revisions. Gitea returns all of them, newest
// first, and a 5xx error for a commit that does not exist.
func (f *Forge) Compare(ctx context.Context, repository, from, to string, limit int) (scm.Comparison, error) {
	noun := "comparison in " + rest.OneLine(repository)
	owner, name, err := splitName(repository)
	if err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	if err := rest.CheckLimit(limit); err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	if !isRevision(from) || !isRevision(to) {
		return scm.Comparison{}, fault.New(fault.Invalid, "%s: it needs two commits of at most %d bytes", noun, longestRevision)
	}
	found, resp, err := f.client(ctx, f.wishing(brief)).CompareCommits(owner, name, from, to)
	if err = answered(resp, err); err != nil {
		return scm.Comparison{}, explain(noun, f.missing(ctx, owner, name, err, from, to))
	}
	commits := commitsOf(found.Commits)
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
	return name != "" && len(name) <= longestRevision && !strings.Contains(name, "..") && !strings.ContainsAny(name, ": \n?#")
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

// commitsOf reverses the list: oldest first.
func commitsOf(found []*sdk.Commit) []scm.Commit {
	var commits []scm.Commit
	for _, commit := range slices.Backward(found) {
		if commit == nil || commit.CommitMeta == nil || commit.RepoCommit == nil {
			continue
		}
		told := scm.Commit{ID: strings.ToLower(commit.SHA), Message: strings.TrimRight(commit.RepoCommit.Message, "\n")}
		if commit.RepoCommit.Author != nil {
			told.Author = commit.RepoCommit.Author.Name
		}
		if commit.RepoCommit.Committer != nil {
			at, err := time.Parse(time.RFC3339, commit.RepoCommit.Committer.Date)
			if err == nil {
				told.Committed = at.UTC()
			}
		}
		commits = append(commits, told)
	}
	return commits
}
