package promotion_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/config"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// lane is a world in which decisions are carried out.
func lane(t *testing.T, text string) *world {
	t.Helper()
	return laneOf(t, loaded(t, text))
}

func laneOf(t *testing.T, c *config.Config) *world {
	t.Helper()
	w := worldOf(t, c)
	w.Checkout = false
	w.Landings = map[promotion.Target][]promotion.Landing{}
	w.Reverted = map[promotion.Target][]promotion.Reversion{}
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
func (w *world) landed(target string, at, until time.Time, texts ...string) *promotion.Landing {
	w.answers(texts...)
	p := w.place(target)
	w.Landings[p] = append(w.Landings[p], promotion.Landing{Commit: "c0ffee", Snapshot: pinnedTo(texts...), At: at, Until: until})
	return &w.Landings[p][len(w.Landings[p])-1]
}

// stands says what stands in a place, in its files and by its trailers.
func (w *world) stands(target string, at time.Time, texts ...string) *promotion.Landing {
	w.has(target, texts...)
	return w.landed(target, at, time.Time{}, texts...)
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

func (w *world) statePlace(target string) state.Target { return state.Target(w.place(target)) }

// byAda is an act of a person, an hour ago.
func byAda(why string) state.Act {
	return state.Act{By: identity.User{Host: "github.com", Login: "ada"}, At: ago(time.Hour), Why: why}
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

// images writes components as the state remembers them.
func images(texts ...string) map[string]string {
	found := map[string]string{}
	for component, pinned := range pinnedTo(texts...) {
		found[component] = strings.TrimSuffix(pinned.Repository.String()+":"+pinned.Version.Tag+"@"+pinned.Version.Digest, "@")
	}
	return found
}
