package app_test

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/app"
)

const newToken = "POST /app/installations/{id}/access_tokens"

// One process refreshes many times. The token of an installation is used as long as it
// is valid and has the same permissions; a suspended installation is used again later.
func TestRun_installationsOutliveRefreshes(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/gitops", webIn("push"))
	acme := o.app.Install("acme")
	server, err := o.open("")
	if err != nil {
		t.Fatal(err)
	}
	refresh := func(what string, wantTokens int, wantFailed bool) {
		t.Helper()
		o.github.Traffic.ResetRequests()
		results, err := app.Run(t.Context(), server, app.RunOptions{CacheDir: filepath.Join(o.dir, "cache")})
		if err != nil {
			t.Fatal(err)
		}
		failed := len(results) == 0
		for _, result := range results {
			failed = failed || result.Failed()
		}
		if failed != wantFailed {
			t.Errorf("%s: %+v", what, results)
		}
		if n := o.github.Traffic.Requests()[newToken]; n != wantTokens {
			t.Errorf("%s: asked for %d tokens, want %d", what, n, wantTokens)
		}
	}
	refresh("the first refresh", 1, false)
	refresh("the second one", 0, false)
	o.pass(55 * time.Minute)
	refresh("near the end of the token", 1, false)
	more := needed()
	more["discussions"] = "read"
	o.app.Ask(more)
	acme.Permit(more)
	refresh("with another permission", 1, false)
	acme.RevokeTokens()
	refresh("after the token was revoked", 1, false)
	acme.Suspend()
	refresh("suspended", 0, true)
	acme.Resume()
	refresh("not suspended any more", 1, false)
	acme.Suspend()
	acme.Resume()
	refresh("suspended in between", 0, false)
	o.github.Traffic.Watch(func(route string) {
		if route == "GET /installation/repositories" {
			acme.RevokeTokens()
		}
	})
	refresh("whose new token is refused", 1, true)
	o.github.Traffic.Watch(nil)
	refresh("after that", 1, false)
	less := maps.Clone(needed())
	delete(less, "checks")
	acme.Permit(less)
	refresh("without a permission", 0, true)
}
