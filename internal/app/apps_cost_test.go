package app_test

import (
	"testing"
	"time"
)

const contents = "GET /repos/{owner}/{repo}/contents/{path...}"

// A repository without a config file is requested again after a push, or without a
// cache.
func TestRun_unconfiguredRepositoriesAreCached(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/gitops", webIn("push"))
	docs := o.repository("acme/docs", map[string]string{"README": "words"})
	o.repository("acme/site", map[string]string{"README": "words"})
	o.app.Install("acme")
	asked := func(want int) {
		t.Helper()
		o.github.Traffic.ResetRequests()
		results := o.run("")
		if n := o.github.Traffic.Requests()[contents]; n != want {
			t.Errorf("asked for %d files, want %d", n, want)
		}
		for name, result := range results {
			if result.Failed() {
				t.Errorf("%s: %s", name, did(result))
			}
		}
	}
	asked(3)
	asked(3) // they were pushed to just now
	o.pass(2 * time.Minute)
	asked(3)
	asked(1)
	docs.Git.Commit("ann", "main", "Promote here", map[string]string{".promoter.yaml": o.expand(webIn("push")[".promoter.yaml"]), "dev/app.yaml": o.expand("image: $R/acme/web:1.4.0\n")})
	asked(2)
	if text := docs.Git.Run("show", "main:dev/app.yaml"); text != o.expand("image: $R/acme/web:1.5.0") {
		t.Errorf("a new config is not worked with: %s", text)
	}
	o.write("cache/unconfigured/github.json", "[")
	asked(3)
}
