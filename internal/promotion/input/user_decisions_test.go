package input_test

import (
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// moveOf returns the move of web from 1.4.0 to a version.
func moveOf(component, to string) promotion.Move {
	return promotion.Move{Component: component, From: versionOf("1.4.0@B"), To: versionOf(to)}
}

func reject(number int, text string) func(*scenario) {
	return func(w *scenario) {
		images := map[string]string{}
		for component, pinned := range snapshotOf(text) {
			images[component] = pinned.String()
		}
		rejection := state.Rejection{Act: promotiontest.ByAda("broken"), Images: images, Number: number}
		w.decides(state.Reject(state.Target(target("dev/shop")), rejection))
	}
}

// block is a rejection that follows from a bot.
func block(number int, text string) func(*scenario) {
	return func(w *scenario) {
		images := map[string]string{}
		for component, pinned := range snapshotOf(text) {
			images[component] = pinned.String()
		}
		rejection := state.Rejection{Act: promotiontest.ByAda("broken"), Images: images, Number: number, Blocked: true}
		w.decides(state.Reject(state.Target(target("dev/shop")), rejection))
	}
}

func revert(component, text, commit string) func(*scenario) {
	return func(w *scenario) {
		w.Reverted = map[promotion.Target][]promotion.Reversion{target("dev/shop"): {
			{Component: "other", Version: versionOf("1.5.0@A")},
			{Component: component, Version: versionOf(text), Commit: commit},
		}}
	}
}

func TestUserDecision(t *testing.T) {
	t.Parallel()
	was := func(texts ...string) func(*scenario) {
		return func(w *scenario) {
			for i, text := range texts {
				w.landed("dev/shop", landing("", i+1, i, text))
			}
		}
	}
	form := moveOf("web", "1.5.0@A")
	form.Form = promotion.FormPinned
	const long = "0123456789abcdef0123456789abcdef01234567"
	tests := []struct {
		name  string
		see   func(w *scenario)
		moves []promotion.Move
		want  string // empty: users decided nothing
	}{
		{"nothing", func(*scenario) {}, []promotion.Move{moveOf("web", "1.5.0@A")}, ""},
		{"no moves", reject(0, "web:1.5.0@A"), nil, ""},
		{
			"a rejection", reject(0, "web:1.5.0@A"),
			[]promotion.Move{moveOf("web", "1.5.0@A")},
			"rejected: web 1.5.0 was rejected by ada on 2026-11-18: broken",
		},
		{
			"a closed pull request", reject(7, "web:1.5.0@A"),
			[]promotion.Move{moveOf("web", "1.5.0@A")},
			"rejected: web 1.5.0 was rejected by ada on 2026-11-18 (#7): broken",
		},
		{
			"a close by a bot", block(7, "web:1.5.0@A"),
			[]promotion.Move{moveOf("web", "1.5.0@A")},
			"waiting: web 1.5.0 is blocked: the bot ada closed #7 on 2026-11-18: broken",
		},
		{
			"a rejection of one of several", reject(0, "web:1.5.0@A"),
			[]promotion.Move{moveOf("worker", "1.5.0@C"), moveOf("web", "1.5.0@A")},
			"rejected: web 1.5.0 was rejected by ada on 2026-11-18: broken",
		},
		{
			"a reversion", revert("web", "1.5.0@A", long),
			[]promotion.Move{moveOf("web", "1.5.0@A")},
			"reverted: web 1.5.0 was here before and was reverted (commit 0123456789ab)",
		},
		{
			"a reversion of a short commit", revert("web", "1.5.0@A", "c0ffee"),
			[]promotion.Move{moveOf("web", "1.5.0@A")},
			"reverted: web 1.5.0 was here before and was reverted (commit c0ffee)",
		},
		{
			"a reversion of an unknown commit", revert("web", "1.5.0@A", ""),
			[]promotion.Move{moveOf("web", "1.5.0@A")},
			"reverted: web 1.5.0 was here before and was reverted",
		},
		{"a reversion of another version", revert("web", "1.6.0@D", long), []promotion.Move{moveOf("web", "1.5.0@A")}, ""},
		{"a reversion of another component", revert("worker", "1.5.0@A", long), []promotion.Move{moveOf("web", "1.5.0@A")}, ""},
		{"a reversion of what is written in another form", revert("web", "1.5.0@A", long), []promotion.Move{form}, ""},
		{"it was there before", was("web:1.4.0@B", "web:1.5.0@A"), []promotion.Move{moveOf("web", "1.5.0@A")}, ""},
		{
			"a moving tag was there before", was("moving:released@B", "moving:released@A"),
			[]promotion.Move{moveOf("moving", "released@A")},
			"waiting: moved back: moving 1.4.0 -> released",
		},
		{
			"a moving tag was reverted", revert("moving", "released@A", ""),
			[]promotion.Move{moveOf("moving", "released@A")},
			"waiting: moved back: moving 1.4.0 -> released",
		},
		{"a moving tag is new", was("moving:released@B"), []promotion.Move{moveOf("moving", "released@A")}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, chain)
			w.has("dev/shop", "web:1.4.0@B", "worker:1.4.0@B", "moving:released@B")
			test.see(w)
			in, taken := w.row("dev/shop")
			got := ""
			if s, why, decided := input.UserDecision(in, test.moves); decided {
				got = string(s) + ": " + why.Message
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if taken.Undeclared() != 0 || len(test.moves) > 0 && !taken.Has(input.UserDecisions|input.Past) {
				t.Errorf("reads %s, undeclared %s", taken, taken.Undeclared())
			}
		})
	}
}

// A version was there before if its digest was, since it was last allowed again.
func TestLandedBefore(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		landings []promotion.Landing
		allowed  time.Duration // before noon; 0: never
		to       string
		want     bool
	}{
		{"never", nil, 0, "1.5.0@A", false},
		{"it is there", []promotion.Landing{landing("", 1, 0, "web:1.5.0@A")}, time.Minute, "1.5.0@A", true},
		{"it was there", []promotion.Landing{landing("", 1, 0, "web:1.4.0@B"), landing("", 2, 1, "web:1.5.0@A")}, 0, "1.5.0@A", true},
		{"under another tag", []promotion.Landing{landing("", 2, 1, "web:latest@A")}, 0, "1.5.0@A", true},
		{"of another digest", []promotion.Landing{landing("", 2, 1, "web:1.5.0@B")}, 0, "1.5.0@A", false},
		{"of unknown digests", []promotion.Landing{landing("", 2, 1, "web:1.5.0")}, 0, "1.5.0", false},
		{"before another component", []promotion.Landing{landing("", 2, 1, "worker:1.5.0@A")}, 0, "1.5.0@A", false},
		{"until it was allowed again", []promotion.Landing{landing("", 3, 2, "web:1.5.0@A")}, time.Hour, "1.5.0@A", false},
		{"after it was allowed again", []promotion.Landing{landing("", 3, 2, "web:1.5.0@A")}, 150 * time.Minute, "1.5.0@A", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, chain)
			w.has("dev/shop", "web:1.4.0@B")
			w.landed("dev/shop", test.landings...)
			if test.allowed != 0 {
				images := map[string]string{"web": "quay.io/acme/web:1.5.0"}
				w.decides(state.Unreject(state.Target(target("dev/shop")), state.Unrejection{Act: state.Act{At: promotiontest.Ago(test.allowed)}, Images: images}))
			}
			in, taken := w.row("dev/shop")
			if got := input.LandedBefore(in, moveOf("web", test.to)); got != test.want {
				t.Errorf("%t", got)
			}
			if taken.Undeclared() != 0 || !taken.Has(input.UserDecisions|input.Past) {
				t.Errorf("reads %s, undeclared %s", taken, taken.Undeclared())
			}
		})
	}
}
