package config_test

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/image"
	"promoter/internal/schedule"
)

// plainly compares what people write, not where.
func plainly() cmp.Options {
	return cmp.Options{
		cmpopts.IgnoreTypes(config.Position{}, schedule.Window{}),
		cmpopts.IgnoreUnexported(config.Environment{}),
		cmpopts.IgnoreFields(config.Component{}, "Pattern"),
	}
}

func full(t testing.TB) *config.Config {
	t.Helper()
	data, err := os.ReadFile("../../config/examples/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return mustLoad(t, string(data))
}

func TestLoad_environments(t *testing.T) {
	t.Parallel()
	plainPullRequest := setting.PullRequest{Group: setting.GroupApplication, Limit: 20, WaitForChecks: 30 * time.Minute}
	releases := []setting.Notification{{On: []string{"landed", "failed", "reverted"}, To: "releases"}}
	want := []config.Environment{
		{
			Name: "dev", Paths: []string{"apps/{application}/overlays/dev"},
			Settings: setting.Settings{
				Propose: setting.ProposeAutomatic, Land: setting.LandPush, Newer: setting.NewerRefresh,
				PullRequest: plainPullRequest, Notify: releases,
			},
		},
		{
			Name: "staging", Paths: []string{"apps/{application}/overlays/staging"},
			Settings: setting.Settings{
				After:   []setting.Parent{{Environment: "dev", Soak: time.Hour}},
				Propose: setting.ProposeAutomatic, Land: setting.LandAutomerge, Newer: setting.NewerRefresh,
				PullRequest: plainPullRequest, Notify: releases,
			},
		},
		{
			Name: "prod-eu", Branch: "env/prod-eu", Paths: []string{"apps/{application}"},
			Settings: setting.Settings{
				After:   []setting.Parent{{Environment: "staging", Soak: 24 * time.Hour, Checks: []string{"e2e"}}},
				Propose: setting.ProposeAutomatic, Land: setting.LandPR, Newer: setting.NewerRefresh,
				Gates:       setting.Gates{Windows: []string{"office", "xmas"}, Approvals: &setting.Approvals{Count: 2, From: []string{"team:acme/sre"}}, Hold: &setting.Hold{Key: "promote_deployment", Value: "false"}},
				PullRequest: setting.PullRequest{Labels: []string{"prod"}, Reviewers: []string{"team:acme/sre"}, Group: setting.GroupApplication, Limit: 20, WaitForChecks: 30 * time.Minute},
				Notify:      releases,
			},
		},
	}
	if diff := cmp.Diff(want, full(t).Environments, plainly()); diff != "" {
		t.Errorf("environments (-want +got):\n%s", diff)
	}
}

func TestLoad_components(t *testing.T) {
	t.Parallel()
	c := full(t)
	want := []config.Component{
		{Name: "web", Artifact: image.ArtifactImage, Pin: image.PinKeep, Select: config.Select{Selection: image.Selection{Semver: ">=1.4 <2"}}},
		{Name: "worker", Artifact: image.ArtifactImage, Pin: image.PinTagDigest, Select: config.Select{Selection: image.Selection{Tag: "released"}, MinAge: time.Hour}},
		{
			Name: "teams", Artifact: image.ArtifactImage, Pin: image.PinKeep, Select: config.Select{Selection: image.Selection{Newest: "^main-[0-9a-f]{7,}$"}},
			Poll: times(t, schedule.TimesSpec{Schedule: "0 6 * * 1-5", TimeZone: "Europe/Berlin"}),
		},
		{Name: "shop-chart", Artifact: image.ArtifactChart, Pin: image.PinKeep, Select: config.Select{Selection: image.Selection{Semver: "^3", Chart: true}}},
	}
	if diff := cmp.Diff(want, c.Components, plainly()); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	if got := c.Components[3].Pattern.String(); got != "quay.io/acme/charts/shop" {
		t.Errorf("the chart's repository is %q", got)
	}
	if got, want := c.Components[1].Position, (config.Position{File: "test.yaml", Line: 9, Column: 3}); got != want {
		t.Errorf("worker stands at %v; want %v", got, want)
	}
}

func TestLoad_windows(t *testing.T) {
	t.Parallel()
	c := full(t)
	want := []config.Window{
		{Name: "office", Spec: schedule.Spec{Kind: schedule.Allow, Schedule: "0 9 * * 1-4", Duration: 7 * time.Hour, TimeZone: "Europe/Berlin"}},
		{Name: "xmas", Spec: schedule.Spec{Kind: schedule.Deny, From: "2026-12-21", Until: "2027-01-04", TimeZone: "Europe/Berlin"}},
	}
	if diff := cmp.Diff(want, c.Windows, plainly()); diff != "" {
		t.Errorf("windows (-want +got):\n%s", diff)
	}
	state := schedule.Windows{c.Windows[1].Compiled}.State(time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC))
	if state.Open {
		t.Errorf("open at Christmas: %+v", state)
	}
}

func TestConfig_Order(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, head+`environments:
  prod: {paths: [prod], after: [eu, us]}
  us: {paths: [us], after: [dev]}
  eu: {paths: [eu], after: [dev]}
  dev: {paths: [dev]}
  lone: {paths: [lone]}
`)
	want := []string{"dev", "eu", "us", "prod", "lone"}
	if diff := cmp.Diff(want, c.Order()); diff != "" {
		t.Errorf("parents come first (-want +got):\n%s", diff)
	}
}

const layered = head + `applications:
  pay-api:
    settle: 5m
    environments:
      prod: {after: [dev]}
  "*":
    settle: 1m
    labels: {tier: free, team: all}
    environments:
      prod: {newer: queue}
  "pay-*":
    components: [web]
    labels: {tier: paid}
    environments:
      prod: {propose: manual, after: {dev: {soak: 3d}}, gates: {checks: [], approvals: {count: 3}}}
      dev: {newer: queue}
environments:
  dev:
    paths: ["dev/{application}"]
  prod:
    paths: ["prod/{application}"]
    after: {dev: {soak: 1d}}
    gates: {checks: [e2e], approvals: {count: 2, from: [anna, ben, "team:a/b"]}}
    pullRequest: {labels: [prod], title: "Deploy {application}"}
`

func TestConfig_Settings(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, layered)
	for _, test := range []struct {
		what, environment, application string
		change                         func(e *config.Environment)
	}{
		{"a glob changes one key", "prod", "shop", func(e *config.Environment) { e.Newer = setting.NewerQueue }},
		{"later globs win, mappings are merged, lists replaced", "prod", "pay-web", func(e *config.Environment) {
			e.Newer, e.Propose = setting.NewerQueue, setting.ProposeManual
			e.After[0].Soak = 72 * time.Hour
			e.Gates.Checks, e.Gates.Approvals.Count = nil, 3
		}},
		{"an exact name wins, and a list of parents replaces their conditions", "prod", "pay-api", func(e *config.Environment) {
			e.Newer, e.Propose = setting.NewerQueue, setting.ProposeManual
			e.After = []setting.Parent{{Environment: "dev"}}
			e.Gates.Checks, e.Gates.Approvals.Count = nil, 3
		}},
		{"a pattern changes another environment", "dev", "pay-web", func(e *config.Environment) { e.Newer = setting.NewerQueue }},
		{"nothing changes", "dev", "shop", func(*config.Environment) {}},
	} {
		t.Run(test.what, func(t *testing.T) {
			t.Parallel()
			want := mustLoad(t, layered).Environments[map[string]int{"dev": 0, "prod": 1}[test.environment]]
			test.change(&want)
			if diff := cmp.Diff(want, c.Settings(test.environment, test.application), plainly()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := c.Settings("nowhere", "shop"); got.Name != "" {
		t.Errorf("Settings of an environment that is not there = %+v", got)
	}
}

func TestConfig_Application(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, layered)
	for name, want := range map[string]config.Application{
		"shop":    {Name: "shop", Settle: time.Minute, Labels: map[string]string{"tier": "free", "team": "all"}},
		"pay-web": {Name: "pay-web", Settle: time.Minute, Components: []string{"web"}, Labels: map[string]string{"tier": "paid", "team": "all"}},
		"pay-api": {Name: "pay-api", Settle: 5 * time.Minute, Components: []string{"web"}, Labels: map[string]string{"tier": "paid", "team": "all"}},
	} {
		if diff := cmp.Diff(want, c.Application(name), plainly()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestLoad_overridesAreMatched keeps Match working on what Settings returns.
func TestLoad_overridesAreMatched(t *testing.T) {
	t.Parallel()
	e := mustLoad(t, layered).Settings("prod", "pay-web")
	if application, ok := e.Match("prod/pay-web/a.yaml"); application != "pay-web" || !ok {
		t.Errorf("Match = %q, %t", application, ok)
	}
}

func BenchmarkConfig_Settings(b *testing.B) {
	c := mustLoad(b, layered)
	b.ReportAllocs()
	for b.Loop() {
		c.Settings("prod", "pay-web")
	}
}

func BenchmarkLoad(b *testing.B) {
	data, err := os.ReadFile("../../config/examples/full.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if c, problems := config.Load("full.yaml", data); c == nil {
			b.Fatal(problems)
		}
	}
}

func times(t *testing.T, spec schedule.TimesSpec) schedule.Times {
	t.Helper()
	made, err := schedule.NewTimes(spec)
	if err != nil {
		t.Fatal(err)
	}
	return made
}
