package connect

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/outbound"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea"
	"promoter/internal/scm/github"
	"promoter/internal/scm/gitlab"
	"promoter/internal/secret"
)

// Every forge reports the backoff that it was asked for.
func TestForge_backoffs(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return noon }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(server.Close)
	token := fixed(secret.New("canary"))
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
		f := &Forge{Config: serverconfig.Forge{Name: kind}, SCM: asked}
		if got := f.backoffs(); got != nil {
			t.Errorf("%s, unasked: %+v", kind, got)
		}
		if _, err := asked.Open(t.Context(), "acme/gitops"); err == nil {
			t.Errorf("%s: opened", kind)
		}
		pauses := f.backoffs()
		for n := range pauses {
			if !strings.HasPrefix(pauses[n].Reason, "rate limited: ") {
				t.Errorf("%s: because %q", kind, pauses[n].Reason)
			}
			pauses[n].Reason = ""
		}
		want := []Backoff{{To: ToForge, Host: outbound.Host(server.URL), Credential: "the token of " + kind, Until: noon.Add(time.Minute)}}
		if diff := cmp.Diff(want, pauses); diff != "" {
			t.Errorf("%s:\n%s", kind, diff)
		}
	}
}
