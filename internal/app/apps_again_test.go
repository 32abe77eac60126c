package app_test

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/app"
)

const newToken = "POST /app/installations/{id}/access_tokens"

// One process works in many rounds. The token of an installation serves them as long
// as it lives and may do the same; what was suspended is worked on again.
func TestRun_installationsFromRoundToRound(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/gitops", webIn("push"))
	acme := o.app.Install("acme")
	server, err := o.open("")
	if err != nil {
		t.Fatal(err)
	}
	round := func(what string, wantTokens int, wantFailed bool) {
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
	round("the first round", 1, false)
	round("the second one", 0, false)
	o.pass(55 * time.Minute)
	round("near the end of the token", 1, false)
	more := needed()
	more["deployments"] = "read"
	o.app.Ask(more)
	acme.Permit(more)
	round("with another permission", 1, false)
	acme.RevokeTokens()
	round("after the token was revoked", 1, false)
	acme.Suspend()
	round("suspended", 0, true)
	acme.Resume()
	round("not suspended any more", 1, false)
	acme.Suspend()
	acme.Resume()
	round("suspended in between", 0, false)
	o.github.Traffic.Watch(func(route string) {
		if route == "GET /installation/repositories" {
			acme.RevokeTokens()
		}
	})
	round("whose new token is refused", 1, true)
	o.github.Traffic.Watch(nil)
	round("after that", 1, false)
	less := maps.Clone(needed())
	delete(less, "checks")
	acme.Permit(less)
	round("without a permission", 0, true)
}
