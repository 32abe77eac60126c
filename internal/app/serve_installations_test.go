package app_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/scm/github/githubtest"
)

// untilOf waits for a message about a repository.
func (w *servedOrchard) untilOf(message, repository string) string {
	w.served.t.Helper()
	for {
		if line := w.until(message); strings.Contains(line, fmt.Sprintf(`"repository":%q`, repository)) {
			return line
		}
	}
}

// forgets waits until a repository is not reconciled any more. A reconciliation in
// progress may have failed meanwhile, and is retried later.
func (w *servedOrchard) forgets(r *githubtest.Repository) {
	w.served.t.Helper()
	deadline := time.After(patience)
	for w.all.first("no longer following a repository", fmt.Sprintf(`/%d"`, r.ID())) == "" {
		select {
		case <-w.lines:
		case <-time.After(time.Second):
			w.pass(time.Minute) // which drops lines, too
		case <-deadline:
			w.served.t.Fatalf("%s is worked on still", r.Settings.Name())
		}
	}
}

// mirrors are those on the disk.
func (w *servedOrchard) mirrors() []string {
	w.served.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.orchard.dir, "data", "mirrors", "*"))
	if err != nil {
		w.served.t.Fatal(err)
	}
	return found
}

// The App is installed on another account, and on another repository: promoter
// reconciles them.
func TestServe_installationsAdd(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	one := o.repository("acme/one", webIn("pr"))
	two := o.repository("acme/two", webIn("pr"))
	o.repository("globex/gitops", webIn("pr"))
	acme := o.app.Install("acme", one)
	w := o.serve("")
	w.untilOf("reconciled", "acme/one")

	w.pass(2 * time.Minute)
	globex := o.app.Install("globex")
	w.hook("installation", w.installation(globex, "globex", "created"))
	w.untilOf("reconciled", "globex/gitops")
	w.pass(2 * time.Minute)
	acme.Select(one, two)
	w.hook("installation_repositories", w.installation(acme, "acme", "added"))
	w.untilOf("reconciled", "acme/two")
	if n := len(two.Pulls.All()); n != 1 {
		t.Errorf("%d pull requests in the new repository", n)
	}
	w.stop()
}

// An installation ends: its repositories are removed, and its credential is not used
// any more, neither by a poll nor for an event. The others continue.
func TestServe_installationsEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		action string
		end    func(acme *githubtest.Installation)
	}{
		"removed":   {"deleted", (*githubtest.Installation).Remove},
		"suspended": {"suspend", (*githubtest.Installation).Suspend},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrchard(t)
			gone := o.repository("acme/gitops", webIn("pr"))
			stays := o.repository("globex/gitops", webIn("pr"))
			acme := o.app.Install("acme")
			o.app.Install("globex")
			w := o.serve("")
			w.untilOf("reconciled", "acme/gitops")

			w.pass(2 * time.Minute)
			test.end(acme)
			w.hook("installation", w.installation(acme, "acme", test.action))
			w.forgets(gone)
			if mirrors := w.mirrors(); len(mirrors) != 1 {
				t.Errorf("what was read of it is on the disk still: %v", mirrors)
			}
			before := len(o.github.Asked())
			o.push("acme/web:1.6.0", "three")
			for range 3 {
				w.hook("push", w.about(gone, `"ref": "refs/heads/main", `))
				w.hook("status", w.about(gone, ``))
				w.hook("push", w.about(stays, `"ref": "refs/heads/main", `))
				w.untilOf("reconciled", "globex/gitops")
				w.pass(2 * time.Hour) // longer than a poll
				w.hook("installation", w.installation(acme, "acme", test.action))
				w.untilOf("reconciled", "globex/gitops")
			}
			for _, asked := range o.github.Asked()[before:] {
				if asked.By == fmt.Sprintf("installation %d", acme.ID()) || asked.By == "unknown" || asked.Repository == "acme/gitops" && asked.By != "app promoter" {
					t.Errorf("%s of %q was asked by %q", asked.Route, asked.Repository, asked.By)
				}
			}
			if test.action == "suspend" {
				acme.Resume()
				w.pass(2 * time.Minute)
				w.hook("installation", w.installation(acme, "acme", "unsuspend"))
				w.untilOf("reconciled", "acme/gitops")
			}
			w.stop()
		})
	}
}

// Repositories come and go without an installation too: one is removed from the App,
// archived, renamed, or deleted.
func TestServe_repositoryEvents(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	one := o.repository("acme/one", webIn("pr"))
	two := o.repository("acme/two", webIn("pr"))
	acme := o.app.Install("acme", one, two)
	w := o.serve("")
	w.untilOf("reconciled", "acme/two")
	w.pass(2 * time.Minute)
	two.Settings.Rename("other")
	w.hook("repository", w.about(two, `"action": "renamed", `))
	w.untilOf("reconciled", "acme/two") // as it was listed
	w.pass(2 * time.Minute)
	acme.Select(one)
	w.hook("installation_repositories", w.installation(acme, "acme", "removed"))
	w.forgets(two)
	before := len(o.github.Asked())
	w.hook("status", w.about(two, ``))
	w.hook("push", w.about(one, `"ref": "refs/heads/main", `))
	w.untilOf("reconciled", "acme/one")
	for _, asked := range o.github.Asked()[before:] {
		if asked.Repository == two.Settings.Name() {
			t.Errorf("%s was asked of a repository that was taken away", asked.Route)
		}
	}
	w.stop()
}
