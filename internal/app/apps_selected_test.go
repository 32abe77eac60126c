package app_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"promoter/internal/decision"
	"promoter/internal/verb"

	"promoter/internal/fault"
	"promoter/internal/reconcile/outcome"
)

func TestRun_namedRepositoriesOfAnApp(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/gitops", webIn("push"))
	o.repository("acme/second", webIn("push"))
	o.repository("acme/docs", map[string]string{"README": "words"})
	o.repository("globex/gitops", webIn("push"))
	o.repository("initech/gitops", webIn("push"))
	o.app.Install("acme")
	initech := o.app.Install("initech")
	initech.Suspend()
	results := o.run("repositories:\n  - {forge: github, name: acme/gitops}\n  - {forge: github, name: acme/docs}\n" +
		"  - {forge: github, name: globex/gitops}\n  - {forge: github, name: initech/gitops}\n")
	if got := did(results["acme/gitops"]); got != fmt.Sprint([]outcome.Action{outcome.ActionPushed}) {
		t.Errorf("acme/gitops: %s", got)
	}
	if _, there := results["acme/second"]; there || len(results) != 4 {
		t.Errorf("what is not named is worked on: %v", slices.Sorted(maps.Keys(results)))
	}
	for name, words := range map[string]string{
		"acme/docs":      "there is no .promoter.yaml on main",
		"globex/gitops":  "the App promoter is not installed on it: an owner of globex installs it at " + o.github.URL() + "/apps/promoter/installations/new",
		"initech/gitops": "is suspended: an owner of initech lets it work again at",
	} {
		if got := did(results[name]); !strings.Contains(got, words) {
			t.Errorf("%s: %s, want %q", name, got, words)
		}
	}
}

func TestRun_oneRepositoryOfAnApp(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/gitops", webIn("push"))
	o.repository("acme/second", webIn("push"))
	o.app.Install("acme")
	results := o.run("", "acme/second", "github:acme/second")
	if len(results) != 1 || did(results["acme/second"]) != fmt.Sprint([]outcome.Action{outcome.ActionPushed}) {
		t.Errorf("got %v", results)
	}
	if n := o.github.Traffic.Requests()["GET /installation/repositories"]; n != 1 { // by which the token is checked
		t.Errorf("the repositories were listed %d times", n)
	}
	if _, err := o.open("", "gitlab:acme/second"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("on a forge that is not there: %v", err)
	}
	server, err := o.open("")
	if err != nil {
		t.Fatal(err)
	}
	_, err = decision.Record(t.Context(), server, decision.Decision{Verb: verb.Hold, Environment: "dev"}, "")
	if err == nil || !strings.Contains(err.Error(), "name it with --repo") {
		t.Errorf("an order to all: %v", err)
	}
}
