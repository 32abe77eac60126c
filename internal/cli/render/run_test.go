package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/app"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
)

// decided is a decision about ENVIRONMENT/APPLICATION.
func decided(target string, state promotion.State, reason string) promotion.Decision {
	environment, application, _ := strings.Cut(target, "/")
	return promotion.Decision{
		Target: promotion.Target{Environment: environment, Application: application},
		State:  state, Reason: promotion.Reason{Rule: promotion.RuleNewer, Message: reason},
	}
}

// did is a proposal of one decision with what came of it.
func did(d promotion.Decision, act outcome.Action, step propose.Step) outcome.Effect {
	return outcome.Effect{
		Proposal: propose.Proposal{
			Environment: config.Environment{Name: d.Environment}, Head: "promoter/" + d.Environment + "/" + d.Application,
			Decisions: []promotion.Decision{d}, Step: step, Reason: d.Reason,
		},
		Action: act,
	}
}

// everyResult has one of everything that a run can print.
func everyResult() []app.Result {
	until := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	proposed := decided("dev/shop", promotion.Proposed, "newer: web 1 -> 2")
	proposed.Snapshot = promotion.Snapshot{"web": {Version: image.Version{Tag: "2"}}}
	proposed.Moves = []promotion.Move{{Component: "web", From: image.Version{Tag: "1"}, To: image.Version{Tag: "2", Digest: "sha256:2"}}}
	pushed := did(proposed, outcome.ActionPushed, propose.StepPush)
	pushed.Commit, pushed.Land = "4f3a1b29c0d1e2f3a4b5c6d7e8f90a1b2c3d4e5f", true

	waiting := decided("prod/shop", promotion.Waiting, "prod soak")
	waiting.Reason.Until = until
	waiting.Conditions = []promotion.Condition{{Name: "staging soak", State: promotion.Pending, Reason: "3h left", Value: "24h", Until: &until}}
	opened := did(waiting, outcome.ActionOpened, propose.StepPropose)
	opened.Number, opened.URL = 5, "https://github.com/acme/gitops/pull/5"
	opened.Gates = []promotion.Condition{
		{Name: "approvals", State: promotion.Pending, Value: "2 required"},
		{Name: "windows office", State: promotion.Passed},
		{Name: "merge queue", State: promotion.Blocked, Reason: "main takes changes only through its merge queue", Forge: true},
	}
	foreign := did(decided("prod/blog", promotion.Proposed, "dev has: web 1 -> 2"), outcome.ActionNone, propose.StepKeep)
	foreign.Open = &promotion.Open{Number: 6, URL: "https://github.com/acme/gitops/pull/6", Foreign: "ann pushed to it"}
	failed := did(decided("prod/wiki", promotion.Proposed, "dev has: web 1 -> 2"), outcome.ActionNone, propose.StepPropose)
	failed.Err = fault.New(fault.Unauthorized, "protected branch\nhook declined")
	group := did(decided("live/a", promotion.Proposed, "x"), outcome.ActionMerged, propose.StepPropose)
	group.Group, group.Number, group.Commit = true, 7, "aaaaaaaaaaaaaaaa"
	group.Decisions = append(group.Decisions, decided("live/b", promotion.Proposed, "x"))
	closed := did(decided("live/c", promotion.Same, "already up to date"), outcome.ActionClosed, propose.StepClose)
	closed.Decisions, closed.Number = nil, 8

	reported := outcome.Report{
		Repository: "github.com/1", Name: "acme/renamed",
		Decisions: []promotion.Decision{
			proposed, decided("dev/evil\x1b[2J", promotion.Rejected, "web 2 was rejected by ann"),
			waiting, foreign.Decisions[0], failed.Decisions[0], decided("prod/off", promotion.Refused, "a.yaml:3: not valid YAML"),
			group.Decisions[0], group.Decisions[1],
		},
		Effects: []outcome.Effect{pushed, opened, foreign, failed, group, closed},
		Errors:  []repo.PartialError{{What: "component web", Err: fault.New(fault.Temporary, "the registry does not answer")}},
	}
	for i := range 12 {
		reported.Decisions = append(reported.Decisions, decided(fmt.Sprintf("many/app-%d", i), promotion.Same, "already up to date"))
	}
	return []app.Result{
		{Repository: "acme/gitops", Report: reported},
		{Repository: "acme/archived", Report: outcome.Report{Repository: "github.com/2", Name: "acme/archived", Unusable: "the repository is archived: unarchive it"}},
		{Repository: "acme/later", Unfinished: true},
		{Repository: "acme/gone", Err: errors.Join(fault.New(fault.NotFound, "repository acme/gone: not found"), errors.New("and more"))},
	}
}

func TestRunText_golden(t *testing.T) {
	t.Parallel()
	results := everyResult()
	golden(t, "run.txt", Report{}.Results(results))
	golden(t, "run.color.txt", Report{Paint: true}.Results(results))
	golden(t, "run.dry.txt", Report{DryRun: true}.Results(results))
	prod := func(target promotion.Target) bool { return target.Environment == "prod" }
	golden(t, "explain.txt", Report{DryRun: true, Details: true, Wanted: prod}.Results(results))
}

func TestRunJSON_golden(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := writeJSON(&out, ReportJSON(everyResult(), nil)); err != nil {
		t.Fatal(err)
	}
	golden(t, "run.json", out.String())
	var empty bytes.Buffer
	if err := writeJSON(&empty, ReportJSON(nil, nil)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("{\n  \"schema\": 1,\n  \"repositories\": []\n}\n", empty.String()); diff != "" {
		t.Error(diff)
	}
}

func TestRunMessages_golden(t *testing.T) {
	t.Parallel()
	var words bytes.Buffer
	PrintFailures(&words, everyResult(), "json")
	PrintRunSummary(&words, everyResult(), false)
	PrintRunSummary(&words, everyResult()[:1], true)
	PrintRunSummary(&words, nil, false)
	golden(t, "run.words.txt", words.String())
}

// The page documents the keys of the JSON forms.
func TestDocument_runJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := writeJSON(&out, ReportJSON(everyResult(), nil)); err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(out.Bytes(), &value); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/reference/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keysOf(value) {
		if !regexp.MustCompile("[`.{ ]" + regexp.QuoteMeta(key) + "[`,}[]").Match(page) {
			t.Errorf("docs/reference/json.md does not say %s", key)
		}
	}
}

func keysOf(value any) []string {
	var keys []string
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			keys = append(append(keys, key), keysOf(inner)...)
		}
	case []any:
		for _, inner := range value {
			keys = append(keys, keysOf(inner)...)
		}
	}
	return keys
}
