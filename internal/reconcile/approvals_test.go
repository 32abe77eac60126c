package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
)

const approvedOnce = ", gates: {approvals: {count: 1}, checks: [ci]}"

// elsewhere moves main without a change of what prod has.
func (w *world) elsewhere() {
	w.Clock.Add(time.Minute)
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Elsewhere", func(all map[string]string) {
		all["README"] = w.Clock.Now().String()
	})
}

// passes lets ci pass on the head of the pull request of prod.
func (w *world) passes() { w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckPassed) }

// Where the head must be up to date, promoter writes the others again after each merge. They bring the same, so an approval
// of each is enough.
func TestApprovals_ofHeadsThatPromoterWroteAgain(t *testing.T) {
	t.Parallel()
	services := []string{"blog", "cart", "mail", "shop"}
	config := strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], land: push}")
	w := newWorld(t, strings.ReplaceAll(config, "land: automerge}", "land: automerge"+approvedOnce+"}"))
	w.Forge.Protected = map[string]scm.Rules{"main": {Current: true}}
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Services", func(all map[string]string) {
		for _, service := range services {
			for _, environment := range environments() {
				all[environment+"/"+service+".txt"] = line(web, "1.0.0") + "\n"
			}
		}
	})
	w.pushAndRun(web, "1.1.0")
	for _, pr := range w.Forge.All() {
		w.Forge.Review(pr.Number, "ada", scm.Approved)
	}
	for range 2 * len(services) { // heads that were written again are tested again
		for _, pr := range w.Forge.All() {
			if pr.State == scm.StateOpen {
				w.Forge.Check(pr.Head.Commit, "ci", scm.CheckPassed)
			}
		}
		w.run()
	}
	for _, service := range services {
		if got := w.Git.FilesOf(w.Git.Branch("main"))["prod/"+service+".txt"]; got != line(web, "1.1.0")+"\n" {
			t.Errorf("prod has %s of %s", got, service)
		}
	}
	w.calm()
}

// behind is a world in which the approved head of prod was written again on a newer base.
func behind(t *testing.T, change func(w *world)) *world {
	t.Helper()
	w := protected(t, approvedOnce, scm.Rules{Current: true})
	w.Forge.Review(2, "ada", scm.Approved)
	w.passes()
	change(w)
	head := w.pull(2).Head.Commit
	w.run()
	if w.pull(2).Head.Commit == head {
		t.Fatal("the head is as it was")
	}
	return w
}

// An approval counts for the same content alone.
func TestApprovals_countForTheSameContentAlone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(w *world) // of the approved head, or of its base
		lands  bool
	}{
		"the base moved": {(*world).elsewhere, true},
		"another line of the file": {func(w *world) {
			w.byHand("main", "prod", line(worker, "1.0.0"), "# unrelated\n"+line(worker, "1.0.0"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := behind(t, test.change)
			w.passes()
			w.run()
			if landed := w.pull(2).State == scm.StateMerged; landed != test.lands {
				t.Errorf("landed: %t", landed)
			}
			w.calm()
		})
	}
}

// What a forge dismissed stays dismissed.
func TestApprovals_dismissedByTheForge(t *testing.T) {
	t.Parallel()
	w := behind(t, (*world).elsewhere)
	w.Forge.Review(2, "ada", scm.Dismissed)
	w.passes()
	w.run()
	w.holds("prod", "1.0.0 1.0.0")
	w.Forge.Review(2, "bob", scm.Approved)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
}

// Any user who can push can name an approved head as replaced: only a seal of promoter, or the objects, prove it.
func TestApprovals_ofContentThatAHeadOnlyClaims(t *testing.T) {
	t.Parallel()
	for _, forgotten := range []bool{false, true} { // the approved head is not readable
		for _, sealed := range []bool{false, true} {
			t.Run(fmt.Sprintf("forgotten %t, sealed %t", forgotten, sealed), func(t *testing.T) {
				t.Parallel()
				s := newSealedWorld(t, strings.ReplaceAll(threeEnvironments, "land: automerge}", "land: automerge"+approvedOnce+"}"))
				w := s.world
				reconcile := func() { w.run() }
				if sealed {
					reconcile = func() { s.reconcile() }
				}
				w.Forge.Protected = map[string]scm.Rules{"main": {Current: true}}
				w.push(web, "1.1.0")
				reconcile()
				w.mergeByHand(1, "merge")
				reconcile()
				approved := w.pull(2).Head.Commit
				w.Forge.Review(2, "ada", scm.Approved)
				w.passes()
				w.elsewhere()
				reconcile() // writes the head again
				again, err := w.Git.Objects().Commit(w.pull(2).Head.Commit)
				if err != nil || again.ID == approved || strings.Contains(again.Message, "Promoter-Replaces: "+approved) != sealed {
					t.Fatalf("%v: %s", err, again.Message)
				}
				_, trailer, named := strings.Cut(again.Message, "Promoter-Replaces: ")
				if trailer, _, _ = strings.Cut(trailer, "\n"); !named {
					trailer = approved
				}
				if forgotten {
					w.Git.Forget(approved)
				}
				// Another content, with the trailer of the head before.
				w.byHand("main", "prod", line(worker, "1.0.0"), line(worker, "1.0.0")+"\n# unrelated")
				w.passes()
				reconcile()
				newer, err := w.Git.Objects().Commit(w.pull(2).Head.Commit)
				if err != nil || strings.Contains(newer.Message, "Promoter-Replaces") || newer.ID == again.ID {
					t.Fatalf("%v: %s", err, newer.Message)
				}
				files := w.Git.FilesOf(newer.ID)
				w.Git.Set("promoter/prod/shop", w.Git.Branch("main"))
				forged := w.Git.Commit("promoter/prod/shop", reconciletest.By, w.Clock.Now(),
					strings.TrimRight(newer.Message, "\n")+"\nPromoter-Replaces: "+trailer+"\n",
					func(all map[string]string) { all["prod/shop.txt"] = files["prod/shop.txt"] })
				w.Forge.Check(forged, "ci", scm.CheckPassed)
				reconcile()
				if w.pull(2).State == scm.StateMerged {
					t.Error("the approval of another content counts")
				}
				w.Forge.Review(2, "bob", scm.Approved)
				w.passes()
				reconcile()
				if w.pull(2).State != scm.StateMerged {
					t.Error("an approval of the content does not count")
				}
			})
		}
	}
}

// An approval of a head that is not on the base is of what users see there, and not of the one commit on top. Neither is that of a
// head into which something else was merged, or an older commit of the base.
func TestApprovals_ofHeadsThatAreNotOnTheBase(t *testing.T) {
	t.Parallel()
	for name, approved := range map[string]func(w *world, message string, edit func(map[string]string)){
		"a commit below": func(w *world, message string, edit func(map[string]string)) {
			w.Git.Set(prodHead, w.Git.Branch("main"))
			w.Git.Commit(prodHead, reconciletest.Human, w.Clock.Now(), "What 1.1.0 needs", func(all map[string]string) { all["migration"] = "1" })
			w.Git.Commit(prodHead, reconciletest.By, w.Clock.Now(), message, edit)
		},
		"a merge of something else": func(w *world, message string, edit func(map[string]string)) {
			w.Git.Set("other", w.Git.Branch("main"))
			w.Git.Commit("other", reconciletest.Human, w.Clock.Now(), "What 1.1.0 needs", func(all map[string]string) { all["migration"] = "1" })
			w.Git.Set(prodHead, w.Git.Branch("main"))
			w.Git.Commit(prodHead, reconciletest.By, w.Clock.Now(), message, edit)
			w.merge(prodHead, w.Git.Branch("other"))
		},
		"a merge of an older commit of the base": func(w *world, message string, edit func(map[string]string)) {
			older := w.Git.Branch("main")
			w.elsewhere()
			w.Git.Set(prodHead, w.Git.Branch("main"))
			w.Git.Commit(prodHead, reconciletest.By, w.Clock.Now(), message, edit)
			w.merge(prodHead, older)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := protected(t, approvedOnce, scm.Rules{})
			wrote, err := w.Git.Objects().Commit(w.pull(2).Head.Commit)
			if err != nil {
				t.Fatal(err)
			}
			content := w.Git.FilesOf(wrote.ID)["prod/shop.txt"]
			edit := func(all map[string]string) { all["prod/shop.txt"] = content }
			approved(w, wrote.Message, edit)
			seen := w.Git.Branch(prodHead)
			w.Forge.Review(2, "ada", scm.Approved)
			// Exactly what promoter writes, which names the approved head.
			w.Git.Set(prodHead, w.Git.Branch("main"))
			forged := w.Git.Commit(prodHead, reconciletest.By, w.Clock.Now(), strings.TrimRight(wrote.Message, "\n")+"\nPromoter-Replaces: "+seen+"\n", edit)
			w.Forge.Check(forged, "ci", scm.CheckPassed)
			w.run()
			w.passes()
			w.run()
			w.holds("prod", "1.0.0 1.0.0")
			w.Forge.Review(2, "bob", scm.Approved)
			w.run()
			w.holds("prod", "1.1.0 1.0.0")
		})
	}
}

const prodHead = "promoter/prod/shop"

// merge merges a commit into a branch.
func (w *world) merge(branch, commit string) {
	w.t.Helper()
	if _, err := w.Git.Merge(branch, commit, "merge", "Merge", reconciletest.Human, w.Clock.Now()); err != nil {
		w.t.Fatal(err)
	}
}

// A seal proves what a head had that is not readable any more. Without one, the approval does not count.
func TestApprovals_ofHeadsThatAreNotReadable(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{true, false} {
		t.Run(fmt.Sprint(sealed), func(t *testing.T) {
			t.Parallel()
			s := newSealedWorld(t, strings.ReplaceAll(threeEnvironments, "land: automerge}", "land: automerge"+approvedOnce+"}"))
			w := s.world
			reconcile := func() { w.run() }
			if sealed {
				reconcile = func() { s.reconcile() }
			}
			w.Forge.Protected = map[string]scm.Rules{"main": {Current: true}}
			w.push(web, "1.1.0")
			reconcile()
			w.mergeByHand(1, "merge")
			reconcile()
			w.Forge.Review(2, "ada", scm.Approved)
			for range 3 {
				w.passes()
				w.elsewhere()
				head := w.pull(2).Head.Commit
				reconcile()
				if w.pull(2).Head.Commit == head {
					break
				}
				w.Git.Forget(head)
			}
			w.passes()
			reconcile()
			want := "1.0.0 1.0.0"
			if sealed {
				want = "1.1.0 1.0.0"
			}
			w.holds("prod", want)
		})
	}
}

// "Update branch" merges the base into a head of promoter: it is written again, and its approval counts. With anything else
// in it, it is a user's.
func TestApprovals_afterUpdateBranch(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]bool{"the base alone": false, "something else": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := protected(t, approvedOnce, scm.Rules{})
			w.Forge.Review(2, "ada", scm.Approved)
			for range 2 {
				w.elsewhere()
				if _, err := w.Git.Merge("promoter/prod/shop", w.Git.Branch("main"), "merge", "Merge branch 'main'", reconciletest.Human, w.Clock.Now()); err != nil {
					t.Fatal(err)
				}
			}
			if more {
				w.byHand("promoter/prod/shop", "prod", line(worker, "1.0.0"), "# mine\n"+line(worker, "1.0.0"))
			}
			updated := w.pull(2).Head.Commit
			w.run()
			if rewritten := w.pull(2).Head.Commit != updated; rewritten == more {
				t.Fatalf("rewritten: %t", rewritten)
			}
			w.passes()
			w.run()
			if more {
				w.holds("prod", "1.0.0 1.0.0")
				return
			}
			w.holds("prod", "1.1.0 1.0.0")
			w.calm()
		})
	}
}
