package state_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"promoter/internal/state"
)

// answer is a change and a check whether it is still in effect.
type answer struct {
	name   string
	change state.Change
	counts func(state.State) bool
}

// answers returns decisions that do not contradict each other.
func answers(t *testing.T) []answer {
	request := state.Request{Act: act("req", 3)}
	return []answer{
		{"hold shop", state.Hold(shop, act("ann", 1)), func(s state.State) bool { return s.At(shop).Hold != nil }},
		{"hold prod", state.Hold(prod, act("ben", 1)), func(s state.State) bool { return held(s, blog, noon) != "" }},
		{"freeze all", state.Freeze(state.All, act("cho", 1), nil), func(s state.State) bool { return s.At(everyone).Freeze != nil }},
		{"reject web", state.Reject(shop, reject(1, web2)), func(s state.State) bool { return rejected(t, s, shop, web2) }},
		{"reject worker", state.Reject(shop, reject(2, worker2)), func(s state.State) bool { return rejected(t, s, shop, worker2) }},
		{"reject everywhere", state.Reject(everyone, reject(1, web2)), func(s state.State) bool { return rejected(t, s, blog, web2) }},
		{"ask", state.AddRequest(shop, request), func(s state.State) bool { return s.At(shop).Request != nil }},
		{"closed 7", state.Closed(shop, 7, "x", after(1)), func(s state.State) bool { return closed(s, 7) }},
		{"closed 8", state.Closed(shop, 8, "x", after(1)), func(s state.State) bool { return closed(s, 8) }},
		{"seen", state.FirstSeen(shop, "v1:a", "", after(1)), func(s state.State) bool { _, seen := s.SeenSince(shop, "v1:a"); return seen }},
		{"resume blog", state.Resume(blog, act("dan", 1)), func(s state.State) bool { return !s.ResumedAt(blog).IsZero() }},
	}
}

func closed(s state.State, number int) bool {
	return slices.ContainsFunc(s.At(shop).Closings, func(c state.Closing) bool { return c.Number == number })
}

// branch is the state branch with a compare-and-swap push.
type branch struct {
	files map[string]string
	moved int
}

// push writes the changes if no other writer has written since; otherwise the
// writer loads the state again.
func (b *branch) push(before, after state.State, at int) bool {
	if at != b.moved {
		return false
	}
	for path, content := range after.Diff(before) {
		if content == nil {
			delete(b.files, path)
		} else {
			b.files[path] = string(content)
		}
	}
	b.moved++
	return true
}

// TestApply_twoWritersKeepBothDecisions races two writers over every pair of
// decisions, in both orders, with a lost race and with a lost response after
// which the same change is written again.
func TestApply_twoWritersKeepBothDecisions(t *testing.T) {
	t.Parallel()
	for i, first := range answers(t) {
		for j, second := range answers(t) {
			if i == j {
				continue
			}
			b := &branch{files: map[string]string{}}
			stale := read(t, b.files)
			if !b.push(stale, apply(t, stale, first.change), 0) {
				t.Fatal("the first writer lost against nobody")
			}
			if b.push(stale, apply(t, stale, second.change), 0) {
				t.Fatal("the second writer did not notice the first")
			}
			for _, again := range []answer{second, first} {
				now := read(t, b.files)
				b.push(now, apply(t, now, again.change), b.moved)
			}
			end := read(t, b.files)
			if !first.counts(end) || !second.counts(end) {
				t.Errorf("%s, then %s: %v", first.name, second.name, b.files)
			}
		}
	}
}

// TestApply_onceIsAlways applies random changes twice each.
func TestApply_onceIsAlways(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	s := state.State{}
	for step := range 60 {
		change := randomChange(random, step)
		once := apply(t, s, change)
		same(t, once, apply(t, once, change))
		same(t, once, apply(t, s, change, change))
		same(t, once, change(s))
		same(t, once, read(t, whole(once)))
		if t.Failed() {
			t.Fatalf("seed %d, step %d", seed, step)
		}
		s = once
	}
}

func randomChange(random *rand.Rand, step int) state.Change {
	targets := []state.Target{shop, blog, prod, everyone}
	target := targets[random.IntN(len(targets))]
	a := act(fmt.Sprintf("p%d", random.IntN(3)), random.IntN(50))
	until := after(random.IntN(100))
	request := state.Request{Act: a, With: []string{web2}}
	images := reject(random.IntN(50), []string{web2, worker2}[random.IntN(2)])
	changes := []state.Change{
		state.Hold(target, a), state.Resume(target, a), state.ResumeWithin(target, a), state.Reject(target, images),
		state.Unreject(target, state.Unrejection{Act: a, Images: images.Images}), state.AddRequest(target, request),
		state.BindRequest(target, request, "v1:x"), state.RemoveRequest(target, request),
		state.Rollback(target, state.RolledBack{Act: a, Images: images.Images}),
		state.Freeze(target.Environment, a, &until), state.Thaw(target.Environment),
		state.Closed(target, random.IntN(80), "reason", until), state.ReopenedOnce(target, step, until),
		state.FirstSeen(target, fmt.Sprint("v1:", random.IntN(30)), "", until),
		state.FirstAvailable(target, state.Version{Component: "web", Digest: digestOf(random.IntN(70)), At: until}),
	}
	return changes[random.IntN(len(changes))]
}
