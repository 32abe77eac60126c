package gitea

import (
	"context"
	"time"

	sdk "code.gitea.io/sdk/gitea"
)

// HeadDeleted reads the timeline. Gitea records there that it closed a pull request
// because its branch was deleted, and that a user deleted the branch with the button
// on the page. It does not record other deletions of the branch of a closed pull
// request.
func (r *repository) HeadDeleted(ctx context.Context, number int) (time.Time, error) {
	events, err := r.timeline(ctx, number, time.Time{})
	if err != nil {
		return time.Time{}, explain(r.noun("timeline of pull request %d", number), err)
	}
	var deleted time.Time
	for _, event := range events { // oldest first
		switch {
		case event == nil:
		case event.Type == "delete_branch" && deleted.IsZero():
			deleted = event.Created.UTC()
		case event.Type == "reopen":
			deleted = time.Time{}
		}
	}
	return deleted, nil
}

// timeline lists the events of a pull request since a time, oldest first. The zero
// time lists all.
func (r *repository) timeline(ctx context.Context, number int, since time.Time) ([]*sdk.TimelineComment, error) {
	return pages(0, func(page sdk.ListOptions) ([]*sdk.TimelineComment, *sdk.Response, error) {
		options := sdk.ListIssueCommentOptions{ListOptions: page, Since: since}
		return r.forge.api(ctx).ListIssueTimeline(r.owner, r.name, int64(number), options)
	}, all[*sdk.TimelineComment])
}
