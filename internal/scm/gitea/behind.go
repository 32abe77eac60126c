package gitea

import (
	"context"
	"net/http"

	"promoter/internal/scm"
)

// behind finds a pull request that was closed or merged before all scanned ones.
// Gitea returns one pull request for a base and a head, in any state, without
// specifying which of several. Therefore it is queried for the default branch only,
// and once until a pull request is closed or opened. A server without this endpoint
// returns none.
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
