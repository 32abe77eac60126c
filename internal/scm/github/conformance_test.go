package github_test

import (
	"context"
	"testing"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/scm/scmtest"
	"promoter/internal/secret"
)

func TestConformance_server(t *testing.T) {
	t.Parallel()
	scmtest.Run(t, func(t *testing.T) scmtest.Bench {
		_, made := newServerBench(t)
		return made
	})
}

func TestWire(t *testing.T) {
	t.Parallel()
	scmtest.Wire(t, func(d scmtest.Dial) (scm.Forge, error) {
		return github.New(github.Options{URL: d.URL, Token: d.Token, HTTP: d.HTTP, Now: d.Now})
	})
}

// self is the account under test.
const self = githubtest.Self

// bench is the strict server with the users of the suite.
type bench struct {
	*githubtest.Server
	repo  *githubtest.Repository
	token string
	clock func() time.Time
}

func newServerBench(t *testing.T) (*bench, scmtest.Bench) {
	t.Helper()
	return newServerBenchAt(t, scmtest.Ticking())
}

// newServerBenchAt is newServerBench with a clock of the server.
func newServerBenchAt(t *testing.T, clock func() time.Time) (*bench, scmtest.Bench) {
	t.Helper()
	b := &bench{Server: githubtest.New(t, githubtest.Options{Now: clock}), clock: clock}
	b.repo = b.NewRepository("acme/deploy", map[string]string{"a.yaml": "image: web:1\n"})
	b.token = b.Token(self, "repo", "read:org")
	forge, err := github.New(github.Options{
		URL: b.URL(), API: b.API(), HTTP: b.Client(), Now: time.Now,
		Token: func(context.Context) (secret.String, error) { return secret.New(b.token), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return b, b.repo.Bench(forge)
}
