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
