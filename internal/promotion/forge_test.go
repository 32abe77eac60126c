package promotion_test

import (
	"errors"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// forge says that a forge is there: what it has not told is not there.
func (w *world) forge() *world {
	w.Checkout = false
	w.Open = map[string]promotion.Open{}
	w.Landings = map[promotion.Target][]promotion.Landing{}
	w.Reverted = map[promotion.Target][]promotion.Reversion{}
	return w
}

// opened puts a pull request of ours on a branch.
func (w *world) opened(branch string, number int, snapshots map[string]promotion.Snapshot) promotion.Open {
	open := promotion.Open{Number: number, Head: branch, Commit: "c0ffee", Snapshots: snapshots, Opened: noon.Add(-time.Hour)}
	w.Open[branch] = open
	return open
}

// snapshotOf reads COMPONENT:TAG@DIGEST.
func snapshotOf(texts ...string) promotion.Snapshot {
	snapshot := promotion.Snapshot{}
	for _, text := range texts {
		component, rest, _ := strings.Cut(text, ":")
		snapshot[component] = promotion.Pinned{Repository: repository(component), Version: version(rest)}
	}
	return snapshot
}

// of makes the snapshots of a pull request of one application.
func of(application string, texts ...string) map[string]promotion.Snapshot {
	return map[string]promotion.Snapshot{application: snapshotOf(texts...)}
}

func act(login string) state.Act {
	return state.Act{By: identity.User{Login: login}, At: noon.Add(-time.Hour)}
}

// peopleDecide makes changes of the state branch.
func (w *world) peopleDecide(changes ...state.Change) {
	w.t.Helper()
	changed, err := w.State.Apply(changes...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.State = changed
}

// asks says who asked for a promotion into a place.
func (w *world) asks(target, login string) {
	w.peopleDecide(state.Ask(state.Target(w.place(target)), state.Request{Act: act(login)}))
}

// rejects says that a person rejected COMPONENT:TAG@DIGEST in a place.
func (w *world) rejects(target string, texts ...string) {
	images := map[string]string{}
	for component, pinned := range snapshotOf(texts...) {
		images[component] = pinned.String()
	}
	w.peopleDecide(state.Reject(state.Target(w.place(target)), state.Rejection{Act: act("ada"), Images: images}))
}

// arrange plans and arranges.
func (w *world) arrange() []promotion.Proposal { return w.arrangeAt(noon) }

func (w *world) arrangeAt(now time.Time) []promotion.Proposal {
	return promotion.Arrange(w.Observation, promotion.Plan(w.Observation, now), now)
}

// expectShort compares all proposals.
func (w *world) expectShort(want ...string) {
	w.t.Helper()
	w.expectShortAt(noon, want...)
}

func (w *world) expectShortAt(now time.Time, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, inShort(w.arrangeAt(now))); diff != "" {
		w.t.Error(diff)
	}
}

// only arranges and returns the one proposal that there must be.
func (w *world) only() promotion.Proposal {
	w.t.Helper()
	proposals := w.arrange()
	if len(proposals) != 1 {
		w.t.Fatalf("%d proposals: %v", len(proposals), inShort(proposals))
	}
	return proposals[0]
}

// expectOnly compares the one proposal that there must be.
func (w *world) expectOnly(step promotion.Step, land bool, reason string) {
	w.t.Helper()
	p := w.only()
	if p.Step != step || p.Land != land || p.Reason.Message != reason {
		w.t.Errorf("%s, land %v: %s\nwant %s, land %v: %s", p.Step, p.Land, p.Reason, step, land, reason)
	}
}

// inShort tells proposals as "step branch [applications]: reason".
func inShort(proposals []promotion.Proposal) []string {
	var lines []string
	for _, p := range proposals {
		var names []string
		for _, d := range p.Decisions {
			names = append(names, d.Environment+"/"+d.Application)
		}
		line := string(p.Step) + " " + p.Head + " [" + strings.Join(names, " ") + "]: " + p.Reason.Message
		if p.Land {
			line = "land, " + line
		}
		lines = append(lines, line)
	}
	return lines
}

var errDown = errors.New("down")

const (
	digestC = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
	digestD = "sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
)

// stood says what stood in a place from AGO until UNTIL before noon, the newest
// first; 0: it stands there now. The registry still has it.
func (w *world) stood(target string, ago, until time.Duration, texts ...string) {
	w.stillHas(texts...)
	landing := promotion.Landing{Commit: "c0ffee", Snapshot: snapshotOf(texts...), At: noon.Add(-ago)}
	if until > 0 {
		landing.Until = noon.Add(-until)
	}
	at := w.place(target)
	w.Landings[at] = append(w.Landings[at], landing)
}

// stillHas says that the registry's tags point where the texts say.
func (w *world) stillHas(texts ...string) {
	for component, pinned := range snapshotOf(texts...) {
		w.fact(component, pinned.Version.Tag, pinned.Version)
	}
}
