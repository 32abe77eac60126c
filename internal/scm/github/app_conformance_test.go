package github_test

import (
	"maps"
	"strconv"
	"testing"
	"time"

	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/scm/scmtest"
	"promoter/internal/secret"
)

// granted returns all permissions of the table.
func granted() map[string]string {
	all := map[string]string{}
	for _, p := range github.Permissions() {
		all[p.Name] = p.Access
	}
	return all
}

// without removes permissions.
func without(all map[string]string, names ...string) map[string]string {
	left := maps.Clone(all)
	for _, name := range names {
		delete(left, name)
	}
	return left
}

// The suite with an installation token.
func TestConformance_app(t *testing.T) {
	t.Parallel()
	scmtest.Run(t, newAppBench)
}

func newAppBench(t *testing.T) scmtest.Bench {
	t.Helper()
	b, made := newServerBench(t)
	promoter := b.NewApp("promoter", granted())
	installed := promoter.Install("acme", b.repo)
	app := newApp(t, b.Server, promoter, b.clock)
	forge := use(t, app, installed)
	made.Forge = forge
	made.Git.Commit = func(_ *testing.T, c scmtest.Commit) string {
		if c.By == "" {
			c.By = promoter.Login()
		}
		return b.repo.Git.Commit(c.By, c.Branch, c.Message, map[string]string{c.Path: c.Content})
	}
	made.World.ReadOnly = func(*testing.T) { installed.Permit(without(granted(), "contents")) }
	made.World.Scope = func(*testing.T) { installed.Permit(without(granted(), "pull_requests")) }
	made.World.Revoke = func(*testing.T) { installed.Suspend() }
	made.Known = map[string]string{
		"an account that may not push is reported": "what an installation may do is read with the installation, once",
	}
	return made
}

// newApp creates the App as promoter does.
func newApp(t *testing.T, server *githubtest.Server, of *githubtest.App, now func() time.Time) *github.App {
	t.Helper()
	app, err := github.NewApp(github.AppOptions{
		URL: server.URL(), ID: strconv.FormatInt(of.ID(), 10), Key: secret.New(of.Key()), HTTP: server.Client(), Now: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// use finds an installation and returns its forge.
func use(t *testing.T, app *github.App, wanted *githubtest.Installation) *github.Installed {
	t.Helper()
	all, err := app.Installations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if one.ID == wanted.ID() {
			forge, err := app.Use(t.Context(), one)
			if err != nil {
				t.Fatal(err)
			}
			return forge
		}
	}
	t.Fatalf("there is no installation %d among %v", wanted.ID(), all)
	return nil
}
