package gitlab

import (
	"context"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// Edit changes the fields that are set, in one request. It sends no request if none
// is set. A draft remains one when its title changes.
func (p pulls) Edit(ctx context.Context, number int, edit scm.Edit) error {
	if edit.Title == nil && edit.Body == nil && edit.Base == nil && edit.Closed == nil && len(edit.AddLabels) == 0 {
		return nil
	}
	noun := p.noun("merge request %d", number)
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
		change.StateEvent = gogitlab.Ptr(stateEvent(*edit.Closed))
	}
	if len(edit.AddLabels) > 0 {
		change.AddLabels = gogitlab.Ptr(gogitlab.LabelOptions(labelsOf(edit.AddLabels)))
	}
	mr, _, err := p.forge.api.MergeRequests.UpdateMergeRequest(p.id, number, &change, in(ctx))
	if err != nil {
		return p.denied(ctx, explain(noun, err))
	}
	// GitLab returns success even if it did not change the state.
	if edit.Closed != nil && (mr.State == "closed") != *edit.Closed {
		return fault.New(fault.Conflict, "%s: it is %s and stays so, as when its branch is gone", noun, mr.State)
	}
	return nil
}

func stateEvent(closed bool) string {
	if closed {
		return "close"
	}
	return "reopen"
}

func (p pulls) isDraft(ctx context.Context, number int) (bool, error) {
	p.mu.Lock()
	draft, known := p.drafts[number]
	p.mu.Unlock()
	if known {
		return draft, nil
	}
	mr, _, err := p.forge.api.MergeRequests.GetMergeRequest(p.id, number, nil, in(ctx))
	if err != nil {
		return false, err
	}
	return p.translate(mr).Draft, nil
}
