package pullrequest_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/verb"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata")

// aMove moves a component between two tags, with all that is known of the second.
func aMove(component, from, to string) promotion.Move {
	return promotion.Move{
		Component: component,
		From:      image.Version{Tag: from, Digest: promotiontest.DigestA, Revision: strings.Repeat("a", 40)},
		To: image.Version{
			Tag: to, Version: to, Digest: promotiontest.DigestB, Revision: strings.Repeat("b", 40),
			Created: time.Date(2026, 11, 17, 23, 30, 0, 0, time.FixedZone("", 3600)),
		},
	}
}

// aPage is a pull request of applications, each with its moves.
func aPage(moves map[string][]promotion.Move) pullrequest.Page {
	p := pullrequest.Page{Proposal: propose.Proposal{
		Environment: config.Environment{Name: "staging", Settings: setting.Settings{Land: setting.LandPR}}, Step: propose.StepPropose,
	}}
	for _, application := range slices.Sorted(maps.Keys(moves)) {
		d := promotion.Decision{
			Target: promotion.Target{Environment: "staging", Application: application}, State: promotion.Proposed,
			Reason: promotion.Reason{Rule: promotion.RuleParent, Message: "dev has: web 1.4.1 -> 1.4.2"},
			Moves:  moves[application], Snapshot: promotion.Snapshot{},
		}
		for _, m := range moves[application] {
			d.Snapshot[m.Component] = promotion.Pinned{Repository: promotiontest.Repository("web"), Version: m.To}
		}
		p.Decisions = append(p.Decisions, d)
	}
	return p
}

// full is a pull request with everything that one can tell.
func full() pullrequest.Page {
	p := aPage(map[string][]promotion.Move{"shop": {aMove("web", "1.4.1", "1.4.2"), aMove("worker", "2.0.0", "2.1.0")}})
	p.Environment.Land = setting.LandAutomerge
	p.Comments = &pullrequest.Comments{Allowed: map[verb.Verb][]string{verb.Reject: {"team:acme/sre", "eve"}}, Promote: []string{"prod"}}
	p.Environment.PullRequest.Body = "Runbook: https://example.com/runbook of {application} {version}"
	opens := time.Date(2026, 11, 19, 8, 0, 0, 0, time.UTC)
	p.Decisions[0].Conditions = []promotion.Condition{
		{Name: "dev soak", State: promotion.Passed, Value: "1h", Reason: "present since 2026-11-18T09:00:00Z"},
		{Name: "dev check e2e", State: promotion.Passed},
	}
	p.Gates = []promotion.Condition{
		{Name: "windows office", State: promotion.Pending, Reason: "office is closed", Until: &opens},
		{Name: "approvals", State: promotion.Pending, Value: "1 of 2", Reason: "not approved yet by team:acme/sre"},
	}
	web, worker := p.Decisions[0].Moves[0], p.Decisions[0].Moves[1]
	platforms := []string{"linux/amd64", "linux/arm64"}
	p.Changes = map[pullrequest.ChangeKey]pullrequest.Change{
		pullrequest.KeyOf(web): {
			From: image.Description{Revision: web.From.Revision, Size: 43_000_000, Platform: "linux/amd64", Platforms: []string{"linux/amd64", "linux/386"}},
			To:   image.Description{Revision: web.To.Revision, Size: 44_153_433, Platform: "linux/amd64", Platforms: platforms},
			Source: scm.Change{
				Source: "github.com/acme/web", URL: "https://github.com/acme/web",
				Comparison: scm.Comparison{
					Commits: []scm.Commit{
						{ID: strings.Repeat("c", 40), Message: "Close the cart when empty\n\nLong story.", Author: "Ben"},
						{ID: strings.Repeat("b", 40), Message: "Show the price (#12)", Author: "Ann", PullRequest: scm.PullLink{Number: 12, URL: "https://github.com/acme/web/pull/12"}},
					},
					Total: 7, URL: "https://github.com/acme/web/compare/aaaaaaa...bbbbbbb",
				},
				Release: scm.Release{Tag: "v1.4.2", URL: "https://github.com/acme/web/releases/tag/v1.4.2", Notes: "<!-- generated -->\n## What's changed\n\n* Show the price by @ann in #12\n* Close the cart\n\n---\n/close"},
			},
			Others: []pullrequest.Other{{Environment: "dev", Since: time.Date(2026, 11, 18, 9, 0, 0, 0, time.UTC), PullRequest: "#27"}, {Environment: "test"}},
		},
		pullrequest.KeyOf(worker): {To: image.Description{Size: 10_000}},
	}
	return p
}

// alone is a pull request of one component of which little is known, as a rollback.
func alone() pullrequest.Page {
	p := aPage(map[string][]promotion.Move{"shop": {aMove("web", "1.4.2", "1.4.1")}})
	change := full().Changes[pullrequest.KeyOf(aMove("web", "1.4.1", "1.4.2"))]
	change.Source.Removes = true
	p.Changes = map[pullrequest.ChangeKey]pullrequest.Change{pullrequest.KeyOf(p.Decisions[0].Moves[0]): change}
	return p
}

// unread is a pull request of one component whose source is not read.
func unread() pullrequest.Page {
	p := aPage(map[string][]promotion.Move{"shop": {aMove("web", "1.4.1", "1.4.2")}})
	p.Changes = map[pullrequest.ChangeKey]pullrequest.Change{pullrequest.KeyOf(p.Decisions[0].Moves[0]): {
		From: image.Description{Revision: "a", Size: 5 << 20}, To: image.Description{Revision: "b", Size: 4 << 20},
		Source: scm.Change{Unread: "the server file has no forge gitlab.com", Comparison: scm.Comparison{URL: "https://gitlab.com/acme/web/-/compare/a...b"}},
	}}
	return p
}

// hostile is full of text that wants to do something.
func hostile() pullrequest.Page {
	p := full()
	attack := "Fix #12 for @acme/everyone <img src=x onerror=alert(1)> `code` | [x](https://evil.example) --> <!-- promoter:end -->\r\n/close \u202eevil"
	d := &p.Decisions[0]
	d.Moves[0].From.Tag, d.Moves[0].To.Tag = attack, "1.4.2"+attack
	d.Reason.Message = "requested by " + attack
	d.Conditions[0].Reason, d.Conditions[0].Value, d.Conditions[0].Name = attack, attack, attack
	p.Changes = map[pullrequest.ChangeKey]pullrequest.Change{
		pullrequest.KeyOf(d.Moves[0]): {
			From: image.Description{Revision: attack, Platforms: []string{attack}}, To: image.Description{Revision: "x" + attack, Size: 1, Platform: attack, Platforms: []string{"x" + attack}},
			Source: scm.Change{
				Comparison: scm.Comparison{
					URL:     "https://github.com/x) @everyone",
					Commits: []scm.Commit{{Message: attack, ID: "`@x`", Author: attack, PullRequest: scm.PullLink{Number: 1, URL: attack}}},
				},
				Release: scm.Release{Tag: attack, URL: "https://github.com/acme/web/releases/tag/x", Notes: attack + "\n" + attack + "\n# " + attack + "\n- " + attack},
			},
			Others: []pullrequest.Other{{Environment: "dev"}},
		},
		pullrequest.KeyOf(d.Moves[1]): {Unread: attack},
	}
	return p
}

// rewritten writes the same versions in another form.
func rewritten() pullrequest.Page {
	web, worker := aMove("web", "1.4.2", "1.4.2"), aMove("worker", "latest", "2.1.0")
	web.From.Digest, web.Form = "", promotion.FormPinned
	worker.To.Digest, worker.Form = worker.From.Digest, promotion.FormRelabeled
	p := aPage(map[string][]promotion.Move{"shop": {web, worker}})
	p.Decisions[0].Reason = promotion.Reason{Rule: promotion.RuleForm, Message: web.String() + ", " + worker.String()}
	return p
}

func group() pullrequest.Page {
	p := aPage(map[string][]promotion.Move{
		"blog": {aMove("web", "1.4.1", "1.4.2")}, "shop": {aMove("web", "1.4.0", "1.4.2"), aMove("worker", "", "2.1.0")},
		"docs": {aMove("web", "1.4.1", "1.4.2")}, "wiki": {aMove("web", "1.4.1", "1.4.2")},
	})
	p.Group = true
	p.Decisions[1].Conditions = []promotion.Condition{{Name: "settle", State: promotion.Passed, Value: "2m"}}
	return p
}

// kept is a pull request that stands for an older snapshot than what is wanted.
func kept() pullrequest.Page {
	p := aPage(map[string][]promotion.Move{"shop": {aMove("web", "1.4.1", "1.5.0")}})
	p.Step = propose.StepKeep
	p.Reason = promotion.Reason{Rule: promotion.RuleHeld, Message: "on hold by ann since 2026-11-18: the database moves", Until: promotiontest.Noon, Scope: state.Target{Environment: "staging", Application: "shop"}}
	p.Comments = &pullrequest.Comments{}
	p.Open = &promotion.Open{Number: 7, Snapshots: map[string]promotion.Snapshot{"shop": {
		"web":    {Repository: promotiontest.Repository("web"), Version: image.Version{Tag: "1.4.2", Digest: "sha256:" + strings.Repeat("c", 64)}},
		"worker": {Repository: promotiontest.Repository("worker"), Version: promotiontest.Version("2.0.0@" + promotiontest.DigestA)},
	}}}
	p.Decisions[0].Snapshot["worker"] = promotion.Pinned{Repository: promotiontest.Repository("worker"), Version: promotiontest.Version("2.0.0@" + promotiontest.DigestA)}
	return p
}

func moved() pullrequest.Page {
	m := aMove("moving", "released", "released")
	m.To.Created = time.Time{}
	return aPage(map[string][]promotion.Move{"default": {m}})
}

// TestBody_golden compares bodies with golden files; -update rewrites them for review.
func TestBody_golden(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]pullrequest.Page{
		"full": full(), "alone": alone(), "unread": unread(), "hostile": hostile(), "group": group(), "kept": kept(), "moved": moved(), "long": many(12), "rewritten": rewritten(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			subject, message := pullrequest.CommitMessage(page)
			got := fmt.Sprintf("%s\n\n%s\n", pullrequest.Title(page), pullrequest.Body(page))
			got += fmt.Sprintf("\n== commit\n%s\n\n%s\n", subject, message)
			status := pullrequest.StatusOf(page.Proposal)
			got += fmt.Sprintf("\n== status\n%s %s: %s\n", status.Context, status.State, status.Description)
			path := filepath.Join("testdata", "body", strings.ReplaceAll(name, " ", "-")+".md")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		})
	}
}

// The examples in the documents are lines of the golden files.
func TestBody_examplesInDocuments(t *testing.T) {
	t.Parallel()
	var golden string
	for _, name := range []string{"full", "alone"} {
		content, err := os.ReadFile(filepath.Join("testdata", "body", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		golden += string(content)
	}
	golden = strings.ReplaceAll(golden, "\u200b", "")
	for _, file := range []string{"README.md", "docs/pull-requests.md"} {
		content, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		quoted := 0
		for line := range strings.Lines(string(content)) {
			example, isQuoted := strings.CutPrefix(strings.TrimSpace(line), "> ")
			if !isQuoted || strings.HasPrefix(example, "### ") || strings.HasPrefix(example, "<details") {
				continue
			}
			if quoted++; !strings.Contains(golden, example+"\n") {
				t.Errorf("%s: no body has the line %s", file, example)
			}
		}
		if quoted < 10 {
			t.Errorf("%s has %d quoted lines", file, quoted)
		}
	}
}
