package github

import (
	"context"

	"promoter/internal/scm"
)

// Timeline reads the events of the pull request. An App needs no permission for them.
// https://docs.github.com/en/rest/using-the-rest-api/issue-event-types
func (r *repository) Timeline(ctx context.Context, number int) ([]scm.Turn, error) {
	events, err := r.events(ctx, number)
	if err != nil {
		return nil, explain(r.noun("events of pull request %d", number), err)
	}
	merged := false
	var turns []scm.Turn
	for _, event := range events { // oldest first
		turn := scm.Turn{By: r.forge.person(event.GetActor()), At: event.GetCreatedAt().UTC()}
		switch event.GetEvent() {
		case "closed":
			turn.State = scm.StateClosed
		case "reopened":
			turn.State = scm.StateOpen
		case "merged":
			merged = true
			continue
		default:
			continue
		}
		if turn.State == scm.StateClosed && merged { // of the merge
			continue
		}
		turns = append(turns, turn)
	}
	return turns, nil
}
