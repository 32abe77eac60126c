package reconcile_test

import (
	"testing"
	"time"

	"promoter/internal/scm"
	"promoter/internal/state"
)

// Users hold and resume on the pull request of a version that was reverted in Git: it stays reverted.
func TestCommands_holdAndResumeKeepARevert(t *testing.T) {
	t.Parallel()
	w := merged(t, threeEnvironments)
	w.Clock.Add(time.Minute)
	w.byHand("main", "staging", line(web, "1.1.0"), line(web, "1.0.0"))
	wantReason(t, w.run(), "staging", "reverted", "1.1.0")
	before := w.pulls()
	for _, text := range []string{"/promoter hold", "/promoter resume"} {
		w.Clock.Add(time.Minute)
		id := w.comment(1, "ada", text)
		w.run()
		w.wantReactions(id, scm.ReactionDone)
	}
	wantReason(t, w.run(), "staging", "reverted", "1.1.0")
	w.wantPulls(before...)
	w.Clock.Add(time.Minute)
	id := w.comment(1, "ada", "/promoter unreject it was the node")
	wantReason(t, w.run(), "staging", "proposed", "web 1.0.0 -> 1.1.0")
	w.wantReactions(id, scm.ReactionDone)
	w.calm()
}

func TestCommands_unrejectUndoesAClose(t *testing.T) {
	t.Parallel()
	for name, observed := range map[string]bool{"observed": true, "not observed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			w.Forge.CloseByHand(1, "ada")
			if observed {
				w.run()
			}
			w.Clock.Add(time.Minute)
			id := w.comment(1, "ben", "/promoter unreject")
			w.run()
			w.wantReactions(id, scm.ReactionDone)
			w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
			w.calm()
		})
	}
}

// An unreject ends what a reject in the same pull request did everywhere, for users who may do so.
func TestCommands_unrejectUndoesARejectEverywhere(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	everywhere := state.Target{Environment: state.All, Application: state.All}
	w.comment(1, "ada", "/promoter reject it leaks")
	wantReason(t, w.run(), "staging", "rejected", "it leaks")
	w.Clock.Add(time.Minute)
	w.Permissions.Only["unreject"] = []string{"cho"}
	refused := w.comment(1, "ada", "/promoter unreject")
	w.run()
	w.wantReactions(refused, scm.ReactionRefused)
	if len(w.state().At(everywhere).Rejections) != 1 {
		t.Error("it is not rejected anymore")
	}
	w.Clock.Add(time.Minute)
	done := w.comment(1, "cho", "/promoter unreject")
	wantReason(t, w.run(), "staging", "proposed", "web 1.0.0 -> 1.1.0")
	w.wantReactions(done, scm.ReactionDone)
	w.calm()
}

// A rollback of a merged pull request returns to what was there before. An open one has changed nothing yet.
func TestCommands_rollbackOfAPullRequest(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	open := w.comment(1, "ada", "/promoter rollback")
	w.run()
	w.wantReactions(open, scm.ReactionUnclear)
	w.wantAnswer(1, "this pull request was not merged", "promoter rollback --env staging --app shop")
	w.mergeByHand(1, "merge")
	w.run()
	w.Clock.Add(time.Minute)
	id := w.comment(1, "ada", "/promoter rollback errors")
	report := w.run()
	w.wantReactions(id, scm.ReactionDone)
	wantReason(t, report, "staging", "proposed", "rolled back by ada", "web 1.1.0 -> 1.0.0")
	if w.state().At(in("staging")).Rollback == nil || w.state().At(in("staging")).Hold == nil || w.state().At(in("prod")).Rollback != nil {
		t.Errorf("recorded %+v", w.state().At(in("staging")))
	}
	w.calm()
}

// A pull request whose versions are not there anymore is not rolled back.
func TestCommands_rollbackOfReplacedVersions(t *testing.T) {
	t.Parallel()
	w := merged(t, threeEnvironments)
	w.Clock.Add(time.Minute)
	w.byHand("main", "staging", line(web, "1.1.0"), line(web, "1.0.0"))
	w.run()
	w.Clock.Add(time.Minute)
	id := w.comment(1, "ada", "/promoter rollback")
	w.run()
	w.wantReactions(id, scm.ReactionRefused)
	w.wantAnswer(1, "shop in staging has other versions since then")
	if w.state().At(in("staging")).Rollback != nil {
		t.Error("it was rolled back")
	}
}
