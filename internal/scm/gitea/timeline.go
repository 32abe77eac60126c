package gitea

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// timelineEvent is what is needed of an entry of a timeline. The library's type does not
// fit the labels that Gitea sends.
type timelineEvent struct {
	Type    string    `json:"type"`
	Poster  *sdk.User `json:"user"`
	Created time.Time `json:"created_at"`
}

// Timeline reads the timeline of the pull request. A merge is an entry of another type.
func (r *repository) Timeline(ctx context.Context, number int) ([]scm.TimelineEvent, error) {
	events, err := r.timeline(ctx, number, time.Time{})
	if err != nil {
		return nil, explain(r.noun("timeline of pull request %d", number), err)
	}
	var timeline []scm.TimelineEvent
	states := map[string]scm.PullRequestState{"close": scm.StateClosed, "reopen": scm.StateOpen}
	for _, event := range events { // oldest first
		if state, turned := states[event.Type]; turned {
			timeline = append(timeline, scm.TimelineEvent{State: state, By: r.forge.person(event.Poster), At: event.Created.UTC()})
		}
	}
	return timeline, nil
}

// timeline lists the events of a pull request since a time, oldest first. The zero
// time lists all. Gitea reports the length of a page instead of that of the list, and a
// server may have shorter pages than requested: only an empty page is the last one.
func (r *repository) timeline(ctx context.Context, number int, since time.Time) ([]timelineEvent, error) {
	return rest.Pages(rest.Everything, func(page rest.Page) ([]timelineEvent, int, error) {
		at := max(page.Number, 1)
		query := url.Values{"page": {strconv.Itoa(at)}, "limit": {strconv.Itoa(perPage)}}
		if !since.IsZero() {
			query.Set("since", since.UTC().Format(time.RFC3339))
		}
		var events []timelineEvent
		err := r.forge.get(ctx,
			fmt.Sprintf("repos/%s/%s/issues/%d/timeline", url.PathEscape(r.owner), url.PathEscape(r.name), number), query, &events)
		if err != nil || len(events) == 0 {
			return nil, 0, err
		}
		return events, at + 1, nil
	})
}

// get sends a request that the library cannot send, or whose response it cannot read.
// A response that does not fit is Invalid: it will be the same next time.
func (f *Forge) get(ctx context.Context, path string, query url.Values, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.page+"/api/v1/"+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "promoter")
	resp, err := f.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body) // from memory
	switch {
	case err != nil:
		return fault.New(fault.Temporary, "read the answer: %w", err)
	case resp.StatusCode >= http.StatusMultipleChoices:
		return &refusedError{status: resp.StatusCode, words: cleaned(resp.StatusCode, wordsIn(resp.StatusCode, data))}
	}
	if err := json.Unmarshal(data, into); err != nil {
		if !json.Valid(data) {
			return err
		}
		return fault.New(fault.Invalid, "the answer of Gitea has another form than expected: %w", err)
	}
	return nil
}
