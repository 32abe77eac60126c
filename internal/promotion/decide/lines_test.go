package decide_test

import (
	"slices"
	"strings"
	"testing"

	"promoter/internal/edit"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
)

// A version of another form than the files have is of another line, wherever it comes from: the
// component stays, and the others move.
func TestPlan_keepsOtherForms(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.4", "worker:2.0.0")
	w.Has("staging/shop", "web:1.4.0-alpine", "worker:1.9.0")
	w.Has("prod/shop", "web:1.4.0-alpine", "worker:1.9.0")
	w.Publish("web:1.5.0@" + promotiontest.DigestB)
	w.Expect("dev/shop", promotion.Same, "web 1.4 stays: it has another number of parts than the selected version, 1.5.0")
	d := w.Expect("staging/shop", promotion.Proposed, "dev has: worker 1.9.0 -> 2.0.0")
	stays := func(c promotion.Condition) bool {
		return c.State == promotion.Pending && strings.HasPrefix(c.Reason, "web 1.4.0-alpine stays: it has another suffix")
	}
	if !slices.ContainsFunc(d.Conditions, stays) {
		t.Errorf("conditions: %+v", d.Conditions)
	}
	w.Expect("prod/shop", promotion.Same, "already up to date")
}

// What is of another line is named where nothing else is followed.
func TestPlan_namesOtherLines(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	current := promotion.Current{}
	for _, tag := range []string{"edge", "main", "next", "nightly"} {
		current.Foreign = append(current.Foreign, edit.Foreign{Reason: tag + " is not a version of web (>=1)"})
	}
	w.Targets[w.Target("dev/shop")] = current
	w.Expect("dev/shop", promotion.NoReference, "no reference to a followed component; edge is not a version of web (>=1); "+
		"main is not a version of web (>=1); next is not a version of web (>=1); and 1 more")
}

// The files keep their leading v, where the registry has both tags of one image.
func TestPlan_keepsTheLeadingV(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:v1.4.0")
	w.Has("dev/blog", "web:1.4.0")
	w.Publish("web:1.5.0@" + promotiontest.DigestB)
	available := w.Available["web"]
	available.Spellings = []string{"v1.5.0"}
	w.Available["web"] = available
	w.Expect("dev/shop", promotion.Proposed, "newer: web v1.4.0 -> v1.5.0")
	w.Expect("dev/blog", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
	w.Has("staging/shop", "web:v1.5.0")
	w.Has("prod/shop", "web:v1.5.0")
	w.Expect("prod/shop", promotion.Same, "already up to date")
}

// A version of another scheme only looks newer: it waits for a user, and the other components move.
func TestPlan_holdsAnotherScheme(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:6.13.0", "worker:2.0.0")
	w.Publish("web:2021.12.14@"+promotiontest.DigestB, "worker:2.0.0")
	const why = "web 6.13.0 -> 2021.12.14 may be another scheme of versions: 'promoter promote --to dev --app shop --with web:2021.12.14' " +
		"confirms it, and so does a range that begins there"
	w.Expect("dev/shop", promotion.Waiting, why)
	w.Publish("web:2021.12.14@"+promotiontest.DigestB, "worker:2.1.0@"+promotiontest.DigestA)
	d := w.Expect("dev/shop", promotion.Proposed, "newer: worker 2.0.0 -> 2.1.0")
	if !slices.ContainsFunc(d.Conditions, func(c promotion.Condition) bool { return c.Reason == why }) {
		t.Errorf("conditions: %+v", d.Conditions)
	}
	available := w.Available["web"]
	available.Explicit = true
	w.Available["web"] = available
	w.Expect("dev/shop", promotion.Proposed, "newer: web 6.13.0 -> 2021.12.14, worker 2.0.0 -> 2.1.0")
}
