package simulate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/simulate"
	"promoter/internal/state"
)

// chain is pushed to dev; prod follows on a condition.
const chain = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.txt"], land: push}
  staging: {paths: ["staging/{application}.txt"], after: [dev], land: push}
  prod: {paths: ["prod/{application}.txt"], after: {staging: {soak: 1h}}, land: automerge}
`

// stories are worlds in which users decide.
type stories struct {
	*testing.T
	*reconciletest.World
}

func (s stories) reconcile() outcome.Report {
	s.Helper()
	report, err := s.Reconciler().Reconcile(s.Context())
	if err != nil || report.Failed() {
		s.Fatalf("%v, %+v %s", err, report.Errors, report.Unusable)
	}
	return report
}

func (s stories) act() state.Act {
	return state.Act{By: identity.User{Host: "forge.example", Login: "ada"}, At: s.Clock.Now(), Reason: "incident 7"}
}

func (s stories) decide(changes ...state.Change) {
	s.Helper()
	branch := s.Reconciler().Clients.StateBranch()
	if _, err := branch.Record(s.Context(), "Decide", changes...); err != nil {
		s.Fatal(err)
	}
}

// replace changes a text in a file, as a user.
func (s stories) replace(path, from, to string) {
	s.Git.Commit("main", reconciletest.Human, s.Clock.Now(), "By hand", func(all map[string]string) {
		all[path] = strings.ReplaceAll(all[path], from, to)
	})
}

func written(tag string) string { return web + ":" + tag + "@" + reconciletest.Digest("web "+tag) }

func in(environment string) state.Target {
	return state.Target{Environment: environment, Application: "shop"}
}

// A simulation decides and does what the next reconciliation decides and does, under each rule about users and time.
func TestRun_agreesWithTheReconciliation(t *testing.T) {
	t.Parallel()
	images := map[string]string{"web": written("1.1.0")}
	for name, story := range map[string]struct {
		config string
		act    func(s stories)
		want   string // a reason or a note of prod, or of what has its files
	}{
		"a rollback upstream": {chain, func(s stories) {
			past, err := s.Reconciler().Past(s.Context())
			if err != nil {
				s.Fatal(err)
			}
			back, err := past.Before(s.Context(), promotion.Target(in("staging")), "")
			if err != nil {
				s.Fatal(err)
			}
			to := map[string]string{"web": back.Snapshot["web"].Reference()}
			s.decide(state.Rollback(in("staging"), state.RolledBack{Act: s.act(), Images: to, From: back.Left, Commit: back.Commit}))
			s.Clock.Add(2 * time.Hour)
		}, "up to date"},
		"a request that waits": {strings.Replace(chain, "{staging: {soak: 1h}}", "[staging], propose: manual", 1), func(s stories) {
			s.decide(state.Freeze("prod", s.act(), nil), state.AddRequest(in("prod"), state.Request{Act: s.act(), For: images}))
			s.reconcile()
			s.Registry.Push(web, "1.2.0", "web 1.2.0", s.Clock.Now())
		}, "frozen by ada"},
		"a request that ends": {strings.Replace(chain, "{staging: {soak: 1h}}", "[staging], propose: manual", 1), func(s stories) {
			s.decide(state.Freeze("prod", s.act(), nil), state.AddRequest(in("prod"), state.Request{Act: s.act(), For: images}))
			s.reconcile()
			s.decide(state.Reject(in("staging"), state.Rejection{Act: s.act(), Images: images}))
		}, "ended: staging: web 1.1.0 was rejected by ada"},
		"a renamed environment": {chain, func(s stories) {
			s.decide(state.Hold(in("prod"), s.act()))
			s.replace(repo.ConfigFile, "  prod:", "  production:")
			s.Clock.Add(2 * time.Hour)
		}, "renamed to shop in production"},
		"a revert in a renamed environment": {strings.Replace(chain, "{staging: {soak: 1h}}, land: automerge", "[staging], land: push", 1), func(s stories) {
			s.Clock.Add(time.Minute)
			s.replace("prod/shop.txt", written("1.1.0"), written("1.0.0"))
			s.replace(repo.ConfigFile, "  prod:", "  production:")
		}, "was here before and was reverted"},
		"a pull request that was reopened": {strings.Replace(chain, "{staging: {soak: 1h}}, land: automerge", "[staging], land: pr", 1), func(s stories) {
			s.Forge.CloseByHand(1, "ada")
			s.reconcile()
			s.Clock.Add(time.Minute)
			s.Forge.Reopen(1, "ada")
		}, "staging has: web 1.0.0 -> 1.1.0"},
		"a version that is replaced on the way": {strings.Replace(chain, "{staging: {soak: 1h}}, land: automerge", "[staging], land: push", 1), func(s stories) {
			s.decide(state.Hold(in("prod"), s.act()))
			s.Registry.Push(web, "1.2.0", "web 1.2.0", s.Clock.Now())
			s.reconcile()
			s.decide(state.Resume(in("prod"), s.act()))
			s.Registry.Push(web, "1.3.0", "web 1.3.0", s.Clock.Now())
		}, "up to date"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stories{t, newWorld(t, story.config)}
			s.reconcile()
			s.Clock.Add(time.Minute)
			story.act(s)
			simulated, err := simulate.Run(t.Context(), *s.Reconciler(), simulate.Options{Until: s.Clock.Now()})
			if err != nil {
				t.Fatal(err)
			}
			var would, did []string
			for _, e := range simulated.Events {
				if e.Kind == simulate.Pushed || e.Kind == simulate.Merged {
					would = append(would, e.Environment)
				}
			}
			report := s.reconcile()
			for _, e := range report.Effects {
				for _, d := range e.Decisions {
					if e.Action == outcome.ActionPushed || e.Action == outcome.ActionMerged {
						did = append(did, d.Environment)
					}
				}
			}
			slices.Sort(would)
			slices.Sort(did)
			if diff := cmp.Diff(did, would); diff != "" {
				t.Errorf("what lands (-want +got):\n%s", diff)
			}
			decided := func(report outcome.Report) (all []string) {
				for _, d := range report.Decisions {
					all = append(all, fmt.Sprint(d.Environment, " ", d.State, ": ", d.Reason, " ", d.Notes))
				}
				slices.Sort(all)
				return all
			}
			if diff := cmp.Diff(decided(report), decided(simulated.Report)); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
			found := slices.ContainsFunc(decided(report), func(text string) bool {
				return strings.HasPrefix(text, "prod") && strings.Contains(text, story.want)
			})
			if !found {
				t.Errorf("want %q in %q", story.want, decided(report))
			}
		})
	}
}
