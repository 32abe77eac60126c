package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// maxScanned bounds the number of pages of closed pull requests that are scanned for
// a head: Gitea has no filter for it. Later pages were closed long ago; see behind.
const maxScanned = 20

// archive caches the closed pull requests of one repository.
type archive struct {
	mark  mark
	pulls []scm.PullRequest                    // from branches of the repository itself, newest first
	ends  *rest.Memo[closing, end]             // what a list does not include; shared with later archives
	cut   bool                                 // there are older ones
	older rest.Memo[string, []scm.PullRequest] // by head, of the older ones
}

// mark changes whenever a pull request is closed, reopened or merged.
type mark struct {
	total   string
	number  int64
	updated time.Time
}

// closing is a pull request that was closed at a time: it may be reopened and closed again.
type closing struct {
	number int
	at     time.Time
}

// end is how one pull request ended.
type end struct {
	commit, message string
	closer          identity.User
	unread          error // why the closer is unknown
}

// Closed lists closed and merged pull requests. The full list is read once and cached
// while its latest change and its length are the same.
func (p pulls) Closed(ctx context.Context, head string, limit int) ([]scm.PullRequest, error) {
	noun := p.repo.noun("closed pull requests from %s", rest.OneLine(head))
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	known, err := p.archive(ctx)
	if err != nil {
		return nil, p.repo.explain(noun, err)
	}
	found := slices.DeleteFunc(slices.Clone(known.pulls), func(pull scm.PullRequest) bool { return pull.Head.Branch != head })
	if len(found) == 0 && known.cut {
		if found, err = p.behind(ctx, known, head); err != nil {
			return nil, explain(noun, err)
		}
	}
	var closed []scm.PullRequest
	for _, pull := range found[:min(limit, len(found))] {
		ended, err := known.ends.Get(closing{pull.Number, pull.ClosedAt}, func() (end, error) { return p.end(ctx, pull) })
		if err != nil && ended.unread == nil {
			return nil, explain(noun, err)
		}
		pull.Head.Commit = ended.commit
		pull.Head.Message = ended.message
		pull.Closer = ended.closer
		pull.Unread = ended.unread
		closed = append(closed, pull)
	}
	return closed, nil
}

// archive returns the cached pull requests, read again if any was closed or opened.
func (p pulls) archive(ctx context.Context) (*archive, error) {
	now, err := p.mark(ctx)
	if err != nil {
		return nil, err
	}
	p.repo.forge.mu.Lock()
	known := p.repo.forge.closed[p.repo.info.Key]
	p.repo.forge.mu.Unlock()
	if known != nil && known.mark == now {
		return known, nil
	}
	fresh := &archive{mark: now, ends: &rest.Memo[closing, end]{}}
	if known != nil {
		fresh.ends = known.ends
	}
	if fresh.pulls, fresh.cut, err = p.scan(ctx); err != nil {
		return nil, err
	}
	listed := map[closing]bool{}
	for _, pull := range fresh.pulls {
		listed[closing{pull.Number, pull.ClosedAt}] = true
	}
	fresh.ends.Keep(func(one closing) bool { return listed[one] })
	p.repo.forge.mu.Lock()
	defer p.repo.forge.mu.Unlock()
	p.repo.forge.closed[p.repo.info.Key] = fresh
	return fresh, nil
}

func (p pulls) mark(ctx context.Context) (mark, error) {
	list, resp, err := p.list(ctx, sdk.StateClosed, "recentupdate")(sdk.ListOptions{Page: 1, PageSize: 1})
	if err != nil {
		return mark{}, answered(resp, err)
	}
	now := mark{total: resp.Header.Get("X-Total-Count")}
	if len(list) > 0 {
		now.number, now.updated = list[0].Index, rest.TimeOf(list[0].Updated)
	}
	return now, nil
}

// scan lists the closed pull requests from our own branches, without their texts, and
// reports whether there are older ones.
func (p pulls) scan(ctx context.Context) (all []scm.PullRequest, cut bool, err error) {
	read, count := p.list(ctx, sdk.StateClosed, ""), 0
	all, err = pages(0, func(page sdk.ListOptions) ([]*sdk.PullRequest, *sdk.Response, error) {
		if count++; count > maxScanned {
			cut = true
			return nil, &sdk.Response{Response: &http.Response{Header: http.Header{}}}, nil
		}
		return read(page)
	}, func(pull *sdk.PullRequest) (scm.PullRequest, bool) {
		translated := p.translate(pull)
		translated.Body = ""
		return translated, translated.Head.Own
	})
	return all, cut, err
}

// end fetches what a list does not include, once each time a pull request is closed. A
// timeline that cannot be read is of no consequence for other pull requests, and is read again
// later.
func (p pulls) end(ctx context.Context, pull scm.PullRequest) (ended end, err error) {
	if ended.commit, err = p.head(ctx, pull); err != nil {
		return end{}, err
	}
	if ended.message, err = p.message(ctx, ended.commit); err != nil || pull.State != scm.StateClosed {
		return ended, err
	}
	ended.closer, err = p.closer(ctx, pull)
	if fault.KindOf(err) == fault.Invalid {
		ended.unread = explain(p.repo.noun("timeline of pull request %d", pull.Number), err)
	}
	return ended, err
}

// head returns the commit with which a pull request ended. A list has the current
// commit of the branch, which may have been reused.
func (p pulls) head(ctx context.Context, pull scm.PullRequest) (string, error) {
	ref, resp, err := p.repo.api(ctx).GetRepoRef(p.repo.owner, p.repo.name, fmt.Sprintf("pull/%d/head", pull.Number))
	switch err = answered(resp, err); {
	case statusOf(err) == http.StatusNotFound:
		return pull.Head.Commit, nil
	case err != nil:
		return "", err
	case ref.Object == nil:
		return pull.Head.Commit, nil
	}
	return strings.ToLower(ref.Object.SHA), nil
}

// message returns the message of a commit, empty if the commit does not exist.
func (p pulls) message(ctx context.Context, commit string) (string, error) {
	if !rest.IsCommit(commit) {
		return "", nil
	}
	found, resp, err := p.repo.forge.client(ctx, p.repo.forge.wishing(brief)).GetSingleCommit(p.repo.owner, p.repo.name, commit)
	switch err = answered(resp, err); {
	case statusOf(err) == http.StatusNotFound, err == nil && found.RepoCommit == nil:
		return "", nil
	case err != nil:
		return "", err
	}
	return strings.TrimRight(found.RepoCommit.Message, "\n"), nil
}

// closer returns the user who last closed a pull request, from its timeline.
func (p pulls) closer(ctx context.Context, pull scm.PullRequest) (identity.User, error) {
	events, err := p.repo.timeline(ctx, pull.Number, pull.ClosedAt.Add(-time.Second))
	if err != nil {
		return identity.User{}, err
	}
	var closer identity.User
	for _, event := range events {
		if event.Type == "close" {
			closer = p.repo.forge.person(event.Poster)
		}
	}
	return closer, nil
}

// behind finds a pull request that was closed or merged before all scanned ones.
// Gitea returns one pull request for a base and a head, in any state, without
// specifying which of several. Therefore it is queried for the default branch only,
// and once until a pull request is closed or opened. A server without this endpoint
// returns none.
// https://github.com/go-gitea/gitea/pull/29242
func (p pulls) behind(ctx context.Context, known *archive, head string) ([]scm.PullRequest, error) {
	if p.repo.info.DefaultBranch == "" {
		return nil, nil
	}
	return known.older.Get(head, func() ([]scm.PullRequest, error) {
		pull, resp, err := p.repo.api(ctx).GetPullRequestByBaseHead(p.repo.owner, p.repo.name, p.repo.info.DefaultBranch, head)
		switch err = answered(resp, err); {
		case statusOf(err) == http.StatusNotFound:
			return nil, nil
		case err != nil:
			return nil, err
		}
		found := p.translate(pull)
		found.Body = ""
		if found.State == scm.StateOpen || !found.Head.Own || found.Head.Branch != head {
			return nil, nil
		}
		return []scm.PullRequest{found}, nil
	})
}
