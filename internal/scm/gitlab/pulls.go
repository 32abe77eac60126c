package gitlab

import (
	"context"
	"strconv"
	"strings"
	"time"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// pulls are the merge requests of a project.
type pulls struct{ *repository }

// Open lists the open merge requests.
func (p pulls) Open(ctx context.Context) ([]scm.PullRequest, error) {
	all, err := p.list(ctx, gogitlab.ListProjectMergeRequestsOptions{State: gogitlab.Ptr("opened")}, rest.Everything,
		func(scm.PullRequest) bool { return true })
	return all, explain(p.noun("open merge requests"), err)
}

// list reads merge requests, newest first, and keeps those that match.
func (p pulls) list(ctx context.Context, options gogitlab.ListProjectMergeRequestsOptions, limit int, wanted func(scm.PullRequest) bool) ([]scm.PullRequest, error) {
	return pages(limit, func(page gogitlab.ListOptions) ([]scm.PullRequest, *gogitlab.Response, error) {
		options.ListOptions = page
		found, resp, err := p.forge.api.MergeRequests.ListProjectMergeRequests(p.id, &options, in(ctx))
		if err != nil {
			return nil, resp, err
		}
		var kept []scm.PullRequest
		for _, mr := range found {
			if pull := p.translate(mr); wanted(pull) {
				kept = append(kept, pull)
			}
		}
		return kept, resp, nil
	})
}

// translate converts a merge request, and caches whether it is a draft.
func (p pulls) translate(mr *gogitlab.MergeRequest) scm.PullRequest {
	own := mr.SourceProjectID != 0 && mr.SourceProjectID == mr.TargetProjectID
	pull := scm.PullRequest{
		Number: mr.IID, URL: p.info.URL + "/-/merge_requests/" + strconv.Itoa(mr.IID), Title: mr.Title,
		Author: p.forge.personOf(mr.Author), Draft: mr.Draft,
		Head: scm.Head{Branch: mr.SourceBranch, Commit: strings.ToLower(mr.SHA), Own: own},
		Base: mr.TargetBranch, Labels: mr.Labels, Opened: timeOf(mr.CreatedAt), State: scm.StateOpen,
	}
	if mr.Draft {
		pull.Title = bareTitle(mr.Title)
	}
	if own {
		pull.Body = textOf(mr.Description)
	}
	switch mr.State {
	case "merged":
		pull.State, pull.Merged = scm.StateMerged, mergedOf(mr)
		pull.ClosedAt = pull.Merged.At
	case "closed":
		pull.State, pull.ClosedAt, pull.Closer = scm.StateClosed, timeOf(mr.ClosedAt), p.forge.personOf(mr.ClosedBy)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drafts[mr.IID] = mr.Draft
	return pull
}

// mergedOf returns the commit that GitLab created, none for a fast-forward: see
// landed.
func mergedOf(mr *gogitlab.MergeRequest) scm.Merged {
	merged := scm.Merged{Commit: strings.ToLower(mr.MergeCommitSHA), At: timeOf(mr.MergedAt)}
	if merged.Commit == "" {
		merged.Commit = strings.ToLower(mr.SquashCommitSHA)
	}
	if merged.At.IsZero() {
		merged.At = timeOf(mr.UpdatedAt) // of old merge requests
	}
	return merged
}

// landed adds the commit of a fast-forward: the head itself, if it is on the base. It
// is not if GitLab rebased it for the merge, and GitLab does not report the new ID.
func (p pulls) landed(ctx context.Context, merged scm.Merged, head, base string) (scm.Merged, error) {
	if merged.Commit != "" || !rest.IsCommit(head) {
		return merged, nil
	}
	options := &gogitlab.MergeBaseOptions{Ref: &[]string{head, base}}
	found, _, err := p.forge.api.Repositories.MergeBase(p.id, options, in(ctx))
	if wasNotFound(err) {
		return merged, nil // the base does not exist
	}
	if err != nil {
		return scm.Merged{}, err
	}
	if strings.EqualFold(found.ID, head) {
		merged.Commit = strings.ToLower(head)
	}
	return merged, nil
}

func timeOf(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}
