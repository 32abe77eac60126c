package gitlab

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// pulls are the merge requests of a project.
type pulls struct{ repo *repository }

// Open lists the open merge requests. One that GitLab is merging is locked, and open
// again if that fails.
// https://docs.gitlab.com/api/merge_requests/#list-merge-requests
func (p pulls) Open(ctx context.Context) ([]scm.PullRequest, error) {
	var all []scm.PullRequest
	for _, state := range []string{"locked", "opened"} { // the next state comes second
		found, err := p.list(ctx, gogitlab.ListProjectMergeRequestsOptions{State: &state},
			rest.Everything, func(pull scm.PullRequest) bool {
				return !slices.ContainsFunc(all, func(one scm.PullRequest) bool { return one.Number == pull.Number })
			})
		if err != nil {
			return nil, explain(p.repo.noun("open merge requests"), err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// list reads merge requests, newest first, and keeps those that match.
func (p pulls) list(
	ctx context.Context, options gogitlab.ListProjectMergeRequestsOptions, limit int, wanted func(scm.PullRequest) bool,
) ([]scm.PullRequest, error) {
	return pages(limit, func(page gogitlab.ListOptions) ([]scm.PullRequest, *gogitlab.Response, error) {
		options.ListOptions = page
		found, resp, err := p.repo.forge.api.MergeRequests.ListProjectMergeRequests(p.repo.id, &options, in(ctx))
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
		Number: mr.IID, URL: p.repo.info.URL + "/-/merge_requests/" + strconv.Itoa(mr.IID), Title: mr.Title,
		Author: p.repo.forge.personOf(mr.Author), Draft: mr.Draft, Unresolved: !mr.BlockingDiscussionsResolved,
		Head: scm.Head{Branch: mr.SourceBranch, Commit: strings.ToLower(mr.SHA), Own: own},
		Base: mr.TargetBranch, Labels: mr.Labels, Opened: rest.TimeOf(mr.CreatedAt), State: scm.StateOpen,
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
		pull.State = scm.StateClosed
		pull.ClosedAt = rest.TimeOf(mr.ClosedAt)
		pull.Closer = p.repo.forge.personOf(mr.ClosedBy)
	}
	p.repo.mu.Lock()
	defer p.repo.mu.Unlock()
	p.repo.drafts[mr.IID] = mr.Draft
	if pull.State == scm.StateOpen {
		p.repo.requests[pull.Head.Commit] = mr.IID
	}
	return pull
}

// mergedOf returns the commit that GitLab created, none for a fast-forward: see
// landed.
func mergedOf(mr *gogitlab.MergeRequest) scm.Merged {
	return scm.Merged{
		Commit: strings.ToLower(cmp.Or(mr.MergeCommitSHA, mr.SquashCommitSHA)),
		At:     rest.TimeOf(cmp.Or(mr.MergedAt, mr.UpdatedAt)), // the latter of old merge requests
	}
}

// landed adds the commit of a fast-forward: the head itself, if it is on the base. It
// is not if GitLab rebased it for the merge, and GitLab does not report the new ID.
func (p pulls) landed(ctx context.Context, merged scm.Merged, head, base string) (scm.Merged, error) {
	if merged.Commit != "" || !rest.IsCommit(head) {
		return merged, nil
	}
	options := &gogitlab.MergeBaseOptions{Ref: &[]string{head, base}}
	found, _, err := p.repo.forge.api.Repositories.MergeBase(p.repo.id, options, in(ctx))
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

// Edit changes the fields that are set, in one request. It sends no request if none
// is set. A draft remains one when its title changes.
func (p pulls) Edit(ctx context.Context, number int, edit scm.Edit) error {
	if edit.Title == nil && edit.Body == nil && edit.Base == nil && edit.Closed == nil && len(edit.AddLabels) == 0 {
		return nil
	}
	noun := p.repo.noun("merge request %d", number)
	change := gogitlab.UpdateMergeRequestOptions{TargetBranch: edit.Base}
	if edit.Title != nil {
		draft, err := p.isDraft(ctx, number)
		if err != nil {
			return explain(noun, err)
		}
		change.Title = gogitlab.Ptr(titleOf(*edit.Title, draft))
	}
	if edit.Body != nil {
		change.Description = gogitlab.Ptr(bodyOf(*edit.Body))
	}
	if edit.Closed != nil {
		change.StateEvent = gogitlab.Ptr("reopen")
		if *edit.Closed {
			change.StateEvent = gogitlab.Ptr("close")
		}
	}
	if len(edit.AddLabels) > 0 {
		change.AddLabels = gogitlab.Ptr(gogitlab.LabelOptions(labelsOf(edit.AddLabels)))
	}
	mr, _, err := p.repo.forge.api.MergeRequests.UpdateMergeRequest(p.repo.id, number, &change, in(ctx))
	if err != nil {
		return p.repo.denied(ctx, explain(noun, err))
	}
	// GitLab returns success even if it did not change the state.
	if edit.Closed != nil && (mr.State == "closed") != *edit.Closed {
		return fault.New(fault.Conflict, "%s: it is %s and stays so, as when its branch is gone", noun, mr.State)
	}
	return nil
}

func (p pulls) isDraft(ctx context.Context, number int) (bool, error) {
	p.repo.mu.Lock()
	draft, known := p.repo.drafts[number]
	p.repo.mu.Unlock()
	if known {
		return draft, nil
	}
	mr, _, err := p.repo.forge.api.MergeRequests.GetMergeRequest(p.repo.id, number, nil, in(ctx))
	if err != nil {
		return false, err
	}
	return p.translate(mr).Draft, nil
}

// Closed lists closed and merged merge requests. For each one it fetches the message
// of its head, which GitLab keeps when the branch is deleted.
func (p pulls) Closed(ctx context.Context, head string, limit int) ([]scm.PullRequest, error) {
	noun := p.repo.noun("closed merge requests from %s", rest.OneLine(head))
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	closed, err := p.list(ctx, gogitlab.ListProjectMergeRequestsOptions{SourceBranch: &head}, limit, func(pull scm.PullRequest) bool {
		return pull.State != scm.StateOpen && pull.Head.Own && pull.Head.Branch == head
	})
	if err != nil {
		return nil, explain(noun, err)
	}
	for i := range closed {
		if err := p.complete(ctx, &closed[i]); err != nil {
			return nil, explain(noun, err)
		}
	}
	return closed, nil
}

// complete fetches what a list does not include.
func (p pulls) complete(ctx context.Context, pull *scm.PullRequest) (err error) {
	if pull.Head.Message, err = p.message(ctx, pull.Head.Commit); err != nil || pull.State != scm.StateMerged {
		return err
	}
	pull.Merged, err = p.landed(ctx, pull.Merged, pull.Head.Commit, pull.Base)
	return err
}

// message returns the message of a commit, empty if the commit does not exist.
func (p pulls) message(ctx context.Context, commit string) (string, error) {
	if !rest.IsCommit(commit) {
		return "", nil
	}
	found, _, err := p.repo.forge.api.Commits.GetCommit(p.repo.id, commit, nil, in(ctx))
	if wasNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return found.Message, nil
}
