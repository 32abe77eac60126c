package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/api"
)

// The status shows the installation that GitHub limits, and no other.
func TestServe_backoffOfAnInstallation(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/gitops", webIn("pr"))
	o.repository("globex/gitops", webIn("pr"))
	until := o.now().Add(30 * time.Minute)
	o.app.Install("acme").Limit(until)
	o.app.Install("globex")
	w := o.serve(fmt.Sprintf("api: {token: \"file:%s\"}\n", o.write("api-token", serveToken)))
	w.untilOf("reconciled", "globex/gitops")
	want := []api.Backoff{{
		Peer: "forge", Host: strings.TrimPrefix(o.github.URL(), "http://"), Credential: "the installation at acme of the App of github", Until: until.UTC(),
		Reason: "rate limited: API rate limit exceeded for user ID 1.",
	}}
	later := cmp.Comparer(func(a, b time.Time) bool { return a.Sub(b).Abs() <= time.Second }) // the end is rounded up
	if diff := cmp.Diff(want, w.status().Backoffs, later); diff != "" {
		t.Errorf("in the pause:\n%s", diff)
	}
	o.pass(31 * time.Minute)
	if pauses := w.status().Backoffs; len(pauses) != 0 {
		t.Errorf("after it: %+v", pauses)
	}
	w.stop()
}
