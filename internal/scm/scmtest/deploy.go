package scmtest

import (
	"maps"
	"slices"
	"testing"

	"promoter/internal/scm"
)

// deploying tests deployments.
func deploying() []condition {
	hooks := func(b Bench) []any { return []any{b.People.Deploy} }
	return []condition{
		{
			name: "Deployed returns the newest deployment to the environment", feature: deployments, hooks: hooks,
			run: func(t *testing.T, x *fixture) {
				forge := x.repo.(scm.Deployments)
				if _, found, err := forge.Deployed(t.Context(), "production"); found || err != nil {
					t.Errorf("before any: %t, %v", found, err)
				}
				first, second := x.push(t, "image: web:2\n"), x.push(t, "image: web:3\n")
				x.People.Deploy(t, Robot, first, "production", "success")
				x.People.Deploy(t, Robot, second, "production", "success")
				x.People.Deploy(t, Robot, first, "staging", "success")
				got, found, err := forge.Deployed(t.Context(), "production")
				fatal(t, "deployed", err)
				if !found || got.Commit != second || got.At.IsZero() {
					t.Errorf("got %+v, %t", got, found)
				}
			},
		},
		{
			name: "Deployed translates every state", feature: deployments, hooks: hooks,
			run: func(t *testing.T, x *fixture) {
				commit := x.push(t, "image: web:2\n")
				for _, state := range slices.Sorted(maps.Keys(x.Deployment)) {
					x.People.Deploy(t, Robot, commit, "env/"+state, state)
					got, found, err := x.repo.(scm.Deployments).Deployed(t.Context(), "env/"+state)
					fatal(t, "deployed", err)
					if !found || got.Status != x.Deployment[state] {
						t.Errorf("%s is %s, want %s", state, got.Status, x.Deployment[state])
					}
				}
			},
		},
	}
}
