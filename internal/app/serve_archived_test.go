package app_test

import (
	"fmt"
	"testing"
)

// What happens to a repository while it is archived is promoted when GitHub reports that it is unarchived: the next poll is an
// hour away.
func TestServe_unarchivedRepositoryGoesOn_github(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serve(t, s)
	happened := func(action string) {
		w.send("forge", fmt.Sprintf(`{"action": %q, "repository": {"id": %d, "full_name": "acme/gitops", "html_url": "%s/acme/gitops"}}`,
			action, s.repo.ID(), s.forge.URL()), "X-GitHub-Event", "repository", "X-GitHub-Delivery", action)
	}
	s.repo.Settings.SetArchived(true)
	happened("archived")
	w.until("repository unusable")
	w.until("reconciled")
	s.release("web", "1.1.0")
	w.notify("web:1.1.0")
	w.until("reconciled")
	s.pulls()
	s.repo.Settings.SetArchived(false)
	happened("unarchived")
	w.until("opened")
	w.until("reconciled")
	s.pulls(stagingHead + " open")
	w.stop()
}
