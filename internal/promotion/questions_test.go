package promotion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion"
)

// questions returns what is asked, in words.
func (w *world) questions() []string {
	var texts []string
	for _, q := range promotion.Lookups(w.Observation) {
		text := q.Repository.Name() + ":" + q.Tag
		if q.Digest != "" {
			text += "@" + promotion.ShortDigest(q.Digest)
		}
		if q.Created {
			text += " created"
		}
		texts = append(texts, text)
	}
	return texts
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config string
		see    func(w *world)
		want   []string
	}{
		{
			"nothing differs, nothing is asked", chain,
			func(w *world) {
				w.has("dev/shop", "web:1.5.0")
				w.has("staging/shop", "web:1.5.0@"+digestA)
				w.offers("web:1.5.0@" + digestA)
			},
			nil,
		},
		{
			"a tag without a digest may be another label", chain,
			func(w *world) {
				w.has("dev/shop", "web:1.4.0")
				w.offers("web:1.5.0@" + digestA)
			},
			[]string{"web:1.4.0"},
		},
		{
			"two digests need no word", chain,
			func(w *world) {
				w.has("dev/shop", "web:1.4.0@"+digestB)
				w.offers("web:1.5.0@" + digestA)
			},
			nil,
		},
		{
			"a given version is not asked about", chain,
			func(w *world) {
				w.has("dev/shop", "web:1.4.0")
				w.given("web:1.5.0")
			},
			nil,
		},
		{
			"a moving tag is ordered by dates", chain,
			func(w *world) {
				w.has("dev/shop", "moving:released@"+digestA)
				w.offers("moving:released@" + digestB)
			},
			[]string{"moving:released@sha256:aaaaaaaaaaaa created", "moving:released@sha256:bbbbbbbbbbbb created"},
		},
		{
			"a child that differs from its parent, each tag once", chain,
			func(w *world) {
				w.has("dev/shop", "web:1.5.0")
				w.has("staging/shop", "web:1.4.0")
				w.has("prod/shop", "web:1.4.0")
			},
			[]string{"web:1.4.0", "web:1.5.0"},
		},
		{
			"where the tag of a parent points now", chain,
			func(w *world) {
				w.has("dev/shop", "web:1.5.0@"+digestB)
				w.has("staging/shop", "web:1.4.0@"+digestA)
			},
			[]string{"web:1.5.0"},
		},
		{
			"nothing about environments that are only looked at", chain,
			func(w *world) {
				w.has("dev/shop", "web:1.4.0")
				w.has("staging/shop", "web:1.3.0")
				w.has("prod/shop", "web:1.2.0")
				w.offers("web:1.5.0@" + digestA)
				w.Environments = []string{"staging"}
			},
			[]string{"web:1.3.0", "web:1.4.0"},
		},
		{
			"the tag of a condition, and what it is compared with", gated,
			func(w *world) {
				w.has("dev", "web:1.5.0")
				w.has("prod", "web:1.4.0@"+digestA)
			},
			[]string{"web:1.5.0", "web:qa-passed"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.config)
			test.see(w)
			if diff := cmp.Diff(test.want, w.questions()); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}
