package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/outbound"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea"
	"promoter/internal/scm/github"
	"promoter/internal/scm/gitlab"
	"promoter/internal/secret"
)

// Every forge tells of the pauses that it was asked for.
func TestForge_pauses(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return noon }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(server.Close)
	token := always(secret.New("canary"))
	forges := map[string]func() (scm.Forge, error){
		"github": func() (scm.Forge, error) {
			return github.New(github.Options{URL: server.URL, Token: token, HTTP: server.Client(), Now: now})
		},
		"gitlab": func() (scm.Forge, error) {
			return gitlab.New(gitlab.Options{URL: server.URL, Token: token, HTTP: server.Client(), Now: now})
		},
		"gitea": func() (scm.Forge, error) {
			return gitea.New(gitea.Options{URL: server.URL, Token: token, HTTP: server.Client(), Now: now})
		},
	}
	for kind, open := range forges {
		asked, err := open()
		if err != nil {
			t.Fatal(err)
		}
		f := &forge{config: config.Forge{Name: kind}, scm: asked}
		if got := f.pauses(); got != nil {
			t.Errorf("%s, unasked: %+v", kind, got)
		}
		if _, err := asked.Open(t.Context(), "acme/gitops"); err == nil {
			t.Errorf("%s: opened", kind)
		}
		pauses := f.pauses()
		for n := range pauses {
			if !strings.HasPrefix(pauses[n].Why, "rate limited: ") {
				t.Errorf("%s: because %q", kind, pauses[n].Why)
			}
			pauses[n].Why = ""
		}
		want := []credentialPause{{"the token of " + kind, outbound.Pause{Host: hostOf(server.URL), Until: noon.Add(time.Minute)}}}
		if diff := cmp.Diff(want, pauses, cmp.AllowUnexported(credentialPause{})); diff != "" {
			t.Errorf("%s:\n%s", kind, diff)
		}
	}
}

// A pause outlives the round in which it was asked for.
func TestStanding_pausesOutliveRounds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.poll()
	d.github.Limit(false, d.clock.Now().Add(10*time.Minute))
	for range 2 {
		d.clock.Add(2 * time.Minute)
		d.poll()
		if got := d.standing.pauses(); len(got) != 1 || got[0].credential != "the token of forge" {
			t.Errorf("%+v", got)
		}
	}
	d.clock.Add(10 * time.Minute)
	if got := d.standing.pauses(); len(got) != 0 {
		t.Errorf("after it: %+v", got)
	}
}
