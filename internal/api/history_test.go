package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/api"
)

// asked keeps what was asked of the history.
type asked struct {
	adminAPI
	past *api.HistoryQuery
}

func (d asked) History(_ context.Context, past api.HistoryQuery) (api.History, error) {
	*d.past = past
	return api.History{Schema: api.Schema, Events: []api.Event{}}, d.err
}

func (d adminAPI) History(context.Context, api.HistoryQuery) (api.History, error) {
	return api.History{Schema: api.Schema, Events: []api.Event{}}, d.err
}

func TestHistory_parsesParameters(t *testing.T) {
	t.Parallel()
	var past api.HistoryQuery
	w := newWorld(t, withAPI(asked{past: &past}))
	answer := w.ask(t, "GET", "/api/v1/history?repository=acme%2Fgitops&environment=prod&application=shop&component=web&since=2026-01-31T00:00:00Z&limit=7&after=1-a",
		"Bearer "+apiToken, "")
	want := api.HistoryQuery{
		Repository: "acme/gitops", Environment: "prod", Application: "shop", Component: "web",
		Since: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), Limit: 7, After: "1-a",
	}
	if diff := cmp.Diff(want, past); diff != "" || answer.Code != http.StatusOK {
		t.Errorf("%d (-want +got):\n%s", answer.Code, diff)
	}
	if body := strings.TrimSpace(answer.Body.String()); body != `{"schema":1,"at":"0001-01-01T00:00:00Z","events":[]}` {
		t.Errorf("an empty page: %s", body)
	}
	w.ask(t, "GET", "/api/v1/history?since=7d", "Bearer "+apiToken, "")
	if ago := past.Since; past.Limit != 100 || ago.IsZero() {
		t.Errorf("by default: %+v", past)
	}
}

func TestHistory_refusesInvalidParameters(t *testing.T) {
	t.Parallel()
	var past api.HistoryQuery
	w := newWorld(t, withAPI(asked{past: &past}))
	for _, query := range []string{
		"limit=0", "limit=1001", "limit=many", "since=yesterday", "enviroment=prod", "environment=a&environment=b",
		"component=" + strings.Repeat("x", 600), "environment=prod;x", "environment=%zz",
	} {
		answer := w.ask(t, "GET", "/api/v1/history?"+query, "Bearer "+apiToken, "")
		if answer.Code != http.StatusBadRequest {
			t.Errorf("%.40s: %d %s", query, answer.Code, answer.Body)
		}
	}
	for _, authorization := range []string{"", "Bearer wrong"} {
		if answer := w.ask(t, "GET", "/api/v1/history", authorization, ""); answer.Code != http.StatusUnauthorized {
			t.Errorf("with %q: %d", authorization, answer.Code)
		}
	}
}

func FuzzSince(f *testing.F) {
	now := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	for _, seed := range []string{"7d", "2026-01-01T00:00:00Z", "", "-1h", "1e9h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := api.Since(text, now)
		if err != nil && !at.IsZero() {
			t.Errorf("%q: %v with an error", text, at)
		}
	})
}
