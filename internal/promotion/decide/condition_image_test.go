package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// Users can write any version to a parent. A child takes only those that its config selects,
// unless a user requested the version by name.
func TestPlan_childTakesOnlyWhatTheConfigSelects(t *testing.T) {
	t.Parallel()
	evil := promotiontest.Digest("e")
	scenario := func(t *testing.T, written string) *decidetest.Scenario {
		t.Helper()
		w := decidetest.New(t, decidetest.Chain)
		w.Stands("dev/shop", promotiontest.Ago(time.Minute), written)
		w.Stands("staging/shop", promotiontest.Ago(9*time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "moving:released@"+promotiontest.Digest("4"))
		return w
	}
	tests := []struct{ name, written, label, with, why string }{
		{"no version at all", "web:evil@" + evil, "web evil", "web:evil@" + evil, "select does not admit this version"},
		{"a prerelease", "web:2.0.0-rc.1@" + evil, "web 2.0.0-rc.1", "web:2.0.0-rc.1@" + evil, "select does not admit this version"},
		{"another tag than the one followed", "moving:evil@" + evil, "moving evil", "moving:evil@" + evil, "select does not admit this version"},
		{"a digest without a tag", "web:@" + evil, "web sha256:eeeeeeeeeeee", "web:TAG@" + evil, "no tag of it is known that select could admit"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, test.written).Expect("staging/shop", promotion.Waiting, test.label+": "+test.why+
				": to promote it anyway, use 'promoter promote --to staging --app shop --with quay.io/acme/"+test.with+"'")
		})
	}
	t.Run("the version before it is still a candidate", func(t *testing.T) {
		t.Parallel()
		w := scenario(t, "web:evil@"+evil)
		w.Landed("dev/shop", promotiontest.Ago(time.Hour), promotiontest.Ago(time.Minute), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Expect("staging/shop", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
	})
	t.Run("a digest has the tag with which it landed", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Chain)
		w.Has("dev/shop", "web:@"+promotiontest.Digest("5"))
		w.Landed("dev/shop", promotiontest.Ago(time.Hour), time.Time{}, "web:1.5.0@"+promotiontest.Digest("5"))
		w.Has("staging/shop", "web:@"+promotiontest.Digest("4"))
		w.Expect("staging/shop", promotion.Proposed, "dev has: web sha256:444444444444 -> 1.5.0")
	})
	t.Run("requested by name", func(t *testing.T) {
		t.Parallel()
		w := scenario(t, "web:2.0.0-rc.1@"+evil)
		w.Decides(state.AddRequest(w.StateTarget("staging/shop"), state.Request{Act: promotiontest.ByAda(""), With: []string{"quay.io/acme/web:2.0.0-rc.1"}}))
		w.Explicit = map[promotion.Target]map[string]promotion.Available{w.Target("staging/shop"): {
			"web": {Version: promotiontest.Version("2.0.0-rc.1@" + evil), Found: true, Explicit: true},
		}}
		w.Expect("staging/shop", promotion.Proposed, "requested by ada: web 1.4.0 -> 2.0.0-rc.1")
	})
	t.Run("in a checkout", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("dev/shop", "web:evil", "worker:@"+evil)
		w.Has("staging/shop", "web:1.4.0", "worker:@"+promotiontest.Digest("4"))
		if d := w.Decide("staging/shop"); d.State != promotion.Waiting || !strings.HasPrefix(d.Reason.Message, "web evil: select does not admit") {
			t.Errorf("%s: %s", d.State, d.Reason)
		}
	})
}

// Where releases are the versions, only the forge knows whether a tag is one.
func TestPlan_childTakesOnlyReleases(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, strings.Replace(decidetest.Chain, `web, select: {semver: ">=1"}`, `web, select: {release: github/acme/web, exclude: ['-rc']}`, 1))
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
	w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
	fact := promotion.Fact{Repository: promotiontest.Repository("web"), Tag: "1.5.0", Release: "github/acme/web"}
	asked := slices.ContainsFunc(w.Asked(), func(l promotion.Lookup) bool { return l.Fact == fact && l.Component == "web" })
	if !asked {
		t.Errorf("the release is not looked up: %v", w.Asked())
	}
	w.Expect("staging/shop", promotion.Waiting, "web 1.5.0: not verified: the forge did not list its releases")
	w.Facts[fact] = image.Version{}
	w.Expect("staging/shop", promotion.Waiting, "web 1.5.0: select does not admit this version: to promote it anyway, use "+
		"'promoter promote --to staging --app shop --with quay.io/acme/web:1.5.0@"+promotiontest.Digest("5")+"'")
	w.Facts[fact] = image.Version{Tag: "1.5.0", Created: promotiontest.Ago(time.Hour)}
	w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
}

// A pull request that is open when the range of the config becomes narrower is closed, also
// in an environment with parents.
func TestPlan_openPullRequestThatTheConfigNoLongerSelects(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, strings.Replace(decidetest.Chain, `web, select: {semver: ">=1"}`, `web, select: {semver: "<1.5"}`, 1)).WithForge()
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
	w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
	w.OpenPullRequest("promoter/staging/shop", 7, map[string]promotion.Snapshot{"shop": promotiontest.Pinned("web:1.5.0@" + promotiontest.Digest("5"))})
	d := w.Decide("staging/shop")
	if d.Disposition == nil || !d.Disposition.Close || d.Disposition.Reason.Message != "no longer selected by the config: web 1.5.0" {
		t.Errorf("%s: %s, %+v", d.State, d.Reason, d.Disposition)
	}
}
