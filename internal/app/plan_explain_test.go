package app_test

import (
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/checkout"
	"promoter/internal/decision"
	"promoter/internal/git/gittest"
	"promoter/internal/identity"
	"promoter/internal/outbound"
	"promoter/internal/promotion"
	"promoter/internal/reconcile"
	"promoter/internal/registry"
	"promoter/internal/verb"
)

// A plan in a clone states what an explanation of the repository states, under each decision of a user.
func TestPlan_statesWhatExplainStates(t *testing.T) {
	t.Parallel()
	staging := decision.Decision{Environment: "staging", Application: "shop", Reason: "slow"}
	prod := decision.Decision{Environment: "prod", Application: "shop", Reason: "slow"}
	with := func(d decision.Decision, v verb.Verb, images ...string) decision.Decision {
		d.Verb, d.Images = v, images
		return d
	}
	for name, test := range map[string]struct {
		decisions []decision.Decision
		rule      promotion.Rule // of prod
	}{
		"hold":                     {[]decision.Decision{with(prod, verb.Hold)}, promotion.RuleHeld},
		"freeze":                   {[]decision.Decision{{Verb: verb.Freeze, Environment: "prod", Reason: "holidays"}}, promotion.RuleFrozen},
		"reject":                   {[]decision.Decision{with(prod, verb.Reject, "web:1.1.0")}, promotion.RuleRejected},
		"rollback upstream":        {[]decision.Decision{with(staging, verb.Rollback)}, promotion.RuleLeftUpstream},
		"rejected, then allowed":   {[]decision.Decision{with(prod, verb.Reject, "web:1.1.0"), with(prod, verb.Unreject, "web:1.1.0")}, ""},
		"on hold, then resumed":    {[]decision.Decision{with(prod, verb.Hold), with(prod, verb.Resume)}, ""},
		"rolled back, and resumed": {[]decision.Decision{with(staging, verb.Rollback), with(staging, verb.Resume)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "github", reviewed)
			s.cache = filepath.Join(s.dir, "cache")
			s.releaseAndRun("web", "1.1.0")
			s.repo.Pulls.Merge("ada", 1, "merge")
			s.run()
			for _, one := range test.decisions {
				s.wait(time.Minute)
				s.decide(one)
			}
			s.run()
			results, err := app.Explain(t.Context(), s.server, app.RunOptions{CacheDir: s.cache}, reconcile.Question{Environment: "prod"})
			if err != nil || results[0].Err != nil {
				t.Fatal(err, results)
			}
			explained := decisionIn(results[0].Report, "prod")
			planned := s.planned("prod")
			if test.rule != "" && (explained.Reason.Rule != test.rule || explained.Reason.Message != planned.Reason.Message) || explained.State != planned.State {
				t.Errorf("prod is %s: %s; a plan states %s: %s", explained.State, explained.Reason.Message, planned.State, planned.Reason.Message)
			}
			if test.rule != planned.Reason.Rule && test.rule != "" || len(planned.Moves) != len(explained.Moves) {
				t.Errorf("a plan states %s, %v, want %s, %v", planned.Reason.Rule, planned.Moves, test.rule, explained.Moves)
			}
		})
	}
}

// planned returns what a plan in a new clone states about an environment.
func (s *story) planned(environment string) promotion.Decision {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "clone")
	gittest.Exec(s.t, "", "clone", "--quiet", s.repo.Git.Dir(), dir)
	guarded, err := outbound.New(outbound.Options{AllowLoopback: true, Now: s.clock.Now})
	if err != nil {
		s.t.Fatal(err)
	}
	registries, err := registry.New(registry.Options{Outbound: guarded, Now: s.clock.Now})
	if err != nil {
		s.t.Fatal(err)
	}
	opened, err := checkout.Open(dir, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	preview, err := opened.Plan(s.t.Context(), checkout.Options{Versions: registries.For(identity.RepositoryKey("")), Now: s.clock.Now})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, target := range preview.Targets {
		if target.Environment == environment && target.Application == "shop" {
			return target.Decision
		}
	}
	s.t.Fatalf("the plan has no %s", environment)
	return promotion.Decision{}
}
