package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/secret"
	"promoter/internal/verb"
)

func (several) Decide(_ context.Context, by access.Principal, decision api.Decision) (api.Decided, error) {
	return api.Decided{
		Schema: api.Schema, Repository: "github.com/acme/shop", Verb: decision.Verb, By: api.User{Login: by.Name}, Subject: "Hold web in prod",
		Targets: []api.DecidedTarget{{Environment: decision.Environment, Application: decision.Application}}, Effects: []string{},
	}, nil
}

// decider keeps who decided what.
type decider struct {
	by       *access.Principal
	decision *api.Decision
}

func (d decider) Decide(_ context.Context, by access.Principal, decision api.Decision) (api.Decided, error) {
	*d.by, *d.decision = by, decision
	return api.Decided{}, nil
}

// operator is a token with a role.
func operator(role access.Role) *access.Sessions {
	sessions := tokens()
	sessions.Tokens = access.Tokens{{Principal: access.Principal{Name: "token ops", Token: true, Roles: []access.Role{role}}, Secret: secret.New(apiToken)}}
	return sessions
}

func TestDecide_passesWhoDecidesWhat(t *testing.T) {
	t.Parallel()
	var by access.Principal
	var got api.Decision
	w := newWorld(t, api.Options{Admin: adminAPI{}, Sessions: operator(access.Operate), Decisions: decider{&by, &got}})
	until := time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)
	want := api.Decision{
		Repository: "acme/shop", Verb: verb.Promote, Environment: "prod", Application: "web", Reason: "now", With: []string{"web:1"}, Bypass: []string{"soak"},
		Images: []string{"web:2"}, To: "58b5d4a", Until: &until,
	}
	answer := w.ask(t, "POST", "/api/v1/decisions", "Bearer "+apiToken, `{"repository": "acme/shop", "verb": "promote", "environment": "prod", "application": "web",
"reason": "now", "with": ["web:1"], "bypass": ["soak"], "images": ["web:2"], "to": "58b5d4a", "until": "2026-12-24T00:00:00Z"}`)
	if diff := cmp.Diff(want, got); diff != "" || answer.Code != http.StatusOK || by.Name != "token ops" {
		t.Errorf("%d by %+v (-want +got):\n%s", answer.Code, by, diff)
	}
}

// A mistake in the request is no decision about more than was meant.
func TestDecide_refusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	var by access.Principal
	var got api.Decision
	w := newWorld(t, api.Options{Admin: adminAPI{}, Sessions: operator(access.Operate), Decisions: decider{&by, &got}})
	for _, body := range []string{
		"", "[]", `{"verb": "hold", "enviroment": "prod"}`, `{"verb": "hold"} {"verb": "thaw"}`, `{"verb": "hold", "environment": ["prod"]}`,
		`{"verb": "freeze", "until": "tomorrow"}`, `{"verb": "hold", "reason": "` + strings.Repeat("x", 65<<10) + `"}`,
	} {
		if answer := w.ask(t, "POST", "/api/v1/decisions", "Bearer "+apiToken, body); answer.Code != http.StatusBadRequest {
			t.Errorf("%.60s: %d %s", body, answer.Code, answer.Body)
		}
	}
	if answer := w.ask(t, "POST", "/api/v1/decisions?environment=prod", "Bearer "+apiToken, `{"verb": "hold"}`); answer.Code != http.StatusBadRequest {
		t.Errorf("with a parameter: %d", answer.Code)
	}
	if got.Verb != "" {
		t.Errorf("decided %+v", got)
	}
}

// A decision needs the role operate, or one that contains it.
func TestDecide_needsTheRole(t *testing.T) {
	t.Parallel()
	for role, want := range map[access.Role]int{
		access.Read: http.StatusForbidden, access.Evidence: http.StatusForbidden, access.Operate: http.StatusOK, access.Admin: http.StatusOK,
	} {
		w := newWorld(t, api.Options{Admin: adminAPI{}, Sessions: operator(role), Decisions: several{}})
		if answer := w.ask(t, "POST", "/api/v1/decisions", "Bearer "+apiToken, `{"verb": "hold"}`); answer.Code != want {
			t.Errorf("%s: %d %s, want %d", role, answer.Code, answer.Body, want)
		}
	}
	public := tokens()
	public.Public = access.Principal{Name: "public", Roles: []access.Role{access.Read}}
	w := newWorld(t, api.Options{Admin: adminAPI{}, Sessions: public, Decisions: several{}})
	if answer := w.ask(t, "POST", "/api/v1/decisions", "", `{"verb": "hold"}`); answer.Code != http.StatusUnauthorized {
		t.Errorf("public: %d", answer.Code)
	}
}
