package github_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm"
	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/secret"
)

// The rules of a branch on the strict server, in GitHub's own form, are read as
// intended.
func TestRules_server(t *testing.T) {
	t.Parallel()
	all := githubtest.Demands{
		Checks: []string{"ci", "e2e"}, Strict: true, Approvals: 2, Owner: "ann", LastPush: true, Conversations: true, Queue: true, Signed: true, Linear: true,
	}
	classic := all
	classic.Queue = false // GitHub reports it to no user
	want := scm.Rules{
		Checks: all.Checks, Approvals: 2, Owners: true, NotByPusher: true, Current: true, Queue: true, Signed: true, Linear: true, PullRequests: true,
	}
	form := want
	form.Queue = false
	bypassed := scm.Rules{Checks: all.Checks, Approvals: 2, Owners: true, NotByPusher: true, Current: true, PullRequests: true}
	for name, test := range map[string]struct {
		protect func(r *githubtest.Repository)
		want    scm.Rules
	}{
		"nothing": {func(*githubtest.Repository) {}, scm.Rules{}},
		"ruleset": {func(r *githubtest.Repository) { r.Rule("main", githubtest.Ruleset{Demands: all}) }, want},
		"bypassed": {func(r *githubtest.Repository) {
			r.Rule("main", githubtest.Ruleset{Demands: all, Bypass: []string{"bot"}})
		}, bypassed},
		"elsewhere": {
			func(r *githubtest.Repository) { r.Rule("env/prod", githubtest.Ruleset{Demands: all}) }, scm.Rules{},
		},
		"classic, told to an administrator": {
			func(r *githubtest.Repository) {
				r.Settings.Permit("bot", "admin")
				r.Protect("main", githubtest.Protection{Demands: classic})
			}, form,
		},
		"classic, told to a writer": {
			func(r *githubtest.Repository) { r.Protect("main", githubtest.Protection{Demands: classic}) },
			scm.Rules{Checks: all.Checks, Hidden: "all that the branch protection of main asks can be read by an administrator only"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := githubtest.New(t, githubtest.Options{})
			r := s.NewRepository("acme/deploy", map[string]string{"a.yaml": "image: web:1\n"})
			r.Settings.Permit("bot", "write")
			test.protect(r)
			token := s.Token("bot", "repo")
			forge, err := github.New(github.Options{
				URL: s.URL(), API: s.API(), HTTP: s.Client(), Now: time.Now,
				Token: func(context.Context) (secret.String, error) { return secret.New(token), nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			repository, err := forge.Open(t.Context(), "acme/deploy")
			if err != nil {
				t.Fatal(err)
			}
			got, err := repository.(scm.Ruled).Rules(t.Context(), "main")
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}
