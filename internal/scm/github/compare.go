package github

import (
	"context"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// longestRevision bounds the length of a revision: a commit ID, a tag or a branch.
const longestRevision = 255

// Compare lists the commits between two revisions. Two that share no history are a
// NotFound fault: GitHub cannot compare them.
func (f *Forge) Compare(ctx context.Context, repository, from, to string, limit int) (scm.Comparison, error) {
	noun := "comparison in " + rest.OneLine(repository)
	owner, name, err := splitName(repository)
	if err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	if err := rest.CheckLimit(limit); err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	if from == "" || to == "" || len(from) > longestRevision || len(to) > longestRevision {
		return scm.Comparison{}, fault.New(fault.Invalid, "%s: it needs two commits of at most %d bytes", noun, longestRevision)
	}
	var told scm.Comparison
	told.Commits, err = pages(limit, func(page gogithub.ListOptions) ([]scm.Commit, *gogithub.Response, error) {
		found, resp, err := f.api.Repositories.CompareCommits(ctx, owner, name, from, to, &page)
		if err != nil {
			return nil, resp, err
		}
		told.Total, told.URL = found.GetTotalCommits(), found.GetHTMLURL()
		return commitsOf(found.Commits), resp, nil
	})
	if err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	return told, nil
}

func commitsOf(found []*gogithub.RepositoryCommit) []scm.Commit {
	commits := make([]scm.Commit, len(found))
	for i, commit := range found {
		inner := commit.GetCommit()
		commits[i] = scm.Commit{
			ID: commit.GetSHA(), Message: inner.GetMessage(),
			Author: inner.GetAuthor().GetName(), Committed: inner.GetCommitter().GetDate().UTC(),
		}
	}
	return commits
}
