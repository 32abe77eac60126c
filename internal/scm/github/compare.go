package github

import (
	"context"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// longestRevision bounds what names a commit: an id, a tag or a branch.
const longestRevision = 255

// Compare lists the commits between two others. Two that share no history are a
// NotFound fault: GitHub has nothing to compare.
func (f *Forge) Compare(ctx context.Context, repository, from, to string, limit int) (scm.Comparison, error) {
	noun := "comparison in " + oneLine(repository)
	owner, name, err := splitName(repository)
	if err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	if from == "" || to == "" || len(from) > longestRevision || len(to) > longestRevision {
		return scm.Comparison{}, fault.New(fault.Invalid, "%s: it needs two commits", noun)
	}
	var told scm.Comparison
	commits, err := pages(limit, func(page gogithub.ListOptions) ([]*gogithub.RepositoryCommit, *gogithub.Response, error) {
		found, resp, err := f.api.Repositories.CompareCommits(ctx, owner, name, from, to, &page)
		if err != nil {
			return nil, resp, err
		}
		told.Total, told.URL = found.GetTotalCommits(), found.GetHTMLURL()
		return found.Commits, resp, nil
	})
	if err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	for _, commit := range commits {
		told.Commits = append(told.Commits, commitOf(commit))
	}
	return told, nil
}

func commitOf(commit *gogithub.RepositoryCommit) scm.Commit {
	inner := commit.GetCommit()
	return scm.Commit{
		ID: commit.GetSHA(), Message: inner.GetMessage(),
		Author: inner.GetAuthor().GetName(), Committed: inner.GetCommitter().GetDate().UTC(),
	}
}
