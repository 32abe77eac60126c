package github_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"promoter/internal/scm/github"
	"promoter/internal/secret"
)

// A forge lives as long as the service, and accounts can be renamed.
func TestOpen_accountIsRenamed(t *testing.T) {
	t.Parallel()
	asked, now := 0, time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/user") {
			asked++
			_, _ = fmt.Fprintf(w, `{"id":1,"login":"name-%d"}`, asked)
			return
		}
		_, _ = w.Write([]byte(`{"id":7,"name":"deploy","full_name":"acme/deploy","owner":{"login":"acme"},"default_branch":"main"}`))
	}))
	t.Cleanup(server.Close)
	forge, err := github.New(github.Options{
		URL: server.URL, HTTP: server.Client(), Now: func() time.Time { return now },
		Token: func(context.Context) (secret.String, error) { return secret.New("token"), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"name-1", "name-1", "name-2"} {
		repo, err := forge.Open(t.Context(), "acme/deploy")
		if err != nil || repo.Info().Self.Login != want {
			t.Errorf("opened %+v, %v, want %s", repo, err, want)
		}
		now = now.Add(45 * time.Minute)
	}
}
