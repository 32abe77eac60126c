package pullrequest_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose/proposetest"
	"promoter/internal/pullrequest"
	"promoter/internal/state"
)

// Rollbacks, then what was requested, then closes, then the others.
func TestPlan_order(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain).WithForge()
	w.OpenPullRequest("promoter/qa/shop", 7, nil)
	var decisions []promotion.Decision
	decide := func(environment, application string, rule promotion.Rule, request *state.Request) {
		decisions = append(decisions, promotion.Decision{
			Target: promotion.Target{Environment: environment, Application: application},
			State:  promotion.Proposed, Reason: promotion.Reason{Rule: rule, Message: "wanted"}, Request: request,
		})
	}
	decide("prod", "a", promotion.RuleParent, nil)
	decide("staging", "b", promotion.RuleRollback, nil)
	decide("dev", "d", promotion.RuleNewer, nil)
	decide("dev", "c", promotion.RuleNewer, nil)
	decide("prod", "e", promotion.RuleParent, &state.Request{})
	want := []string{
		"propose promoter/staging/b [staging/b]: wanted",
		"propose promoter/prod/e [prod/e]: wanted",
		"close promoter/qa/shop []: environment qa is no longer in the config",
		"propose promoter/dev/c [dev/c]: wanted",
		"propose promoter/dev/d [dev/d]: wanted",
		"propose promoter/prod/a [prod/a]: wanted",
	}
	got := proposetest.Summaries(propose.Plan(w.Observation, decisions, promotiontest.Noon))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPlan_pullRequestLimit(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  dev: {paths: ["dev/{application}"], pullRequest: {limit: 3}}
`).WithForge()
	w.Publish("web:1.5@" + promotiontest.DigestB)
	for i := range 10 {
		w.Has(fmt.Sprintf("dev/app-%d", i), "web:1.4@"+promotiontest.DigestA)
	}
	w.OpenPullRequest("promoter/dev/app-8", 8, promotiontest.SnapshotsOf("app-8", "web:1.5@"+promotiontest.DigestB)) // is open already
	w.OpenPullRequest("promoter/dev/app-x", 9, promotiontest.SnapshotsOf("app-x", "web:1.5@"+promotiontest.DigestB)) // makes room
	want := []string{
		"close promoter/dev/app-x []: no environment has files of app-x",
		"propose promoter/dev/app-0 [dev/app-0]: newer: web 1.4 -> 1.5",
		"propose promoter/dev/app-1 [dev/app-1]: newer: web 1.4 -> 1.5",
	}
	for i := range 6 {
		want = append(want, fmt.Sprintf("wait promoter/dev/app-%d [dev/app-%[1]d]: %s in the queue: 3 of 3 pull requests are open", i+2, []string{"1st", "2nd", "3rd", "4th", "5th", "6th"}[i]))
	}
	want = append(want, "propose promoter/dev/app-8 [dev/app-8]: newer: web 1.4 -> 1.5",
		"wait promoter/dev/app-9 [dev/app-9]: 7th in the queue: 3 of 3 pull requests are open")
	proposals := proposetest.Plan(w)
	if diff := cmp.Diff(want, proposetest.Summaries(proposals)); diff != "" {
		t.Error(diff)
	}
	last := proposals[len(proposals)-1]
	if d := last.Decisions[0]; d.State != promotion.Waiting || d.Reason.Rule != promotion.RuleLimit {
		t.Errorf("%s: %s: what waits in line is not proposed", d.State, d.Reason)
	}
	reply := pullrequest.ReplyBody(pullrequest.CommandReply{Reply: state.Reply{Command: "explain", Reaction: "done"}, Proposals: proposals[len(proposals)-1:]})
	if !strings.Contains(reply, "`app-9` in `dev` is *waiting*: 7th in the queue: 3 of 3 pull requests are open.") {
		t.Errorf("the reply has no position:\n%s", reply)
	}
	planned := w.Plan(promotiontest.Noon)
	var queued []string
	for i, d := range propose.Queued(planned, proposals) {
		if planned[i].State != promotion.Proposed {
			t.Errorf("%s is %s: only what is shown has the position", planned[i].Application, planned[i].State)
		}
		if d.State == promotion.Waiting {
			queued = append(queued, d.Application+" "+d.Reason.Message)
		}
	}
	if len(queued) != 7 || queued[6] != "app-9 7th in the queue: 3 of 3 pull requests are open" {
		t.Errorf("in the queue: %q", queued)
	}
}

func TestPlan_positionInTheQueue(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  dev: {paths: ["dev/{application}"], pullRequest: {limit: 1}}
`).WithForge()
	w.Publish("web:1.5@" + promotiontest.DigestB)
	for i := range 125 {
		w.Has(fmt.Sprintf("dev/app-%03d", i), "web:1.4@"+promotiontest.DigestA)
	}
	proposals := proposetest.Plan(w)
	for position, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th", 122: "122nd"} {
		if got := proposals[position].Reason.Message; got != want+" in the queue: 1 of 1 pull requests are open" {
			t.Errorf("%q, want %s", got, want)
		}
	}
}

// The first pass over 200 applications opens no storm.
func TestPlan_firstReconciliation(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain).WithForge()
	w.Publish("web:1.5@" + promotiontest.DigestB)
	for i := range 200 {
		w.Has(fmt.Sprintf("dev/app-%03d", i), "web:1.4@"+promotiontest.DigestA)
	}
	opened := 0
	for _, p := range proposetest.Plan(w) {
		if p.Step == propose.StepPropose {
			opened++
		}
	}
	if opened != 20 {
		t.Errorf("%d are opened, want the limit of 20", opened)
	}
}
