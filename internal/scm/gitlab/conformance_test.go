package gitlab_test

import (
	"context"
	"testing"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/gitlab"
	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/scmtest"
	"promoter/internal/secret"
)

// TestConformance runs the suite against the adapter, on a server below a path with a
// project in subgroups, for every tier and for an older release.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]gitlabtest.Options{
		"premium": {Root: "/gitlab"}, "free and old": {Free: true, Old: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scmtest.Run(t, func(t *testing.T) scmtest.Bench {
				_, made := newBench(t, options)
				return made
			})
		})
	}
}

func TestWire(t *testing.T) {
	t.Parallel()
	scmtest.Wire(t, func(d scmtest.Dial) (scm.Forge, error) {
		return gitlab.New(gitlab.Options{URL: d.URL, Token: d.Token, HTTP: d.HTTP, Now: d.Now})
	})
}

// bench is the strict server with one project.
type bench struct {
	*gitlabtest.Server
	project *gitlabtest.Project
	forge   *gitlab.Forge
	token   string
}

func newBench(t *testing.T, options gitlabtest.Options) (*bench, scmtest.Bench) {
	t.Helper()
	options.Now = scmtest.Ticking()
	b := &bench{Server: gitlabtest.New(t, options)}
	b.project = b.NewProject("acme/platform/deploy", map[string]string{"a.yaml": "image: web:1\n"})
	b.token = b.Token(gitlabtest.Self, "api")
	var err error
	b.forge, err = gitlab.New(gitlab.Options{
		URL: b.URL(), HTTP: b.Client(), Now: time.Now,
		Token: func(context.Context) (secret.String, error) { return secret.New(b.token), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return b, b.project.Bench(b.forge)
}

func (b *bench) open(t *testing.T) scm.Repository {
	t.Helper()
	repo, err := b.forge.Open(t.Context(), b.project.Settings.Name())
	if err != nil {
		t.Fatal(err)
	}
	return repo
}
