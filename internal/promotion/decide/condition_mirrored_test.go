package decide_test

import (
	"slices"
	"testing"
	"time"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

var mirrorOfWeb = func() image.Repository {
	r, err := image.ParseRepository("mirror.example/acme/web")
	if err != nil {
		panic(err)
	}
	return r
}()

const mirrorChain = promotiontest.Components + `
environments:
  dev: {paths: ["dev/{application}"]}
  prod: {paths: ["prod/{application}"], after: [dev], mirrors: {quay.io/acme: mirror.example/acme}}
`

// throughMirror makes all references of a target name the mirror.
func throughMirror(w *decidetest.Scenario, target string) {
	references := w.Targets[w.Target(target)].References
	for i := range references {
		references[i].Mirror = mirrorOfWeb
	}
}

func inMirror(w *decidetest.Scenario, tag, digest string) {
	if tag == "" {
		w.Facts[promotion.Fact{Repository: mirrorOfWeb, Digest: digest}] = image.Version{Digest: digest}
		return
	}
	w.Facts[promotion.Fact{Repository: mirrorOfWeb, Tag: tag}] = image.Version{Tag: tag, Digest: digest}
}

func TestPlan_mirrored(t *testing.T) {
	t.Parallel()
	four, five, six := promotiontest.Digest("4"), promotiontest.Digest("5"), promotiontest.Digest("6")
	missing := image.Version{}
	tests := map[string]struct {
		prod   string // written there
		facts  map[promotion.Fact]image.Version
		state  promotion.State
		reason string
	}{
		"the digest is there": {
			"web:1.4.0@" + four,
			map[promotion.Fact]image.Version{{Repository: mirrorOfWeb, Digest: five}: {Digest: five}},
			promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0",
		},
		"not there yet": {
			"web:1.4.0@" + four,
			map[promotion.Fact]image.Version{{Repository: mirrorOfWeb, Digest: five}: missing},
			promotion.Waiting, "web 1.5.0 mirrored: not in the mirror yet: mirror.example/acme/web has no sha256:555555555555",
		},
		"no answer": {
			"web:1.4.0@" + four, nil,
			promotion.Waiting, "web 1.5.0 mirrored: not verified: mirror.example/acme/web gave no answer",
		},
		"the tag alone proves nothing": {
			"web:1.4.0@" + four,
			map[promotion.Fact]image.Version{{Repository: mirrorOfWeb, Tag: "1.5.0"}: {Digest: five}},
			promotion.Waiting, "web 1.5.0 mirrored: not verified: mirror.example/acme/web gave no answer",
		},
		"another digest than asked for": {
			"web:1.4.0@" + four,
			map[promotion.Fact]image.Version{{Repository: mirrorOfWeb, Digest: five}: {Digest: six}},
			promotion.Waiting, "web 1.5.0 mirrored: not in the mirror yet: mirror.example/acme/web has 1.5.0 as sha256:666666666666 instead of sha256:555555555555",
		},
		"files with a tag: the tag is there": {
			"web:1.4.0",
			map[promotion.Fact]image.Version{{Repository: mirrorOfWeb, Tag: "1.5.0"}: {Digest: five}},
			promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0",
		},
		"files with a tag: no tag": {
			"web:1.4.0",
			map[promotion.Fact]image.Version{{Repository: mirrorOfWeb, Tag: "1.5.0"}: missing, {Repository: mirrorOfWeb, Digest: five}: {Digest: five}},
			promotion.Waiting, "web 1.5.0 mirrored: not in the mirror yet: mirror.example/acme/web has no tag 1.5.0",
		},
		"files with a tag: another image": {
			"web:1.4.0",
			map[promotion.Fact]image.Version{{Repository: mirrorOfWeb, Tag: "1.5.0"}: {Digest: six}, {Repository: mirrorOfWeb, Digest: five}: {Digest: five}},
			promotion.Waiting, "web 1.5.0 mirrored: not in the mirror yet: mirror.example/acme/web has 1.5.0 as sha256:666666666666 instead of sha256:555555555555",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.New(t, mirrorChain)
			w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+five)
			w.Stands("prod/shop", promotiontest.Ago(9*time.Hour), test.prod)
			throughMirror(w, "prod/shop")
			for fact, version := range test.facts {
				w.Facts[fact] = version
			}
			w.Expect("prod/shop", test.state, test.reason)
			w.Expect("dev/shop", promotion.Same, "already up to date") // it has no mirror
		})
	}
}

// What is asked of a mirror is what may be written, once, and nothing in an environment that
// names no mirror.
func TestMirrorLookups(t *testing.T) {
	t.Parallel()
	four, five := promotiontest.Digest("4"), promotiontest.Digest("5")
	w := decidetest.New(t, mirrorChain)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+five)
	w.Stands("prod/shop", promotiontest.Ago(9*time.Hour), "web:1.4.0@"+four)
	facts := func() (found []promotion.Fact) {
		lookups, err := decide.MirrorLookups(t.Context(), w.Observation)
		if err != nil {
			t.Fatal(err)
		}
		for _, lookup := range lookups {
			found = append(found, lookup.Fact)
		}
		return found
	}
	if found := facts(); found != nil {
		t.Errorf("without a mirror: %v", found)
	}
	throughMirror(w, "prod/shop")
	if found, want := facts(), []promotion.Fact{{Repository: mirrorOfWeb, Digest: five}}; !slices.Equal(found, want) {
		t.Errorf("got %v, want %v", found, want)
	}
	w.Targets[w.Target("prod/shop")].References[0].Form = edit.Form{Tag: true}
	// The version that is there may be written in the other form, too.
	if found, want := facts(), []promotion.Fact{{Repository: mirrorOfWeb, Tag: "1.4.0"}, {Repository: mirrorOfWeb, Tag: "1.5.0"}}; !slices.Equal(found, want) {
		t.Errorf("with pin: tag: got %v, want %v", found, want)
	}
	inMirror(w, "1.4.0", four)
	inMirror(w, "1.5.0", five)
	if found := facts(); found != nil {
		t.Errorf("known already: %v", found)
	}
}

// An older version that the mirror has goes ahead of a newer one that it does not have yet.
func TestPlan_mirroredVersionGoesAhead(t *testing.T) {
	t.Parallel()
	four, five, six := promotiontest.Digest("4"), promotiontest.Digest("5"), promotiontest.Digest("6")
	w := decidetest.New(t, mirrorChain)
	w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:1.6.0@"+six)
	w.Landed("dev/shop", promotiontest.Ago(time.Hour), promotiontest.Ago(time.Minute), "web:1.5.0@"+five)
	w.Stands("prod/shop", promotiontest.Ago(9*time.Hour), "web:1.4.0@"+four)
	throughMirror(w, "prod/shop")
	w.Facts[promotion.Fact{Repository: mirrorOfWeb, Digest: six}] = image.Version{}
	inMirror(w, "", five)
	d := w.Expect("prod/shop", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
	if c := promotiontest.ConditionNamed(t, d, "web 1.5.0 mirrored"); c.State != promotion.Passed || c.Value != "mirror.example/acme/web" {
		t.Errorf("condition %+v", c)
	}
	inMirror(w, "", six)
	w.Expect("prod/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
}

// A rollback needs the version in the mirror too, but a mirror that does not answer is no
// reason to keep what users want out.
func TestPlan_rollbackFromMirror(t *testing.T) {
	t.Parallel()
	four, five := promotiontest.Digest("4"), promotiontest.Digest("5")
	w := decidetest.New(t, mirrorChain)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+five)
	w.Stands("prod/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+five)
	w.Landed("prod/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "web:1.4.0@"+four)
	throughMirror(w, "prod/shop")
	w.Decides(state.Rollback(w.StateTarget("prod/shop"), state.RolledBack{Act: promotiontest.ByAda("broken"), Images: promotiontest.Images("web:1.4.0@" + four)}))
	if d := w.Decide("prod/shop"); d.State != promotion.Proposed {
		t.Errorf("the mirror does not answer: %s %s", d.State, d.Reason)
	}
	w.Facts[promotion.Fact{Repository: mirrorOfWeb, Digest: four}] = image.Version{}
	w.Expect("prod/shop", promotion.Waiting, "web 1.4.0 mirrored: not in the mirror yet: mirror.example/acme/web has no sha256:444444444444")
}
