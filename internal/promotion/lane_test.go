package promotion_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// lane is a world in which decisions are carried out.
func lane(t *testing.T, text string) *world {
	t.Helper()
	w := newWorld(t, text)
	w.Checkout = false
	w.Landings = map[promotion.Place][]promotion.Landing{}
	w.Taken = map[promotion.Place][]promotion.Taken{}
	return w
}

// sha is a digest of one repeated digit.
func sha(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// ago is a time before noon.
func ago(d time.Duration) time.Time { return noon.Add(-d) }

// pinnedTo reads COMPONENT:TAG@DIGEST.
func pinnedTo(texts ...string) promotion.Snapshot {
	snapshot := promotion.Snapshot{}
	for _, text := range texts {
		component, rest, _ := strings.Cut(text, ":")
		v := version(rest)
		v.Version = ""
		snapshot[component] = promotion.Pinned{Repository: repository(component), Version: v}
	}
	return snapshot
}

// landed says what stood in a place, in calls from the newest to the oldest. The
// registry still has all of it.
func (w *world) landed(place string, at, until time.Time, texts ...string) *promotion.Landing {
	w.answers(texts...)
	p := w.place(place)
	w.Landings[p] = append(w.Landings[p], promotion.Landing{Commit: "c0ffee", Snapshot: pinnedTo(texts...), At: at, Until: until})
	return &w.Landings[p][len(w.Landings[p])-1]
}

// stands says what stands in a place, in its files and by its trailers.
func (w *world) stands(place string, at time.Time, texts ...string) *promotion.Landing {
	w.has(place, texts...)
	return w.landed(place, at, time.Time{}, texts...)
}

// answers says that tags point where the texts say.
func (w *world) answers(texts ...string) {
	for component, pinned := range pinnedTo(texts...) {
		v := pinned.Version
		fact := promotion.Fact{Repository: pinned.Repository, Tag: v.Tag}
		if _, known := w.Facts[fact]; !known && v.Digest != "" && v.Tag != "" {
			w.Facts[fact] = image.Version{Digest: v.Digest}
		}
		if component == "moving" || v.Tag == "" {
			fact.Digest = v.Digest
			w.Facts[fact] = image.Version{Digest: v.Digest}
		}
	}
}

// decides changes the state as people and passes do.
func (w *world) decides(changes ...state.Change) {
	for _, change := range changes {
		w.State = change(w.State)
	}
}

func (w *world) statePlace(place string) state.Place { return state.Place(w.place(place)) }

// byAda is an act of a person, an hour ago.
func byAda(why string) state.Act {
	return state.Act{By: identity.Person{Host: "github.com", Login: "ada"}, At: ago(time.Hour), Why: why}
}

// condition returns the condition of that name.
func condition(t *testing.T, d promotion.Decision, name string) promotion.Condition {
	t.Helper()
	for _, c := range d.Conditions {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no condition %q in %+v", name, d.Conditions)
	return promotion.Condition{}
}

// soaking asks for a soak of an hour before staging.
const soaking = components + `
environments:
  dev: {paths: ["dev/{application}"]}
  staging: {paths: ["staging/{application}"], after: {dev: {soak: 1h}}}
  prod: {paths: ["prod/{application}"], after: [staging]}
`

func TestPlan_G13_onceEligibleStaysSo(t *testing.T) {
	t.Parallel()
	past := func(t *testing.T) (*world, *promotion.Landing) {
		t.Helper()
		w := lane(t, soaking)
		w.stands("dev/shop", ago(10*time.Minute), "web:1.6.0@"+sha("6"))
		landing := w.landed("dev/shop", ago(3*time.Hour), ago(10*time.Minute), "web:1.5.0@"+sha("5"))
		w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		return w, landing
	}
	const waits = "dev soak: there since 2026-11-18T10:50:00Z"
	t.Run("after the parent moved on", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		d := w.expect("staging/shop", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
		if v, _ := d.Wanted("web"); v.Digest != sha("5") {
			t.Errorf("wanted %+v", v)
		}
	})
	t.Run("the newer one goes when it is eligible", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.Landings[w.place("dev/shop")][0].At = ago(time.Hour)
		w.expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
	})
	t.Run("not when it left before it was", func(t *testing.T) {
		t.Parallel()
		w, landing := past(t)
		landing.At = ago(time.Hour)
		d := w.expect("staging/shop", promotion.Waiting, waits)
		if due := noon.Add(50 * time.Minute); !d.Reason.Until.Equal(due) {
			t.Errorf("until %v, want %v", d.Reason.Until, due)
		}
	})
	t.Run("not when nobody knows for how long it stood there", func(t *testing.T) {
		t.Parallel()
		w, landing := past(t)
		landing.At = time.Time{}
		w.expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not when it was taken back there", func(t *testing.T) {
		t.Parallel()
		w, landing := past(t)
		landing.TakenBack = true
		w.expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not when it was rejected there", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.decides(state.Reject(w.statePlace("dev/shop"), state.Rejection{
			Act: byAda("broken"), Images: map[string]string{"web": "quay.io/acme/web:1.5.0@" + sha("5")},
		}))
		w.expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not when it was rejected everywhere", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.decides(state.Reject(state.Place{Environment: state.All, Application: state.All}, state.Rejection{
			Act: byAda("broken"), Images: map[string]string{"web": "quay.io/acme/web:1.5.0@" + sha("5")},
		}))
		w.expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not from before a component was there", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.has("dev/shop", "worker:2.0.0@"+sha("0"))
		w.Landings[w.place("dev/shop")][0].Snapshot = pinnedTo("web:1.6.0@"+sha("6"), "worker:2.0.0@"+sha("0"))
		w.answers("worker:2.0.0@" + sha("0"))
		w.has("staging/shop", "worker:1.9.0@"+sha("9"))
		w.expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("nothing older than what is here", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.Places[w.place("staging/shop")] = promotion.Present{}
		w.has("staging/shop", "web:1.5.0@"+sha("5"))
		w.landed("dev/shop", ago(9*time.Hour), ago(3*time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("staging/shop", promotion.Waiting, waits)
	})
}

// Where a parent itself went back, what it went back from is no candidate.
func TestPlan_G13_notWhatTheParentWentBackFrom(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                   string
		present, former, first string
	}{
		{"by order", "web:1.5.0@" + sha("5"), "web:1.6.0@" + sha("6"), "web:1.5.0@" + sha("5")},
		{"by what was there before", "moving:released@" + sha("5"), "moving:released@" + sha("6"), "moving:released@" + sha("5")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := lane(t, soaking)
			w.stands("dev/shop", ago(10*time.Minute), test.present)
			w.landed("dev/shop", ago(3*time.Hour), ago(10*time.Minute), test.former)
			w.landed("dev/shop", ago(4*time.Hour), ago(3*time.Hour), test.first)
			component, _, _ := strings.Cut(test.present, ":")
			w.stands("staging/shop", ago(5*time.Hour), component+":1.4.0@"+sha("4"))
			w.expect("staging/shop", promotion.Waiting, "dev soak: there since 2026-11-18T10:50:00Z")
		})
	}
}

func TestPlan_G01_diamondTakesTheNewestEligibleInBoth(t *testing.T) {
	t.Parallel()
	const text = components + `
environments:
  dev: {paths: [dev]}
  a: {paths: [a], after: [dev]}
  b: {paths: [b], after: [dev]}
  prod: {paths: [prod], after: {a: {soak: 1h}, b: {}}}
`
	t.Run("one that both have had", func(t *testing.T) {
		t.Parallel()
		w := lane(t, text)
		w.stands("a", ago(2*time.Hour), "web:1.6.0@"+sha("6"))
		w.landed("a", ago(9*time.Hour), ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("prod", promotion.Proposed, "a and b had: web 1.4.0 -> 1.5.0")
	})
	t.Run("the newest of several", func(t *testing.T) {
		t.Parallel()
		w := lane(t, text)
		w.stands("a", ago(2*time.Hour), "web:1.6.0@"+sha("6"))
		w.landed("a", ago(9*time.Hour), ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Hour), "web:1.7.0@"+sha("7"))
		w.landed("b", ago(2*time.Hour), ago(time.Hour), "web:1.6.0@"+sha("6"))
		w.landed("b", ago(9*time.Hour), ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("prod", promotion.Proposed, "a and b have: web 1.4.0 -> 1.6.0")
	})
	t.Run("waits for what both have had", func(t *testing.T) {
		t.Parallel()
		w := lane(t, text)
		w.stands("a", ago(10*time.Minute), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Minute), "web:1.6.0@"+sha("6"))
		w.landed("b", ago(2*time.Hour), ago(time.Minute), "web:1.5.0@"+sha("5"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("prod", promotion.Waiting, "a soak: there since 2026-11-18T10:50:00Z")
	})
	t.Run("the one of several that is eligible", func(t *testing.T) {
		t.Parallel()
		w := lane(t, strings.Replace(text, "b: {}", "b: {soak: 1h}", 1))
		w.stands("a", ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Minute), "web:1.5.0@"+sha("5"), "worker:2.1.0@"+sha("1"))
		w.landed("b", ago(2*time.Hour), ago(time.Minute), "web:1.5.0@"+sha("5"), "worker:2.0.0@"+sha("0"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"), "worker:1.9.0@"+sha("9"))
		w.expect("prod", promotion.Proposed, "a and b have: web 1.4.0 -> 1.5.0, worker 1.9.0 -> 2.0.0")
	})
	t.Run("nothing in common", func(t *testing.T) {
		t.Parallel()
		w := lane(t, text)
		w.stands("a", ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(2*time.Hour), "web:1.6.0@"+sha("6"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("prod", promotion.Waiting, "the environments before differ: web 1.5.0 in a, 1.6.0 in b")
	})
	t.Run("each knows one component", func(t *testing.T) {
		t.Parallel()
		w := lane(t, text)
		w.stands("a", ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Minute), "worker:2.1.0@"+sha("1"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"), "worker:2.0.0@"+sha("0"))
		w.expect("prod", promotion.Proposed, "a and b have: web 1.4.0 -> 1.5.0, worker 2.0.0 -> 2.1.0")
	})
}

func TestPlan_G03_soakInLanes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		see    func(w *world)
		state  promotion.State
		reason string
		until  time.Duration // after noon; 0: none
	}{
		{
			"soaked to the second",
			func(w *world) { w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5")) },
			promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0", 0,
		},
		{
			"not yet",
			func(w *world) { w.stands("dev/shop", ago(59*time.Minute), "web:1.5.0@"+sha("5")) },
			promotion.Waiting, "dev soak: there since 2026-11-18T10:01:00Z", time.Minute,
		},
		{
			"a time that is not yet counts as now",
			func(w *world) { w.stands("dev/shop", ago(-5*time.Hour), "web:1.5.0@"+sha("5")) },
			promotion.Waiting, "dev soak: there since 2026-11-18T11:00:00Z", time.Hour,
		},
		{
			"no time is known",
			func(w *world) { w.stands("dev/shop", time.Time{}, "web:1.5.0@"+sha("5")) },
			promotion.Waiting, "dev soak: first seen now", time.Hour,
		},
		{
			"no landing is known",
			func(w *world) {
				w.has("dev/shop", "web:1.5.0@"+sha("5"))
				w.answers("web:1.5.0@" + sha("5"))
			},
			promotion.Waiting, "dev soak: first seen now", time.Hour,
		},
		{
			"landings in a row that hold the same count together",
			func(w *world) {
				w.stands("dev/shop", ago(time.Minute), "web:1.5.0@"+sha("5"), "worker:2.1.0@"+sha("1"))
				w.landed("dev/shop", ago(2*time.Hour), ago(time.Minute), "web:1.5.0@"+sha("5"), "worker:2.0.0@"+sha("0"))
			},
			promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0", 0,
		},
		{
			"the oldest provable time, where the oldest is not known",
			func(w *world) {
				w.stands("dev/shop", ago(10*time.Minute), "web:1.5.0@"+sha("5"))
				w.landed("dev/shop", ago(30*time.Minute), ago(10*time.Minute), "web:1.5.1@"+sha("5"))
				w.landed("dev/shop", time.Time{}, ago(30*time.Minute), "web:1.5.1@"+sha("5"))
			},
			promotion.Waiting, "dev soak: there since 2026-11-18T10:30:00Z", 30 * time.Minute,
		},
		{
			"it begins again when it comes back",
			func(w *world) {
				w.stands("dev/shop", ago(10*time.Minute), "web:1.6.0@"+sha("6"))
				w.landed("dev/shop", ago(30*time.Minute), ago(10*time.Minute), "web:1.5.0@"+sha("5"))
				w.landed("dev/shop", ago(9*time.Hour), ago(30*time.Minute), "web:1.6.0@"+sha("6"))
			},
			promotion.Waiting, "dev soak: there since 2026-11-18T10:50:00Z", 50 * time.Minute,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := lane(t, soaking)
			test.see(w)
			w.stands("staging/shop", ago(9*time.Hour), "web:1.4.0@"+sha("4"))
			d := w.expect("staging/shop", test.state, test.reason)
			want := time.Time{}
			if test.until != 0 {
				want = noon.Add(test.until)
			}
			if !d.Reason.Until.Equal(want) {
				t.Errorf("until %v, want %v", d.Reason.Until, want)
			}
		})
	}
}

func TestPlan_G03_soakNeedsEvidenceWhereHealthIsKnown(t *testing.T) {
	t.Parallel()
	const text = components + `
environments:
  dev: {paths: [dev], health: {api: true}}
  prod: {paths: [prod], after: {dev: {soak: 1h}}}
`
	w := lane(t, text)
	w.stands("dev", ago(9*time.Hour), "web:1.5.0@"+sha("5"))
	w.stands("prod", ago(9*time.Hour), "web:1.4.0@"+sha("4"))
	d := w.expect("prod", promotion.Waiting, "dev soak: no evidence source yet")
	want := promotion.Condition{Name: "dev soak", State: promotion.Unknown, Reason: "no evidence source yet", Value: "1h"}
	if diff := cmp.Diff(want, condition(t, d, "dev soak")); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
}

func TestPlan_G07_checksOnTheParentsCommit(t *testing.T) {
	t.Parallel()
	const text = components + `
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
			w := lane(t, text)
			w.stands("dev", ago(time.Hour), "web:1.5.0@"+sha("5")).Checks = test.checks
			w.stands("prod", ago(9*time.Hour), "web:1.4.0@"+sha("4"))
			w.expect("prod", test.state, test.reason)
		})
	}
}

func TestPlan_G08_noDifferenceInLanes(t *testing.T) {
	t.Parallel()
	t.Run("same passes on", func(t *testing.T) {
		t.Parallel()
		w := lane(t, soaking)
		w.stands("dev/shop", ago(time.Minute), "web:1.5.0@"+sha("5"))
		w.stands("staging/shop", ago(time.Minute), "web:1.5.0@"+sha("5"))
		w.stands("prod/shop", ago(time.Minute), "web:1.4.0@"+sha("4"))
		w.expect("staging/shop", promotion.Same, "holds this already")
		w.expect("prod/shop", promotion.Proposed, "staging has: web 1.4.0 -> 1.5.0")
	})
	t.Run("absent is looked through, and its conditions asked of the one before", func(t *testing.T) {
		t.Parallel()
		w := lane(t, strings.Replace(soaking, "after: [staging]", "after: {staging: {soak: 2h}}", 1))
		w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("prod/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("staging/shop", promotion.Absent, "shop has no files in staging")
		w.expect("prod/shop", promotion.Waiting, "staging soak (in dev): there since 2026-11-18T10:00:00Z")
	})
	t.Run("no reference keeps the next one waiting", func(t *testing.T) {
		t.Parallel()
		w := lane(t, soaking)
		w.stands("dev/shop", ago(9*time.Hour), "web:1.5.0@"+sha("5"))
		w.has("staging/shop")
		w.landed("staging/shop", ago(9*time.Hour), ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("prod/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("prod/shop", promotion.Waiting, "staging holds no reference to a followed component")
	})
}

func TestPlan_G12_taggedInLanes(t *testing.T) {
	t.Parallel()
	const text = components + `
environments:
  dev: {paths: [dev]}
  prod: {paths: [prod], after: {dev: {tagged: qa-passed}}}
`
	w := lane(t, text)
	w.stands("dev", ago(time.Hour), "web:1.6.0@"+sha("6"))
	w.landed("dev", ago(9*time.Hour), ago(time.Hour), "web:1.5.0@"+sha("5"))
	w.stands("prod", ago(9*time.Hour), "web:1.4.0@"+sha("4"))
	w.expect("prod", promotion.Waiting, "dev tagged qa-passed: not known for web")
	w.fact("web", "qa-passed", image.Version{Digest: sha("5")})
	w.expect("prod", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
	w.fact("web", "qa-passed", image.Version{Digest: sha("6")})
	w.expect("prod", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
	w.fact("web", "qa-passed", image.Version{Digest: sha("9")})
	w.expect("prod", promotion.Waiting,
		"dev tagged qa-passed: web: the tag points at sha256:999999999999, not at sha256:666666666666")
}

func TestPlan_M13_tagOnlyInLanes(t *testing.T) {
	t.Parallel()
	world := func(t *testing.T, dev, trailer string) *world {
		t.Helper()
		w := lane(t, chain)
		w.has("dev/shop", dev)
		if trailer != "" {
			w.landed("dev/shop", ago(time.Hour), time.Time{}, trailer)
		}
		w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"), "moving:released@"+sha("4"))
		return w
	}
	t.Run("a trailer tells the digest", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "web:1.5.0@"+sha("5"))
		d := w.expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
		if v, _ := d.Wanted("web"); v.Digest != sha("5") {
			t.Errorf("wanted %+v", v)
		}
	})
	t.Run("the tag moved since", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "web:1.5.0@"+sha("5"))
		w.fact("web", "1.5.0", image.Version{Digest: sha("9")})
		w.expect("staging/shop", promotion.Waiting,
			"web 1.5.0: tag moved: it points at sha256:999999999999 now, not at sha256:555555555555")
	})
	t.Run("a trailer of a moving tag", func(t *testing.T) {
		t.Parallel()
		w := world(t, "moving:released", "moving:released@"+sha("5"))
		w.expect("staging/shop", promotion.Proposed, "dev has: moving sha256:444444444444 -> sha256:555555555555")
	})
	t.Run("the trailer of the landing that brought the tag", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "web:1.5.0")
		w.landed("dev/shop", ago(2*time.Hour), ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
	})
	const unknown = "digest unknown: dev holds web as the tag 1.5.0, and no commit tells which digest that was"
	t.Run("where the tag points now proves nothing", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "")
		w.fact("web", "1.5.0", image.Version{Digest: sha("5")})
		w.expect("staging/shop", promotion.Waiting, unknown)
	})
	t.Run("a trailer of another tag", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "web:1.4.9@"+sha("5"))
		w.expect("staging/shop", promotion.Waiting, unknown)
	})
	t.Run("a moving tag without a trailer", func(t *testing.T) {
		t.Parallel()
		w := world(t, "moving:released", "")
		w.expect("staging/shop", promotion.Waiting,
			"digest unknown: dev holds moving as the moving tag released without its digest")
	})
	t.Run("the same tag in both is no difference", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.has("dev/shop", "web:1.5.0")
		w.has("staging/shop", "web:1.5.0")
		w.expect("staging/shop", promotion.Same, "holds this already")
	})
}

func TestPlan_M11_imageMissingInLanes(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, version, words string }{
		{"by its tag", "web:1.5.0@" + sha("5"), "web 1.5.0: image missing: the registry has it no more"},
		{"by its digest", "moving:released@" + sha("5"), "moving released: image missing: the registry has it no more"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := lane(t, chain)
			w.stands("dev/shop", ago(time.Hour), test.version)
			w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"), "moving:released@"+sha("4"))
			for fact, v := range w.Facts {
				if v.Digest == sha("5") {
					w.Facts[fact] = image.Version{}
				}
			}
			w.expect("staging/shop", promotion.Waiting, test.words)
		})
	}
}

// An incomplete answer proposes nothing.
func TestPlan_M13_notRecheckedBlocks(t *testing.T) {
	t.Parallel()
	w := lane(t, chain)
	w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
	w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
	clear(w.Facts)
	w.expect("staging/shop", promotion.Waiting, "web 1.5.0: the registry did not say whether it still is the same")
}

func TestPlan_M14_forwardAndBackWaitsInLanes(t *testing.T) {
	t.Parallel()
	w := lane(t, chain)
	w.stands("dev/shop", ago(time.Hour), "web:1.6.0@"+sha("6"), "worker:1.9.0@"+sha("9"))
	w.landed("dev/shop", ago(9*time.Hour), ago(time.Hour), "web:1.5.0@"+sha("5"), "worker:2.0.0@"+sha("0"))
	w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"), "worker:2.0.0@"+sha("0"))
	d := w.expect("staging/shop", promotion.Waiting, "would move back: worker 2.0.0 -> 1.9.0")
	if len(d.Moves) != 2 {
		t.Errorf("the snapshot was split: %v", d.Moves)
	}
}

func TestPlan_M03_snapshotIsByFilesAndTrailersInLanes(t *testing.T) {
	t.Parallel()
	w := lane(t, chain)
	w.has("dev/shop", "web:1.4.0", "worker:2.0.0")
	w.landed("dev/shop", ago(time.Hour), time.Time{}, "web:1.4.0@"+sha("4"), "worker:2.0.0@"+sha("0"))
	w.fact("worker", "2.0.0", image.Version{Digest: sha("9")})
	w.offers("web:1.5.0@" + sha("5"))
	d := w.expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
	want := pinnedTo("web:1.5.0@"+sha("5"), "worker:2.0.0@"+sha("0"))
	if d.Snapshot.ID() != want.ID() {
		t.Errorf("snapshot %v, want %v", d.Snapshot, want)
	}
}

func TestPlan_M01_newLabelInLanes(t *testing.T) {
	t.Parallel()
	w := lane(t, chain)
	w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
	w.stands("staging/shop", ago(time.Hour), "web:1.4.9@"+sha("5"))
	w.offers("web:1.5.1@" + sha("5"))
	w.expect("dev/shop", promotion.Same, "holds this already")
	w.expect("staging/shop", promotion.Same, "holds this already")
	w.offers("web:1.5.0@" + sha("6"))
	w.expect("dev/shop", promotion.Proposed, "newer: web sha256:555555555555 -> sha256:666666666666")
}
