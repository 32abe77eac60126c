package reconcile_test

import (
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// A resume that is read late ends no later hold or rollback.
func TestCommands_lateResumeAfterHold(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(state.Act) state.Change{
		"held": func(act state.Act) state.Change { return state.Hold(in("staging"), act) },
		"rolled back": func(act state.Act) state.Change {
			return state.Rollback(in("staging"), state.RolledBack{Act: act})
		},
	} {
		w := staged(t, threeEnvironments)
		id := w.comment(1, "ada", "/promoter resume")
		w.Clock.Add(time.Minute)
		w.decide(decide(w.act("")))
		w.run()
		w.wantReactions(id, scm.ReactionRefused)
		w.wantAnswer(1, "it was held or rolled back since then")
		if !w.held() {
			t.Errorf("%s: it is not held any more", name)
		}
	}
}

// A promotion request that is read late replaces no later one.
func TestCommands_latePromoteAfterRequest(t *testing.T) {
	t.Parallel()
	w := merged(t, asking())
	id := w.comment(1, "ada", "/promoter promote prod")
	w.Clock.Add(time.Minute)
	later := w.act("")
	w.decide(state.Hold(in("prod"), later), state.AddRequest(in("prod"), state.Request{Act: later}))
	w.run()
	w.wantAnswer(1, "another promotion was requested since then")
	w.wantReactions(id, scm.ReactionRefused)
	if got := w.state().At(in("prod")).Request; got == nil || !got.At.Equal(later.At) {
		t.Errorf("request: %+v", got)
	}
}

// A promotion request is for what its user saw: one that is read after promoter wrote a newer version to the pull request is refused. What
// stops promotions counts nevertheless.
func TestCommands_lateForTheVersionsOfThePullRequest(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]scm.Reaction{
		"promote prod": scm.ReactionRefused, "hold wait": scm.ReactionDone, "reject it leaks": scm.ReactionDone,
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			w := staged(t, asking())
			id := w.comment(1, "ada", "/promoter "+command)
			w.Permissions.Fail = func(identity.User) error { return fault.New(fault.Temporary, "the forge does not answer") }
			w.Clock.Add(time.Minute)
			w.push(web, "1.2.0")
			if _, err := w.Reconciler().Reconcile(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.Permissions.Fail = nil
			w.run()
			w.wantReactions(id, want)
			if want == scm.ReactionRefused {
				w.wantAnswer(1, "its versions changed after the comment")
				if w.state().At(in("prod")).Request != nil {
					t.Error("it was requested")
				}
			}
		})
	}
}

// Commands of a user whose permissions are unknown wait, in order, and delay no other
// user.
func TestCommands_oneUserBlocksNoOther(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Permissions.Fail = func(person identity.User) error {
		if person.Login == "mallory" {
			return fault.New(fault.Temporary, "the forge does not answer")
		}
		return nil
	}
	for range 25 {
		w.comment(1, "mallory", "/promoter help")
	}
	id := w.comment(1, "ada", "/promoter hold")
	w.partial()
	w.wantReactions(id, scm.ReactionDone)
}
