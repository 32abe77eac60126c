package outcome_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/outcome"
)

// What ends an effect that changed nothing.
func TestAwaits(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	proposal := func(step propose.Step, rule promotion.Rule) propose.Proposal {
		return propose.Proposal{Step: step, Reason: promotion.Reason{Rule: rule}, Open: &promotion.Open{}}
	}
	land := proposal(propose.StepPropose, promotion.RuleParent)
	land.Land = true
	until := proposal(propose.StepWait, promotion.RuleCondition)
	until.Reason.Until = at
	window := proposal(propose.StepPropose, promotion.RuleParent)
	window.Gates = []promotion.Condition{{Name: "windows", Until: &at}}
	for name, test := range map[string]struct {
		effect outcome.Effect
		want   outcome.Awaited
	}{
		"it did something":     {outcome.Effect{Proposal: land, Action: outcome.ActionMerged}, outcome.AwaitsChange},
		"it would":             {outcome.Effect{Proposal: land, Planned: true}, outcome.AwaitsChange},
		"it failed":            {outcome.Effect{Proposal: land, Err: errors.New("down")}, outcome.AwaitsRetry},
		"the forge defers it":  {outcome.Effect{Proposal: land, Deferred: true}, outcome.AwaitsTime},
		"nothing was done":     {outcome.Effect{Proposal: land}, outcome.AwaitsNothing},
		"it was not closed":    {outcome.Effect{Proposal: proposal(propose.StepClose, promotion.RuleGone)}, outcome.AwaitsNothing},
		"it soaks":             {outcome.Effect{Proposal: until}, outcome.AwaitsTime},
		"its window is closed": {outcome.Effect{Proposal: window}, outcome.AwaitsTime},
		"a user merges":        {outcome.Effect{Proposal: proposal(propose.StepPropose, promotion.RuleParent)}, outcome.AwaitsPull},
		"a user has it":        {outcome.Effect{Proposal: proposal(propose.StepKeep, promotion.RuleForeign)}, outcome.AwaitsPull},
		"it is on hold":        {outcome.Effect{Proposal: proposal(propose.StepWait, promotion.RuleHeld)}, outcome.AwaitsUser},
		"a file is refused":    {outcome.Effect{Proposal: proposal(propose.StepWait, promotion.RuleRefused)}, outcome.AwaitsFiles},
	} {
		if test.effect.Action == "" {
			test.effect.Action = outcome.ActionNone
		}
		if got := test.effect.Awaits(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Each rule that may block names what ends it.
func TestAwaits_everyRule(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../../promotion/reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rules := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || len(spec.Values) != 1 {
			return true
		}
		value, is := spec.Values[0].(*ast.BasicLit)
		if !is || !strings.HasPrefix(spec.Names[0].Name, "Rule") {
			return true
		}
		rules++
		rule := promotion.Rule(strings.Trim(value.Value, `"`))
		waits := propose.Proposal{Step: propose.StepWait, Reason: promotion.Reason{Rule: rule}}
		if (outcome.Effect{Proposal: waits, Action: outcome.ActionNone}).Awaits() == outcome.AwaitsNothing {
			t.Errorf("nothing ends %s", rule)
		}
		return true
	})
	if rules < 30 {
		t.Errorf("found %d rules", rules)
	}
}
