package gitea

import (
	"context"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/scm"
)

// Edit changes the fields that are set. It sends no request if none is set.
func (p pulls) Edit(ctx context.Context, number int, edit scm.Edit) error {
	noun := p.noun("pull request %d", number)
	var change sdk.EditPullRequestOption
	if edit.Title != nil {
		prefix, err := p.keptPrefix(ctx, number)
		if err != nil {
			return explain(noun, err)
		}
		change.Title = cutTitle(prefix + *edit.Title)
	}
	if edit.Body != nil {
		body := cutBody(*edit.Body)
		change.Body = &body
	}
	if edit.Base != nil {
		change.Base = *edit.Base
	}
	if edit.Closed != nil {
		state := sdk.StateOpen
		if *edit.Closed {
			state = sdk.StateClosed
		}
		change.State = &state
	}
	if change.Title != "" || change.Body != nil || change.Base != "" || change.State != nil {
		_, resp, err := p.forge.api(ctx).EditPullRequest(p.owner, p.name, int64(number), change)
		if err != nil {
			return explain(noun, answered(resp, err))
		}
	}
	if len(edit.AddLabels) == 0 {
		return nil
	}
	_, err := p.label(ctx, number, edit.AddLabels)
	return err
}
