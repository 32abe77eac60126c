package app_test

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/scm/github/githubtest"
)

// servedOrchard is a service for a GitHub App.
type servedOrchard struct {
	*orchard
	*served
}

// serve serves all installations of the App, and waits for the first poll.
func (o *orchard) serve(more string) *servedOrchard {
	o.t.Helper()
	file := o.serverFile("served.yaml", o.ofApp(), fmt.Sprintf(`data: %q
poll: 1h
receivers:
  forge: {kind: github, secret: "env:HOOK"}
%s`, filepath.Join(o.dir, "data"), more))
	s := &story{world: o.world, forge: o.github}
	return &servedOrchard{o, s.launch(openService(o.t, file, environ("HOOK", serveSecret), o.now), nil, slog.LevelDebug, app.ServeOptions{Debounce: -1})}
}

// hook posts an event with the signature of GitHub.
func (w *servedOrchard) hook(event, body string) {
	w.served.t.Helper()
	w.send("forge", body, "X-GitHub-Event", event, "X-GitHub-Delivery", fmt.Sprint(event, len(body), w.now().UnixNano()))
}

// about is the repository of an event.
func (w *servedOrchard) about(r *githubtest.Repository, more string) string {
	return fmt.Sprintf(`{%s"repository": {"id": %d, "full_name": %q, "html_url": "%s/%s", "default_branch": "main"}, "sender": {"login": "ann", "html_url": "%s/ann"}}`,
		more, r.ID(), r.Settings.Name(), w.github.URL(), r.Settings.Name(), w.github.URL())
}

// installation is an event of an installation.
func (w *servedOrchard) installation(i *githubtest.Installation, account, action string) string {
	return fmt.Sprintf(`{"action": %q, "installation": {"id": %d, "account": {"login": %q, "html_url": "%s/%s"}}, "sender": {"html_url": "%s/ann"}}`,
		action, i.ID(), account, w.github.URL(), account, w.github.URL())
}

// The service offers a config file to a repository without one. Merging it is a push of
// the first config file, which lets promoter reconcile the repository at once.
func TestServe_onboardingAndItsMerge(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	r := o.repository("acme/gitops", without())
	o.repository("acme/ready", webIn("pr"))
	o.app.Install("acme")
	w := o.serve(onboards)
	if line := w.until("onboarding"); !strings.Contains(line, `"state":"opened"`) || !strings.Contains(line, `"repository":"acme/gitops"`) {
		t.Errorf("the line is %s", line)
	}
	w.pass(2 * time.Minute) // there was no refresh for that long
	r.Pulls.Merge("ann", 1, "squash")
	w.hook("push", w.about(r, `"ref": "refs/heads/main", `))
	w.until("following a repository: it has a config file now")
	for !strings.Contains(w.until("opened"), `"repository":"acme/gitops"`) {
		continue
	}
	if pulls := r.Pulls.All(); len(pulls) != 2 || pulls[1].Head != "promoter/dev/default" {
		t.Errorf("pull requests: %+v", pulls)
	}
	w.stop()
}

// A repository whose onboarding fails for a moment delays no other, and is retried by itself
// before the next poll.
func TestServe_onboardingIsRetriedAlone(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	repositories := []*githubtest.Repository{o.repository("acme/blog", without()), o.repository("acme/gitops", without())}
	o.app.Install("acme")
	o.github.Fail("POST /repos/{owner}/{repo}/pulls", http.StatusInternalServerError, "Something went wrong")
	w := o.serve(onboards)
	if line := w.until("run failed"); !strings.Contains(line, `"kind":"onboard"`) || !strings.Contains(line, "Something went wrong") {
		t.Errorf("the line is %s", line)
	}
	for opened := 0; opened < len(repositories); {
		<-time.After(10 * time.Millisecond)
		w.pass(time.Second) // the retry is due after 5 of them
		opened = 0
		for _, r := range repositories {
			opened += len(r.Pulls.All())
		}
	}
	w.stop()
}

// A repository of the App without a config file costs two requests for a push to its
// default branch, at most once a minute, and none for other events; an unknown
// repository costs one.
func TestServe_unknownRepositoriesAreCheap(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/ready", webIn("push"))
	code := o.repository("acme/code", map[string]string{"README": "words"})
	stranger := o.repository("eve/code", map[string]string{"README": "words"})
	o.app.Install("acme")
	w := o.serve("")
	w.until("reconciled")
	before := len(o.github.Asked())
	for range 3 {
		w.hook("push", w.about(code, `"ref": "refs/heads/topic", `))
		w.hook("check_run", w.about(code, `"action": "completed", `))
		w.hook("pull_request", w.about(code, `"action": "closed", "pull_request": {"merged": false, "base": {"ref": "main"}}, `))
	}
	w.hook("push", w.about(stranger, `"ref": "refs/heads/main", `))
	w.until("ignored a webhook of a repository that is not followed")
	w.hook("push", w.about(code, `"ref": "refs/heads/main", `))
	w.until("ignored a webhook of a repository without a config file")
	w.hook("push", w.about(code, `"ref": "refs/heads/main", `)) // within the minute: it has to wait
	w.stop()
	asked := map[string]int{}
	for _, one := range o.github.Asked()[before:] {
		if one.Repository == "acme/code" || one.Repository == "eve/code" {
			asked[one.Repository+" "+one.Route]++
		}
	}
	want := map[string]int{
		"acme/code GET /repos/{owner}/{repo}/installation": 1, "acme/code GET /repos/{owner}/{repo}/contents/{path...}": 1,
		"eve/code GET /repos/{owner}/{repo}/installation": 1,
	}
	if !maps.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
}
