package gitea

import (
	"context"
	"net/http"

	"promoter/internal/scm"
)

// behind finds one that was closed or merged before all that were looked through. Gitea
// tells one of a base and a head, in whatever state, and not which one of several: so it
// is asked for the default branch alone, and once while nothing is closed or opened. A
// server that does not know the question tells of none.
// https://github.com/go-gitea/gitea/pull/29242
func (p pulls) behind(ctx context.Context, known *archive, head string) ([]scm.PullRequest, error) {
	p.forge.mu.Lock()
	older, asked := known.older[head]
	p.forge.mu.Unlock()
	if asked || p.info.DefaultBranch == "" {
		return older, nil
	}
	pull, resp, err := p.forge.api(ctx).GetPullRequestByBaseHead(p.owner, p.name, p.info.DefaultBranch, head)
	switch err = answered(resp, err); {
	case statusOf(err) == http.StatusNotFound:
	case err != nil:
		return nil, err
	default:
		found := p.translate(pull)
		if found.Body = ""; found.State != scm.StateOpen && found.Head.Own && found.Head.Branch == head {
			older = []scm.PullRequest{found}
		}
	}
	p.forge.mu.Lock()
	defer p.forge.mu.Unlock()
	known.older[head] = older
	return older, nil
}
