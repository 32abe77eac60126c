package gitlab

import (
	"context"
	"fmt"
	"net/http"
	"time"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// pushEvent is what is needed of the event of a push. The library's type has the time as text.
type pushEvent struct {
	CreatedAt time.Time `json:"created_at"`
	PushData  struct {
		RefType    string `json:"ref_type"`
		Ref        string `json:"ref"` // empty: many were pushed at once, see moves
		CommitFrom string `json:"commit_from"`
		CommitTo   string `json:"commit_to"`
	} `json:"push_data"`
}

// Pushed lists the pushes of the project: the API does not filter them by branch. Merges and deletions of branches are among
// them.
// https://docs.gitlab.com/api/events/#list-all-visible-events-for-a-project
func (r *repository) Pushed(ctx context.Context, branch string, since time.Time) ([]scm.Push, error) {
	pushes, err := rest.Pushes(since, func(page rest.Page) ([]scm.Push, int, error) {
		options := &gogitlab.ListProjectVisibleEventsOptions{
			ListOptions: gogitlab.ListOptions{Page: page.Number, PerPage: rest.PerPage},
			Action:      gogitlab.Ptr(gogitlab.PushedEventType), Sort: gogitlab.Ptr("desc"),
		}
		path := fmt.Sprintf("projects/%d/events", r.id)
		req, err := r.forge.api.NewRequest(http.MethodGet, path, options, []gogitlab.RequestOptionFunc{in(ctx)})
		if err != nil {
			return nil, 0, err
		}
		var events []pushEvent
		resp, err := r.forge.api.Do(req, &events)
		if err != nil {
			return nil, 0, err
		}
		return moves(events, branch), resp.NextPage, nil
	})
	return pushes, explain(r.noun("pushes of branch %s", rest.OneLine(branch)), err)
}

// moves returns the moves of a branch among events. A push of more than some branches at once is one event without their
// names, so it may have moved this one, in an unknown way.
// https://docs.gitlab.com/administration/settings/push_event_activities_limit/
func moves(events []pushEvent, branch string) []scm.Push {
	var found []scm.Push
	for _, event := range events {
		data := event.PushData
		if data.Ref == branch && data.RefType == "branch" || data.Ref == "" && data.RefType != "tag" {
			found = append(found, scm.Push{
				Before: rest.PushedCommit(data.CommitFrom), After: rest.PushedCommit(data.CommitTo), At: event.CreatedAt.UTC(),
			})
		}
	}
	return found
}
