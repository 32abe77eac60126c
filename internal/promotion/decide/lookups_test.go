package decide_test

import (
	"testing"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"

	"github.com/google/go-cmp/cmp"
)

func TestLookups(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config string
		see    func(w *decidetest.Scenario)
		want   []string
	}{
		{
			"nothing differs, nothing is asked", decidetest.Chain,
			func(w *decidetest.Scenario) {
				w.Has("dev/shop", "web:1.5.0")
				w.Has("staging/shop", "web:1.5.0@"+promotiontest.DigestA)
				w.Publish("web:1.5.0@" + promotiontest.DigestA)
			},
			nil,
		},
		{
			"a tag without a digest may be another label", decidetest.Chain,
			func(w *decidetest.Scenario) {
				w.Has("dev/shop", "web:1.5")
				w.Publish("web:1.5.0@" + promotiontest.DigestA)
			},
			[]string{"web:1.5"},
		},
		{
			"a tag of another release", decidetest.Chain,
			func(w *decidetest.Scenario) {
				w.Has("dev/shop", "web:1.4.0")
				w.Publish("web:1.5.0@" + promotiontest.DigestA)
			},
			nil,
		},
		{
			"two digests need no word", decidetest.Chain,
			func(w *decidetest.Scenario) {
				w.Has("dev/shop", "web:1.4.0@"+promotiontest.DigestB)
				w.Publish("web:1.5.0@" + promotiontest.DigestA)
			},
			nil,
		},
		{
			"a given version is not asked about", decidetest.Chain,
			func(w *decidetest.Scenario) {
				w.Has("dev/shop", "web:1.4.0")
				w.Name("web:1.5.0")
			},
			nil,
		},
		{
			"a moving tag is ordered by dates", decidetest.Chain,
			func(w *decidetest.Scenario) {
				w.Has("dev/shop", "moving:released@"+promotiontest.DigestA)
				w.Publish("moving:released@" + promotiontest.DigestB)
			},
			[]string{"moving:released@sha256:aaaaaaaaaaaa created", "moving:released@sha256:bbbbbbbbbbbb created"},
		},
		{
			"a child that differs from its parent, each tag once", decidetest.Chain,
			func(w *decidetest.Scenario) {
				w.Has("dev/shop", "web:1.5.0")
				w.Has("staging/shop", "web:1.4.0")
				w.Has("prod/shop", "web:1.4.0")
			},
			[]string{"web:1.5.0"},
		},
		{
			"where the tag of a parent points now", decidetest.Chain,
			func(w *decidetest.Scenario) {
				w.Has("dev/shop", "web:1.5.0@"+promotiontest.DigestB)
				w.Has("staging/shop", "web:1.4.0@"+promotiontest.DigestA)
			},
			[]string{"web:1.5.0"},
		},
		{
			"nothing about environments that are only looked at", decidetest.Chain,
			func(w *decidetest.Scenario) {
				w.Has("dev/shop", "web:1.4.0")
				w.Has("staging/shop", "web:1.3.0")
				w.Has("prod/shop", "web:1.2.0")
				w.Publish("web:1.5.0@" + promotiontest.DigestA)
				w.Environments = []string{"staging"}
			},
			[]string{"web:1.4.0"},
		},
		{
			"the tag of a condition, and what it is compared with", gated,
			func(w *decidetest.Scenario) {
				w.Has("dev", "web:1.5.0")
				w.Has("prod", "web:1.4.0@"+promotiontest.DigestA)
			},
			[]string{"web:1.5.0", "web:qa-passed"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.NewCheckout(t, test.config)
			test.see(w)
			if diff := cmp.Diff(test.want, w.Lookups()); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}
