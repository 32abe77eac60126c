package github

import (
	"context"

	"promoter/internal/scm"
)

// Timeline reads the events of the pull request. An App needs no permission for them.
// https://docs.github.com/en/rest/using-the-rest-api/issue-event-types
func (r *repository) Timeline(ctx context.Context, number int) ([]scm.TimelineEvent, error) {
	events, err := r.events(ctx, number)
	if err != nil {
		return nil, explain(r.noun("events of pull request %d", number), err)
	}
	merged := false
	var timeline []scm.TimelineEvent
	for _, event := range events { // oldest first
		entry := scm.TimelineEvent{By: r.forge.person(event.GetActor()), At: event.GetCreatedAt().UTC()}
		switch event.GetEvent() {
		case "closed":
			entry.State = scm.StateClosed
		case "reopened":
			entry.State = scm.StateOpen
		case "merged":
			merged = true
			continue
		default:
			continue
		}
		if entry.State == scm.StateClosed && merged { // of the merge
			continue
		}
		timeline = append(timeline, entry)
	}
	return timeline, nil
}
