package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/state"
)

// soakingWorld is a world in which staging lands in a way, and prod waits until a version was there for 30 seconds.
func soakingWorld(t *testing.T, land string) *world {
	t.Helper()
	return newWorld(t, soakingConfig(land))
}

func soakingConfig(land string) string {
	config := strings.ReplaceAll(threeEnvironments, "after: [staging]", "after: {staging: {soak: 30s}}")
	return strings.Replace(config, "after: [dev]}", "after: [dev], land: "+land+"}", 1)
}

// merge merges the open pull request of a branch as a user, where staging lands by pull requests.
func (w *world) mergeOpen(head string) {
	w.t.Helper()
	for _, pr := range w.Forge.All() {
		if pr.Head.Branch == head && string(pr.State) == "open" {
			w.mergeByHand(pr.Number, "merge")
		}
	}
}

// lands reconciles until staging has what it gets, in whatever way it lands.
func (w *world) lands() {
	w.t.Helper()
	w.run()
	w.mergeOpen("promoter/staging/shop")
	w.run()
}

// root returns the first commit, which has the first versions everywhere.
func (w *world) root() string {
	w.t.Helper()
	root := ""
	for commit, err := range w.Git.Objects().History(w.Git.Branch("main")) {
		if err != nil {
			w.t.Fatal(err)
		}
		root = commit.ID
	}
	return root
}

// leaves is how a version leaves staging and comes back, by the name of the way.
var leaves = map[string]struct{ leave, back func(w *world) }{ //nolint:gochecknoglobals // a constant
	"a rollback and a resume": {
		leave: func(w *world) {
			images := map[string]string{
				"web":    web + ":1.0.0@" + reconciletest.Digest("web 1.0.0"),
				"worker": worker + ":1.0.0@" + reconciletest.Digest("worker 1.0.0"),
			}
			w.decide(state.Rollback(in("staging"), state.RolledBack{Act: w.act("slow"), Images: images, Commit: w.root()}))
			w.lands()
		},
		back: func(w *world) {
			w.decide(state.Resume(in("staging"), w.act("")))
			w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
		},
	},
	"a revert in Git and a revert of that": {
		leave: func(w *world) { w.byHand("main", "staging", line(web, "1.1.0"), line(web, "1.0.0")); w.run() },
		back:  func(w *world) { w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0")) },
	},
	"a revert that no reconciliation sees": {
		leave: func(w *world) { w.byHand("main", "staging", line(web, "1.1.0"), line(web, "1.0.0")) },
		back:  func(w *world) { w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0")) },
	},
	"a pull request of a user": {
		leave: func(w *world) {
			w.Git.Set("revert", w.Git.Branch("main"))
			w.byHand("revert", "staging", line(web, "1.1.0"), line(web, "1.0.0"))
			w.mergeByHand(w.Forge.ByHand("ada", "revert", "main", true), "merge")
			w.run()
		},
		back: func(w *world) {
			w.Git.Set("again", w.Git.Branch("main"))
			w.byHand("again", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
			w.mergeByHand(w.Forge.ByHand("ada", "again", "main", true), "merge")
		},
	},
}

// A version that leaves the parent and comes back soaks from when it came back.
func TestPeriods_soakAgainAfterComingBack(t *testing.T) {
	t.Parallel()
	for name, way := range leaves {
		for _, land := range []string{"push", "pr", "automerge"} {
			t.Run(name+" "+land, func(t *testing.T) {
				t.Parallel()
				w := soakingWorld(t, land)
				w.push(web, "1.1.0")
				w.run()
				w.lands()
				w.holds("staging", "1.1.0 1.0.0")
				w.Clock.Add(8 * time.Second)
				way.leave(w)
				w.holds("staging", "1.0.0 1.0.0")
				w.Clock.Add(10 * time.Second)
				way.back(w)
				w.run()
				w.holds("staging", "1.1.0 1.0.0")
				w.Clock.Add(15 * time.Second) // 33 seconds after it was there first
				w.run()
				w.holds("prod", "1.0.0 1.0.0")
				w.Clock.Add(14 * time.Second)
				wantReason(t, w.run(), "prod", "staging soak", "present since 2026-11-18T11:00:18Z, again")
				w.holds("prod", "1.0.0 1.0.0")
				w.calm()
				w.Clock.Add(time.Second)
				w.run()
				w.holds("prod", "1.1.0 1.0.0")
			})
		}
	}
}

// Another form of the same digests continues a period.
func TestPeriods_anotherFormContinues(t *testing.T) {
	t.Parallel()
	for _, land := range []string{"push", "pr"} {
		t.Run(land, func(t *testing.T) {
			t.Parallel()
			w := soakingWorld(t, land)
			w.push(web, "1.1.0")
			w.run()
			w.lands()
			w.Clock.Add(20 * time.Second)
			w.byHand("main", "staging", web+":1.1.0@", web+"@")
			w.run()
			w.holds("prod", "1.0.0 1.0.0")
			w.Clock.Add(10 * time.Second)
			w.run()
			w.holds("prod", "1.1.0 1.0.0")
		})
	}
}

// A version on hold goes on soaking, and a resume begins no period.
func TestPeriods_holdGoesOnSoaking(t *testing.T) {
	t.Parallel()
	w := soakingWorld(t, "push")
	w.push(web, "1.1.0")
	w.run()
	w.lands()
	w.Clock.Add(10 * time.Second)
	w.decide(state.Hold(in("staging"), w.act("")))
	w.run()
	w.Clock.Add(10 * time.Second)
	w.decide(state.Resume(in("staging"), w.act("")))
	w.run()
	w.holds("prod", "1.0.0 1.0.0")
	w.Clock.Add(10 * time.Second)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
}

// The forge proves when a pull request of a user was merged, if it was merged in the commit that brought the versions, and
// into the branch of the parent: by any method, with any message, and also from a fork.
func TestPeriods_beginWithTheMergeOfAUser(t *testing.T) {
	t.Parallel()
	const merged = "present since 2026-11-18T11:00:00Z"
	tests := map[string]struct {
		method, base string
		fork         bool
		want         string
	}{
		"merge":             {"merge", "main", false, merged},
		"squash":            {"squash", "main", false, merged},
		"rebase":            {"rebase", "main", false, merged},
		"of a fork":         {"squash", "main", true, merged},
		"into another base": {"merge", "next", false, "present since 2026-11-18T11:00:20Z"},
		"a push":            {"", "main", false, "present since 2026-11-18T11:00:20Z"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := soakingWorld(t, "pr")
			w.push(web, "1.1.0")
			w.run()
			w.Git.Set("fix/web", w.Git.Branch("main"))
			w.byHand("fix/web", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
			w.Git.Set("next", w.Git.Branch("main"))
			number := w.Forge.ByHand("ada", "fix/web", test.base, !test.fork)
			if test.method == "" {
				w.Git.Set("main", w.Git.Branch("fix/web"))
			} else {
				w.mergeByHand(number, test.method)
			}
			w.Clock.Add(20 * time.Second)
			if test.base != "main" {
				w.Git.Set("main", w.Git.Branch(test.base))
			}
			wantReason(t, w.run(), "prod", test.want)
			asked := w.Forge.Calls["merged as"]
			w.Clock.Add(10 * time.Second)
			w.run()
			if test.want == merged {
				w.holds("prod", "1.1.0 1.0.0")
			} else {
				w.holds("prod", "1.0.0 1.0.0")
			}
			w.calm()
			if again := w.Forge.Calls["merged as"] - asked; asked == 0 || again > 0 {
				t.Errorf("asked %d times, then %d times more", asked, again)
			}
		})
	}
}

// withMemory reconciles with what landed, and what files had, in a memory. It returns how many commits were read.
func (w *world) withMemory(memory *verdicts) int {
	w.t.Helper()
	r := w.Reconciler()
	files := reads{Files: r.Clients.Files, commits: map[string]int{}}
	r.Clients.Landings, r.Clients.Files = memory, files
	report, err := r.Reconcile(w.t.Context())
	if err != nil || report.Failed() {
		w.t.Fatalf("the run failed: %v, %+v, %s", err, report.Errors, report.Unusable)
	}
	delete(files.commits, w.Git.Branch("main")) // the files of now
	return len(files.commits)
}

// What files had is read once: later, only new commits are.
func TestPeriods_readNewCommitsOnly(t *testing.T) {
	t.Parallel()
	w := soakingWorld(t, "push")
	memory := &verdicts{all: map[string]string{}}
	for _, tag := range []string{"1.1.0", "1.2.0", "1.3.0", "1.4.0"} {
		w.push(web, tag)
		w.withMemory(memory)
		w.withMemory(memory)
	}
	w.holds("staging", "1.4.0 1.0.0")
	if n := w.withMemory(memory); n != 0 {
		t.Errorf("%d commits were read again", n)
	}
	w.byHand("main", "staging", line(web, "1.4.0"), line(web, "1.3.0"))
	w.byHand("main", "staging", line(web, "1.3.0"), line(web, "1.4.0"))
	if n := w.withMemory(memory); n > 2 {
		t.Errorf("%d commits were read for two new ones", n)
	}
	wantReason(t, w.run(), "prod", "again")
}

// Over the limit of one reconciliation, nothing is known to continue. The next one goes on.
func TestPeriods_goOnAfterTheLimit(t *testing.T) {
	t.Parallel()
	for name, remembers := range map[string]bool{"with a memory": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := soakingWorld(t, "push")
			w.push(web, "1.1.0")
			w.run()
			w.lands()
			for range 250 {
				w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Touch", func(all map[string]string) { all["staging/shop.txt"] += "#\n" })
			}
			memory := &verdicts{all: map[string]string{}}
			w.Clock.Add(20 * time.Second)
			w.withMemory(memory)
			w.Clock.Add(10 * time.Second)
			if !remembers {
				memory = &verdicts{all: map[string]string{}}
			}
			w.withMemory(memory)
			if remembers {
				w.holds("prod", "1.1.0 1.0.0")
			} else {
				w.holds("prod", "1.0.0 1.0.0")
			}
		})
	}
}

// What was replaced while no reconciliation ran soaked until then at most. Here the forge does not report pushes.
func TestPeriods_endBeforeTheyAreSeenToEnd(t *testing.T) {
	t.Parallel()
	w := soakingWorld(t, "push")
	w.Forge.HidesPushes = true
	w.push(web, "1.1.0")
	w.run()
	w.lands()
	w.Clock.Add(10 * time.Second)
	w.push(web, "1.2.0")
	w.byHand("main", "staging", line(web, "1.1.0"), line(web, "1.2.0"))
	w.Clock.Add(time.Hour)
	w.run()
	w.holds("prod", "1.0.0 1.0.0")
	w.calm()
	w.Clock.Add(30 * time.Second)
	w.run()
	w.holds("prod", "1.2.0 1.0.0")
}
