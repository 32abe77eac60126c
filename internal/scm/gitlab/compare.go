package gitlab

import (
	"context"
	"net/url"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// longestRevision bounds the length of a revision: a commit ID, a tag or a branch.
const longestRevision = 255

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
	if from == "" || to == "" || len(from) > longestRevision || len(to) > longestRevision {
		return scm.Comparison{}, fault.New(fault.Invalid, "%s: it needs two commits of at most %d bytes", noun, longestRevision)
	}
	options := &gogitlab.CompareOptions{From: &from, To: &to, Straight: gogitlab.Ptr(false)}
	found, _, err := f.api.Repositories.Compare(repository, options, in(ctx))
	if err != nil {
		return scm.Comparison{}, explain(noun, err)
	}
	return scm.Comparison{
		Commits: commitsOf(found.Commits[:min(limit, len(found.Commits))]), Total: len(found.Commits),
		URL: f.page + "/" + repository + "/-/compare/" + url.PathEscape(from) + "..." + url.PathEscape(to),
	}, nil
}

func commitsOf(found []*gogitlab.Commit) []scm.Commit {
	commits := make([]scm.Commit, len(found))
	for i, commit := range found {
		commits[i] = scm.Commit{ID: commit.ID, Message: commit.Message, Author: commit.AuthorName, Committed: timeOf(commit.CommittedDate)}
	}
	return commits
}
