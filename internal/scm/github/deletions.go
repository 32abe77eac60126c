package github

import (
	"context"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm/rest"
)

// HeadDeleted reads the events of the pull request.
// https://docs.github.com/en/rest/using-the-rest-api/issue-event-types#head_ref_deleted
func (r *repository) HeadDeleted(ctx context.Context, number int) (time.Time, error) {
	events, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]*gogithub.IssueEvent, *gogithub.Response, error) {
		return r.forge.api.Issues.ListIssueEvents(ctx, r.owner, r.name, number, &page)
	})
	if err != nil {
		return time.Time{}, explain(r.noun("events of pull request %d", number), err)
	}
	var deleted time.Time
	for _, event := range events { // oldest first
		switch kind := event.GetEvent(); {
		case kind == "head_ref_deleted" && deleted.IsZero():
			deleted = event.GetCreatedAt().UTC()
		case kind == "reopened":
			deleted = time.Time{}
		}
	}
	return deleted, nil
}
