package engine

import (
	"context"
	"errors"
	"log/slog"

	"promoter/internal/pullrequest"
	"promoter/internal/scm"
)

// refused is for a merge that the forge forbids. That is no failure of the pass but
// a state of the place: it is remembered in our status and shown like every gate,
// and nothing is tried again before something changes about the head, or some time
// is over. A forge may not have seen the status yet that was set a moment ago; then
// it is asked once more.
func (v *view) refused(ctx context.Context, done Effect, cause error) Effect {
	v.Log.DebugContext(ctx, "the forge refuses to merge", slog.Int("number", done.Number), slog.Any("error", cause))
	if v.memory.set[done.Commit] {
		v.again = true
		return notYet(done, cause)
	}
	open := v.observed.Open[done.Head]
	rule, words := refusalOf(cause)
	refusal := pullrequest.NewRefusal(rule, words, v.now, open.Changed)
	open.Refused = &refusal
	v.observed.Open[done.Head] = open
	for _, again := range v.decide() {
		if again.Head == done.Head && again.Step == done.Step {
			done.Proposal = again
		}
	}
	if done = v.refreshWords(ctx, done, false); done.Err != nil {
		return done
	}
	return v.say(ctx, done)
}

// refusalOf returns the rule, where it is known, and the forge's words.
func refusalOf(cause error) (rule, words string) {
	if told, ok := errors.AsType[*scm.RefusedError](cause); ok {
		return told.Rule, told.Words
	}
	return "", cause.Error()
}
