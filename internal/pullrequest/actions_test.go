package pullrequest_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/config/setting"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// A pull request offers what has an effect in its current state, and nothing else.
func TestBody_actionsOfTheState(t *testing.T) {
	t.Parallel()
	shop := func(change func(*pullrequest.Page)) pullrequest.Page {
		p := aPage(map[string][]promotion.Move{"shop": {aMove("web", "1.4.1", "1.4.2")}})
		p.Comments = &pullrequest.Comments{}
		change(&p)
		return p
	}
	held := func(rule promotion.Rule, environment, application string) pullrequest.Page {
		return shop(func(p *pullrequest.Page) {
			p.Environment.Land, p.Step = setting.LandAutomerge, propose.StepKeep
			p.Reason = promotion.Reason{Rule: rule, Message: "on hold by ann", Scope: state.Target{Environment: environment, Application: application}}
		})
	}
	gates := func(land setting.Land, states ...promotion.ConditionState) pullrequest.Page {
		return shop(func(p *pullrequest.Page) {
			p.Environment.Land = land
			for _, state := range states {
				p.Gates = append(p.Gates, promotion.Condition{Name: "check ci", State: state})
			}
		})
	}
	const deploy, automatic = "**Merge** this pull request to deploy these versions", "**Merge:** promoter merges this pull request"
	tests := []struct {
		name          string
		page          pullrequest.Page
		has, mustMiss []string
	}{
		{"a user merges", gates(setting.LandPR), []string{deploy + ".", "`/promoter hold`", "promoter hold --env staging"}, []string{automatic, "end the hold"}},
		{"a user merges later", gates(setting.LandPR, promotion.Pending), []string{deploy + ", when all gates have passed."}, []string{automatic}},
		{"promoter merges", gates(setting.LandAutomerge, promotion.Passed), []string{automatic + "."}, []string{deploy}},
		{"promoter merges later", gates(setting.LandAutomerge, promotion.Pending), []string{automatic + " when all gates have passed."}, []string{deploy}},
		{"promoter cannot merge", gates(setting.LandAutomerge, promotion.Blocked), []string{"promoter cannot merge"}, []string{deploy, automatic}},
		{
			"on hold", held(promotion.RuleHeld, "staging", "shop"),
			[]string{"**Paused:** on hold by ann.", "| end the hold | `/promoter resume` | `promoter resume --env staging --app shop` |"},
			[]string{deploy, automatic, "promoter hold"},
		},
		{
			"the environment is on hold", held(promotion.RuleHeld, "staging", state.All),
			[]string{"| end the hold |  | `promoter resume --env staging` |"},
			[]string{"/promoter resume", "promoter hold"},
		},
		{
			"frozen", held(promotion.RuleFrozen, state.All, state.All),
			[]string{"| end the freeze |  | `promoter thaw --all` |"},
			[]string{"resume |", "promoter hold", automatic},
		},
		{"the record cannot be read", held(promotion.RuleHeld, "", ""), []string{"**Paused:**"}, []string{"end the", "promoter hold"}},
		{
			"rolled back", shop(func(p *pullrequest.Page) { p.Decisions[0].Reason.Rule = promotion.RuleRollback }),
			[]string{"| cancel the rollback | `/promoter resume` |", deploy, "- **Close** it to cancel the rollback; the hold stays until `resume`."},
			[]string{"promoter reject", "promoter rollback", "promoter hold"},
		},
		{
			"a registry does not answer", shop(func(p *pullrequest.Page) {
				p.Environment.Land, p.Step, p.Reason = setting.LandAutomerge, propose.StepKeep, promotion.Reason{Rule: promotion.RuleRegistry, Message: "web: 503"}
			}),
			[]string{"**Not updated:** web: 503.", "promoter hold"},
			[]string{automatic, deploy},
		},
		{"no comments", shop(func(p *pullrequest.Page) { p.Comments = nil }), []string{"| to | run |", "promoter hold"}, []string{"/promoter"}},
		{
			"no user can be recognized", shop(func(p *pullrequest.Page) { p.Comments.OnlyNamed, p.Comments.Promote = true, []string{"prod"} }),
			[]string{"| to | run |", "promoter hold", "promoter promote --to prod"},
			[]string{"/promoter"},
		},
		{
			"only named users can be recognized", shop(func(p *pullrequest.Page) {
				p.Comments.OnlyNamed, p.Comments.Allowed = true, map[verb.Verb][]string{verb.Hold: {"ann"}}
			}),
			[]string{"| `/promoter hold` | `ann` |", "`/promoter explain`", "| end a hold |  |  | `promoter resume"},
			[]string{"`/promoter resume`", "`/promoter reject"},
		},
		{"nothing to request", gates(setting.LandPR), nil, []string{"/promoter promote", "who may comment"}},
		{
			"a request", shop(func(p *pullrequest.Page) { p.Comments.Promote = []string{"prod"} }),
			[]string{"| after the merge: request the promotion to `prod` | `/promoter promote prod` | `promoter promote --to prod --app shop` |"},
			nil,
		},
		{
			"permissions", shop(func(p *pullrequest.Page) {
				p.Comments.Allowed = map[verb.Verb][]string{verb.Hold: {"team:acme/sre", "eve|@all"}, verb.Reject: {}}
			}),
			[]string{"`team:acme/sre`, `eve\\|@\u200ball`", "| `/promoter resume` | users with write access |", "| `/promoter reject REASON` | users named by `permissions` |"},
			nil,
		},
		{
			"many versions", shop(func(p *pullrequest.Page) {
				for _, name := range []string{"a", "b", "c", "d"} {
					p.Decisions[0].Moves = append(p.Decisions[0].Moves, aMove(name, "1", "2"))
				}
			}),
			[]string{"`promoter reject IMAGE... --all`"},
			nil,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			body := pullrequest.Body(test.page)
			for _, part := range test.has {
				if !strings.Contains(body, part) {
					t.Errorf("no %q in:\n%s", part, body)
				}
			}
			for _, part := range test.mustMiss {
				if strings.Contains(body, part) {
					t.Errorf("%q in:\n%s", part, body)
				}
			}
		})
	}
}

// many is a pull request whose tables and lists are all long.
func many(applications int) pullrequest.Page {
	moves := map[string][]promotion.Move{}
	for i := range applications {
		to := "1.4.2"
		switch {
		case i == 0:
			to = "2.0.0"
		case i%5 == 1:
			to = "1.5.0"
		}
		moves[fmt.Sprintf("application-%d", i)] = []promotion.Move{aMove("web", "1.4.1", to)}
	}
	p := aPage(moves)
	p.Group = true
	for i := range p.Decisions {
		p.Decisions[i].Conditions = []promotion.Condition{{Name: "settle", State: promotion.Passed}}
		p.Gates = append(p.Gates, promotion.Condition{Name: fmt.Sprintf("check `%d`", i), State: promotion.Pending})
	}
	comparison := scm.Comparison{URL: "https://github.com/acme/web/compare/a...b?x=1&y=2"}
	for range 40 {
		comparison.Commits = append(comparison.Commits, scm.Commit{ID: "abc", Message: "</details> & more"})
	}
	known := image.Description{Revision: "a"}
	p.Changes = map[pullrequest.ChangeKey]pullrequest.Change{pullrequest.KeyOf(p.Decisions[0].Moves[0]): {
		From: known, To: image.Description{Revision: "b"}, Source: scm.Change{Comparison: comparison},
	}}
	return p
}

// What is long is folded, with a summary of what it contains.
func TestBody_foldsWhatIsLong(t *testing.T) {
	t.Parallel()
	body := pullrequest.Body(many(12))
	for _, part := range []string{
		"<summary>12 changes in 12 applications: 1 major, 3 minor, 8 patch</summary>",
		`<summary><code>web</code>: 40 commits (<a href="https://github.com/acme/web/compare/a...b?x=1&amp;y=2">compare</a>)</summary>`,
		"<summary>Why: the reasons of 12 applications</summary>",
		"<summary>Conditions: 12 of 12 passed</summary>",
		"<summary>Merge gates: 0 of 12 passed; waiting for <code>check '0'</code>, <code>check '1'</code>, <code>check '2'</code> and 9 more</summary>",
	} {
		if !strings.Contains(body, "<details>\n"+part+"\n\n") {
			t.Errorf("no %q in:\n%s", part, body)
		}
	}
	if !folded(body) {
		t.Errorf("not balanced:\n%s", body)
	}
}

// folded reports whether everything that begins to be folded ends too.
func folded(body string) bool {
	open := false
	for line := range strings.Lines(body) {
		switch strings.TrimSpace(line) {
		case "<details>":
			if open {
				return false
			}
			open = true
		case "</details>":
			if !open {
				return false
			}
			open = false
		}
	}
	return !open
}

// A body that is cut has no open fold, so that text of users below it stays visible.
func TestMergeBody_closesFolds(t *testing.T) {
	t.Parallel()
	ours := pullrequest.Body(many(12))
	for room := 500; room < len(ours); room += 7 {
		theirs := strings.Repeat("x", 65_536-room)
		got := pullrequest.MergeBody(beginMarker+endMarker+theirs, ours)
		body := strings.TrimSuffix(got, theirs)
		if n := len([]rune(got)); n > 65_536 || !strings.HasSuffix(body, endMarker) || !folded(body) {
			t.Fatalf("%d runes, with room for %d:\n%s", n, room, body)
		}
	}
}
