package gitlab

import (
	"context"
	"time"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Timeline reads the state events of the merge request. A merge is one of another state.
// https://docs.gitlab.com/api/resource_state_events/#list-project-merge-request-state-events
func (r *repository) Timeline(ctx context.Context, number int) ([]scm.TimelineEvent, error) {
	noun := r.noun("state events of merge request %d", number)
	events, err := pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.StateEvent, *gogitlab.Response, error) {
		options := &gogitlab.ListStateEventsOptions{ListOptions: page}
		return r.forge.api.ResourceStateEvents.ListMergeStateEvents(r.id, number, options, in(ctx))
	})
	if err != nil {
		return nil, explain(noun, err)
	}
	var timeline []scm.TimelineEvent
	states := map[gogitlab.EventTypeValue]scm.PullRequestState{"closed": scm.StateClosed, "reopened": scm.StateOpen}
	for _, event := range events { // oldest first
		state, turned := states[event.State]
		if !turned {
			continue
		}
		entry := scm.TimelineEvent{State: state, By: r.forge.personOf(event.User), At: rest.TimeOf(event.CreatedAt)}
		if entry.By.Login != "" {
			if entry.By.Bot, err = r.forge.isBot(ctx, entry.By, event.User.ID); err != nil {
				return nil, explain(noun, err)
			}
		}
		timeline = append(timeline, entry)
	}
	return timeline, nil
}

// IsBot implements scm.Bots. The names of some service accounts do not show what they are.
func (r *repository) IsBot(ctx context.Context, person identity.User) (bool, error) {
	noun := "account of " + rest.OneLine(person.Login)
	id, err := r.userID(ctx, person)
	if err != nil || id == 0 {
		return person.Bot, explain(noun, err)
	}
	bot, err := r.forge.isBot(ctx, person, id)
	return bot, explain(noun, err)
}

// deletionWindow is for how long after a close its cause is looked for. GitLab closes merge requests in the
// background, after their branch was deleted.
const deletionWindow = 48 * time.Hour

// HeadDeleted reads the pushes of the project around the close: a deletion of a branch is one. Without one, the
// merge request was closed by a user.
// https://docs.gitlab.com/api/events/#list-all-visible-events-for-a-project
func (r *repository) HeadDeleted(ctx context.Context, number int) (time.Time, error) {
	noun := r.noun("deletion of the branch of merge request %d", number)
	mr, _, err := r.forge.api.MergeRequests.GetMergeRequest(r.id, number, nil, in(ctx))
	if err != nil {
		return time.Time{}, explain(noun, err)
	}
	closed := rest.TimeOf(mr.ClosedAt)
	if closed.IsZero() {
		return time.Time{}, nil
	}
	timeline, err := r.Timeline(ctx, number)
	if err != nil {
		return time.Time{}, err
	}
	opened := rest.TimeOf(mr.CreatedAt) // the branch may have had another merge request before
	for _, entry := range timeline {
		if entry.State == scm.StateOpen {
			opened = entry.At
		}
	}
	pushes, err := pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.ProjectEvent, *gogitlab.Response, error) {
		page.PerPage = rest.PerPage
		options := &gogitlab.ListProjectVisibleEventsOptions{
			ListOptions: page, Action: gogitlab.Ptr(gogitlab.PushedEventType), Sort: gogitlab.Ptr("asc"),
			After:  gogitlab.Ptr(gogitlab.ISOTime(dayBefore(closed))),
			Before: gogitlab.Ptr(gogitlab.ISOTime(closed.Add(deletionWindow))),
		}
		return r.forge.api.Events.ListProjectVisibleEvents(r.id, options, in(ctx))
	})
	if err != nil {
		return time.Time{}, explain(noun, err)
	}
	for _, push := range pushes { // oldest first
		at, err := time.Parse(time.RFC3339, push.CreatedAt)
		removed := push.PushData.Action == "removed" && push.PushData.RefType == "branch" && push.PushData.Ref == mr.SourceBranch
		if err == nil && removed && !at.Before(opened) {
			return at.UTC(), nil
		}
	}
	return time.Time{}, nil
}
