package explain_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/explain"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/state"
)

func decided(s promotion.State, rule promotion.Rule, message string) promotion.Decision {
	return promotion.Decision{
		Target: promotion.Target{Environment: "prod", Application: "shop"}, State: s, Reason: promotion.Reason{Rule: rule, Message: message},
	}
}

func TestBlocking(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	soaks := decided(promotion.Waiting, promotion.RuleCondition, "staging soak: present since yesterday")
	soaks.Conditions = []promotion.Condition{
		{Name: "settle", State: promotion.Passed},
		{Name: "staging soak", State: promotion.Pending, Reason: "present since yesterday", Value: "1d", Until: &until},
	}
	frozen := decided(promotion.Waiting, promotion.RuleFrozen, "the repository is frozen by ann")
	frozen.Reason.Scope = state.Target{Environment: state.All, Application: state.All}
	held := decided(promotion.Waiting, promotion.RuleHeld, "on hold by ann")
	held.Reason.Scope = state.Target{Environment: "prod", Application: state.All}
	proposed := decided(promotion.Proposed, promotion.RuleParent, "staging has: web 1 -> 2")
	with := func(land setting.Land, gates ...promotion.Condition) []propose.Proposal {
		return []propose.Proposal{{
			Environment: config.Environment{Name: "prod", Settings: setting.Settings{Land: land}}, Step: propose.StepPropose, Gates: gates,
			Decisions: []promotion.Decision{proposed}, Open: &promotion.Open{Number: 7},
		}}
	}
	tests := []struct {
		name      string
		decision  promotion.Decision
		proposals []propose.Proposal
		want      string // kind, text, and advice
	}{
		{"same", decided(promotion.Same, promotion.RuleSame, "already up to date"), nil, ""},
		{"a condition that the time meets", soaks, nil, "condition|staging soak 1d: present since yesterday, until 2026-12-01T09:00:00Z|"},
		{"a freeze of everything", frozen, nil, "decision|the repository is frozen by ann|'promoter thaw --all' ends it"},
		{"a hold of an environment", held, nil, "decision|on hold by ann|'promoter resume --env prod' ends it"},
		{
			"a request", decided(promotion.Waiting, promotion.RulePropose, "propose is manual: waiting for a request"), nil,
			"request|propose is manual: waiting for a request|'promoter promote --to prod --app shop' requests it",
		},
		{"never", decided(promotion.Waiting, promotion.RulePropose, "propose is never: x"), nil, "request|propose is never: x|write the versions by hand, or change propose in the config"},
		{"a registry", decided(promotion.Unanswered, promotion.RuleRegistry, "web: 401"), nil, "failure|web: 401|'promoter doctor' checks the credentials and settings"},
		{"users merge", proposed, with(setting.LandPR), "merge|a user merges pull request #7|review and merge pull request #7"},
		{"promoter merges", proposed, with(setting.LandAutomerge, promotion.Condition{Name: "approvals", State: promotion.Passed}), ""},
		{
			"approvals", proposed, with(setting.LandAutomerge, promotion.Condition{Name: "approvals", State: promotion.Pending, Reason: "not approved yet", Value: "0 of 2"}),
			"gate|approvals 0 of 2: not approved yet|approve pull request #7",
		},
		{
			"requested changes", proposed, with(setting.LandAutomerge, promotion.Condition{Name: "approvals", State: promotion.Pending, Reason: "changes requested by ben", Value: "2 of 2"}),
			"gate|approvals 2 of 2: changes requested by ben|settle the requested changes on pull request #7: who requested them has to approve, or to dismiss their review",
		},
		{
			"a check of the forge", proposed, with(setting.LandPR, promotion.Condition{Name: "protection check e2e", State: promotion.Failed, Forge: true}),
			"gate|protection check e2e|the check has to pass on pull request #7",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if b, blocked := explain.Blocking(test.decision, test.proposals); blocked {
				got = string(b.Kind) + "|" + b.String() + "|" + b.Advice
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

const pipeline = `version: 1
components: {web: {image: r.example.com/web, select: {semver: ">=1"}}}
environments:
  dev: {paths: [dev], land: push}
  staging: {paths: [staging], after: [dev], land: push}
  prod: {paths: [prod], after: [staging], land: push}
  other: {paths: [other], after: [dev], land: push}
`

func digest(tag string) string {
	return "sha256:" + strings.Repeat(strings.ReplaceAll(tag, ".", ""), 16)
}

func version(tag string) image.Version { return image.Version{Tag: tag, Digest: digest(tag)} }

// facts has 1.3.0 in dev, 1.2.0 in staging, and 1.0.0 in prod, where 1.1.0 was reverted.
func facts(t *testing.T) (explain.Facts, image.Repository) {
	t.Helper()
	loaded, problems := config.Load(config.FileName, []byte(pipeline))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	reference, err := image.Parse("r.example.com/web:1")
	if err != nil {
		t.Fatal(err)
	}
	repository := reference.Repository
	snapshot := func(tag string) promotion.Snapshot {
		return promotion.Snapshot{"web": {Repository: repository, Version: version(tag)}}
	}
	at := func(environment string) promotion.Target {
		return promotion.Target{Environment: environment, Application: config.DefaultApplication}
	}
	day := func(n int) time.Time { return time.Date(2026, 11, n, 8, 0, 0, 0, time.UTC) }
	f := explain.Facts{Observation: promotion.Observation{
		Config: loaded, Targets: map[promotion.Target]promotion.Current{},
		Available: map[string]promotion.Available{"web": {Version: version("1.3.0"), Found: true}},
		Landings: map[promotion.Target][]promotion.Landing{
			at("staging"): {{Commit: "aaaaaaaaaaaa", At: day(9), Snapshot: snapshot("1.2.0")}, {At: day(5), Until: day(9), Snapshot: snapshot("1.1.0")}},
			at("prod"): {
				{Commit: "bbbbbbbbbbbb", Number: 12, At: day(8), Snapshot: snapshot("1.0.0")},
				{At: day(7), Until: day(8), Snapshot: snapshot("1.1.0"), Reverted: true},
			},
		},
	}}
	for environment, tag := range map[string]string{"dev": "1.3.0", "staging": "1.2.0", "prod": "1.0.0", "other": "1.0.0"} {
		f.Observation.Targets[at(environment)] = promotion.Current{References: []edit.Reference{
			{Component: "web", Repository: repository, Tag: tag, Digest: digest(tag)},
		}}
	}
	f.Observation.Policies = promotion.Policies(loaded, promotion.FollowedIn(loaded, f.Observation.Selected(), promotion.Everywhere))
	waits := promotion.Decision{
		Target: at("prod"), State: promotion.Waiting, Reason: promotion.Reason{Rule: promotion.RuleHeld, Message: "on hold by ann"},
		Moves: []promotion.Move{{Component: "web", From: version("1.0.0"), To: version("1.2.0")}},
	}
	f.Decisions = []promotion.Decision{{Target: at("dev"), State: promotion.Same}, {Target: at("staging"), State: promotion.Same}, waits}
	return f, repository
}

func TestPaths(t *testing.T) {
	t.Parallel()
	f, repository := facts(t)
	prod := promotion.Target{Environment: "prod", Application: config.DefaultApplication}
	paths := explain.Paths(f, prod)
	if len(paths) != 1 {
		t.Fatalf("%d paths", len(paths))
	}
	want := `web in the registry: 1.3.0 is selected
web in dev: 1.3.0
web in staging: 1.2.0 since 2026-11-09T08:00:00Z (commit aaaaaaa)
web in prod: 1.0.0 since 2026-11-08T08:00:00Z (#12, commit bbbbbbb); 1.2.0 comes next; it waits for on hold by ann
  you can: 'promoter resume' ends it`
	got := strings.Join(paths[0].Lines(), "\n")
	if got = strings.Replace(got, "resume --env prod' ends", "resume' ends", 1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for tag, want := range map[string]string{
		"1.3.0": "web 1.3.0 is in dev, was never in staging",
		"1.2.0": "web 1.2.0 is in staging since 2026-11-09T08:00:00Z (commit aaaaaaa), waits in prod: on hold by ann",
		"1.1.0": "web 1.1.0 was in staging from 2026-11-05T08:00:00Z until 2026-11-09T08:00:00Z, " +
			"was in prod from 2026-11-07T08:00:00Z until 2026-11-08T08:00:00Z and was reverted there",
		"1.0.0": "web 1.0.0 is in prod since 2026-11-08T08:00:00Z (#12, commit bbbbbbb)",
		"0.9.0": "web 0.9.0 is superseded: dev has the newer 1.3.0",
		"1.4.0": "web 1.4.0 is not in the registry r.example.com/web",
	} {
		asked := explain.Asked{Repository: repository, Version: version(tag), Missing: tag == "1.4.0"}
		answered := explain.Answered(f, paths, asked)
		if len(answered) != 1 || answered[0].Answer != want {
			t.Errorf("%s: %+v, want %q", tag, answered, want)
		}
	}
}

// A newer version that waits for the checks of the open one is neither superseded nor missing: the answer names the check, the
// time, and what else is possible.
func TestPaths_newerWaitsForChecks(t *testing.T) {
	t.Parallel()
	for _, environment := range []string{"dev", "staging"} {
		f, repository := facts(t)
		at := promotion.Target{Environment: environment, Application: config.DefaultApplication}
		dev := promotion.Target{Environment: "dev", Application: config.DefaultApplication}
		if environment == "staging" {
			f.Observation.Targets[dev].References[0].Tag, f.Observation.Targets[dev].References[0].Digest = "1.3.2", digest("1.3.2")
		}
		until := time.Date(2026, 11, 9, 8, 30, 0, 0, time.UTC)
		d := promotion.Decision{
			Target: at, State: promotion.Proposed,
			Moves: []promotion.Move{{Component: "web", From: version("1.2.0"), To: version("1.3.1")}},
			Newer: []promotion.Move{{Component: "web", From: version("1.2.0"), To: version("1.3.2")}},
			Conditions: []promotion.Condition{{
				Name: promotion.NewerCondition, State: promotion.Pending, Until: &until,
				Reason: "newer version waits: web 1.3.2, because the required check ci of #7 has not finished",
			}},
		}
		f.Decisions = []promotion.Decision{d}
		f.Proposals = []propose.Proposal{{Decisions: f.Decisions, Open: &promotion.Open{Number: 7}, Step: propose.StepPropose}}
		paths := explain.Paths(f, at)
		lines := strings.Join(paths[0].Lines(), "\n")
		why := "newer version waits: web 1.3.2, because the required check ci of #7 has not finished, until 2026-11-09T08:30:00Z"
		if !strings.Contains(lines, "web in "+environment+": "+why+"\n  you can: merge or close the pull request; with 'newer: queue'") {
			t.Error(lines)
		}
		answered := explain.Answered(f, paths, explain.Asked{Repository: repository, Version: version("1.3.2")})
		if len(answered) != 1 || !strings.HasSuffix(answered[0].Answer, "waits in "+environment+" (#7 is open): "+why) {
			t.Errorf("%+v", answered)
		}
	}
}
