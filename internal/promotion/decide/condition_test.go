package decide_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/image"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
)

func TestPlan_checksOnTheParentsCommit(t *testing.T) {
	t.Parallel()
	const text = promotiontest.Components + `
environments:
  dev: {paths: [dev]}
  prod: {paths: [prod], after: {dev: {checks: ["e2e/*"]}}}
`
	tests := []struct {
		name   string
		checks []promotion.Check
		state  promotion.State
		reason string
	}{
		{"absent", nil, promotion.Waiting, "dev check e2e/*: not reported yet"},
		{"another", []promotion.Check{{Name: "lint", State: promotion.Passed}}, promotion.Waiting, "dev check e2e/*: not reported yet"},
		{"our own", []promotion.Check{{Name: "promoter", State: promotion.Passed}}, promotion.Waiting, "dev check e2e/*: not reported yet"},
		{"running", []promotion.Check{{Name: "e2e/a", State: promotion.Pending}}, promotion.Waiting, "dev check e2e/*: e2e/a has not finished"},
		{
			"one failed",
			[]promotion.Check{{Name: "e2e/a", State: promotion.Passed}, {Name: "e2e/b", State: promotion.Failed}},
			promotion.Waiting, "dev check e2e/*: e2e/b failed",
		},
		{"passed", []promotion.Check{{Name: "e2e/a", State: promotion.Passed}}, promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.New(t, text)
			w.Stands("dev", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5")).Checks = test.checks
			w.Stands("prod", promotiontest.Ago(9*time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
			w.Expect("prod", test.state, test.reason)
		})
	}
}

func TestPlan_noDifferenceWithForge(t *testing.T) {
	t.Parallel()
	t.Run("same passes on", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Soaking)
		w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("staging/shop", promotiontest.Ago(time.Minute), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("prod/shop", promotiontest.Ago(time.Minute), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Expect("staging/shop", promotion.Same, "already up to date")
		w.Expect("prod/shop", promotion.Proposed, "staging has: web 1.4.0 -> 1.5.0")
	})
	t.Run("absent is looked through, and its conditions asked of the one before", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, strings.Replace(decidetest.Soaking, "after: [staging]", "after: {staging: {soak: 2h}}", 1))
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("prod/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Expect("staging/shop", promotion.Absent, "shop has no files in staging")
		w.Expect("prod/shop", promotion.Waiting, "staging soak (in dev): present since 2026-11-18T10:00:00Z")
	})
	t.Run("absent in a parent that follows no other, and its conditions do not pass", func(t *testing.T) {
		t.Parallel()
		const after = "after: {dev: {}, perf: {checks: [load, smoke]}}"
		text := strings.Replace(decidetest.Soaking, "after: [staging]", after, 1) + "  perf: {paths: [\"perf/{application}\"]}\n"
		world := func(text string) *decidetest.Scenario {
			w := decidetest.New(t, text)
			w.Stands("dev/shop", promotiontest.Ago(9*time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
			w.Stands("prod/shop", promotiontest.Ago(9*time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
			return w
		}
		world(text).Expect("prod/shop", promotion.Waiting, "perf check load: shop has no files there, nor in an environment upstream of it: "+
			"add them, or override after for the application")
		world(strings.Replace(text, "{checks: [load, smoke]}", "{}", 1)).Expect("prod/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
		overridden := text + "applications: {shop: {environments: {prod: {after: {perf: {checks: []}}}}}}\n"
		world(overridden).Expect("prod/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
	})
	t.Run("no reference keeps the next one waiting", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Soaking)
		w.Stands("dev/shop", promotiontest.Ago(9*time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Has("staging/shop")
		w.Landed("staging/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("prod/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Expect("prod/shop", promotion.Waiting, "staging has no reference to a followed component")
	})
}

func TestPlan_taggedWithForge(t *testing.T) {
	t.Parallel()
	const text = promotiontest.Components + `
environments:
  dev: {paths: [dev]}
  prod: {paths: [prod], after: {dev: {tagged: qa-passed}}}
`
	w := decidetest.New(t, text)
	w.Stands("dev", promotiontest.Ago(time.Hour), "web:1.6.0@"+promotiontest.Digest("6"))
	w.Landed("dev", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
	w.Stands("prod", promotiontest.Ago(9*time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
	w.Expect("prod", promotion.Waiting, "dev tagged qa-passed: unknown for web")
	w.AddFact("web", "qa-passed", image.Version{Digest: promotiontest.Digest("5")})
	w.Expect("prod", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
	w.AddFact("web", "qa-passed", image.Version{Digest: promotiontest.Digest("6")})
	w.Expect("prod", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
	w.AddFact("web", "qa-passed", image.Version{Digest: promotiontest.Digest("9")})
	w.Expect("prod", promotion.Waiting,
		"dev tagged qa-passed: web: the tag points to sha256:999999999999 instead of sha256:666666666666")
}
