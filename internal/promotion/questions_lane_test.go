package promotion_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

func TestQuestions_lanes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		see  func(w *world)
		want []string
	}{
		{
			"nothing differs, nothing is asked",
			func(w *world) {
				w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
				w.stands("staging/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
			},
			nil,
		},
		{
			"where the tags of what may come point now, and of nothing older",
			func(w *world) {
				w.stands("dev/shop", ago(time.Hour), "web:1.6.0@"+sha("6"))
				w.landed("dev/shop", ago(5*time.Hour), ago(time.Hour), "web:1.5.0@"+sha("5"))
				w.landed("dev/shop", ago(9*time.Hour), ago(5*time.Hour), "web:1.4.0@"+sha("4"))
				w.landed("dev/shop", ago(12*time.Hour), ago(9*time.Hour), "web:1.3.0@"+sha("3"))
				w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
			},
			[]string{"web:1.5.0", "web:1.6.0"},
		},
		{
			"not which digest a tag of a parent was",
			func(w *world) {
				w.has("dev/shop", "web:1.5.0")
				w.has("staging/shop", "web:1.4.0@"+sha("4"))
			},
			[]string{"web:1.5.0"},
		},
		{
			"whether the digest of a moving tag is still there",
			func(w *world) {
				w.stands("dev/shop", ago(time.Hour), "moving:released@"+sha("5"))
				w.stands("staging/shop", ago(time.Hour), "moving:released@"+sha("4"))
			},
			[]string{"moving:released@sha256:444444444444 created", "moving:released@sha256:555555555555 created"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := lane(t, chain)
			test.see(w)
			w.Facts = promotion.Facts{}
			if diff := cmp.Diff(test.want, w.questions()); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}

// What Plan goes no further without is always asked.
func TestQuestions_everythingThatBlocksIsAsked(t *testing.T) {
	t.Parallel()
	w := lane(t, chain)
	w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5"), "moving:released@"+sha("6"), "worker:@"+sha("7"))
	w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"), "moving:released@"+sha("4"), "worker:@"+sha("3"))
	answers := w.Facts
	w.Facts = promotion.Facts{}
	for _, question := range promotion.Lookups(w.Observation) {
		w.Facts[question.Fact] = answers[question.Fact]
	}
	if d := w.decide("staging/shop"); d.State != promotion.Proposed {
		t.Errorf("%s: %s", d.State, d.Reason)
	}
}

func TestQuestions_imagesOfARollback(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, has, want string }{
		{"a file with a tag alone", "web:1.5.0", "web:1.4.0"},
		{"a file with a digest", "web:1.5.0@" + sha("5"), "web:@sha256:444444444444"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := lane(t, chain)
			w.has("dev/shop", test.has)
			w.decides(state.Rollback(w.statePlace("dev/shop"), state.RolledBack{
				Act: byAda(""), Images: images("web:1.4.0@" + sha("4")),
			}))
			if diff := cmp.Diff([]string{test.want}, w.questions()); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}
