package decide_test

import (
	"testing"
	"time"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

func TestLookups_withForge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		see  func(w *decidetest.Scenario)
		want []string
	}{
		{
			"nothing differs, nothing is asked",
			func(w *decidetest.Scenario) {
				w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
				w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
			},
			nil,
		},
		{
			"where the tags of what may come point now, and of nothing older",
			func(w *decidetest.Scenario) {
				w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.6.0@"+promotiontest.Digest("6"))
				w.Landed("dev/shop", promotiontest.Ago(5*time.Hour), promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
				w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(5*time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
				w.Landed("dev/shop", promotiontest.Ago(12*time.Hour), promotiontest.Ago(9*time.Hour), "web:1.3.0@"+promotiontest.Digest("3"))
				w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
			},
			[]string{"web:1.5.0", "web:1.6.0"},
		},
		{
			"not which digest a tag of a parent was",
			func(w *decidetest.Scenario) {
				w.Has("dev/shop", "web:1.5.0")
				w.Has("staging/shop", "web:1.4.0@"+promotiontest.Digest("4"))
			},
			[]string{"web:1.5.0"},
		},
		{
			"whether the digest of a moving tag is still there",
			func(w *decidetest.Scenario) {
				w.Stands("dev/shop", promotiontest.Ago(time.Hour), "moving:released@"+promotiontest.Digest("5"))
				w.Stands("staging/shop", promotiontest.Ago(time.Hour), "moving:released@"+promotiontest.Digest("4"))
			},
			[]string{"moving:released@sha256:444444444444 created", "moving:released@sha256:555555555555 created"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.New(t, decidetest.Chain)
			test.see(w)
			w.Facts = promotion.Facts{}
			if diff := cmp.Diff(test.want, w.Lookups()); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}

// What Plan goes no further without is always asked.
func TestLookups_containWhatBlocks(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.5.0@"+promotiontest.Digest("5"), "moving:released@"+promotiontest.Digest("6"), "worker:@"+promotiontest.Digest("7"))
	w.Landed("dev/shop", promotiontest.Ago(time.Hour), time.Time{}, "web:1.5.0@"+promotiontest.Digest("5"),
		"moving:released@"+promotiontest.Digest("6"), "worker:2.1.0@"+promotiontest.Digest("7"))
	w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "moving:released@"+promotiontest.Digest("4"), "worker:@"+promotiontest.Digest("3"))
	answers := w.Facts
	w.Facts = promotion.Facts{}
	for _, question := range w.Asked() {
		w.Facts[question.Fact] = answers[question.Fact]
	}
	if d := w.Decide("staging/shop"); d.State != promotion.Proposed {
		t.Errorf("%s: %s", d.State, d.Reason)
	}
}

func TestLookups_imagesOfARollback(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, has, want string }{
		{"a file with a tag alone", "web:1.5.0", "web:1.4.0"},
		{"a file with a digest", "web:1.5.0@" + promotiontest.Digest("5"), "web:@sha256:444444444444"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.New(t, decidetest.Chain)
			w.Has("dev/shop", test.has)
			w.Decides(state.Rollback(w.StateTarget("dev/shop"), state.RolledBack{
				Act: promotiontest.ByAda(""), Images: promotiontest.Images("web:1.4.0@" + promotiontest.Digest("4")),
			}))
			if diff := cmp.Diff([]string{test.want}, w.Lookups()); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}
