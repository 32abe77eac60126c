package engine

import (
	"context"
	"fmt"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// writeState writes the recorded changes to the state branch, in one commit.
func (x *executor) writeState(ctx context.Context) error {
	if len(x.o.Changes) == 0 {
		return nil
	}
	message := "Record what a reconciliation observed"
	switch n := len(x.o.Messages); {
	case n == 1:
		message = x.o.Messages[0]
	case n > 1:
		message = fmt.Sprintf("Apply %d commands from comments\n\n%s", n, strings.Join(x.o.Messages, "\n\n"))
	}
	update, err := x.r.draftState(x.o.Heads[state.Branch], message, func(s state.State) (state.State, error) {
		s, _ = s.Apply(x.o.Changes...) // see Observation.withChanges
		return s, nil
	})
	x.o.Changes, x.o.Messages = nil, nil
	if err != nil || update.New == "" {
		return err
	}
	if err := x.push(ctx, update); err != nil {
		return fmt.Errorf("write %s: %w", state.Branch, err)
	}
	return nil
}

// draftState makes the commit of changes to a head of the state branch. The update is
// empty when they change nothing.
func (r *Reconciler) draftState(head, message string, apply func(state.State) (state.State, error)) (Update, error) {
	before, err := readState(r.Objects, head)
	if err != nil {
		return Update{}, err
	}
	after, err := apply(before)
	if err != nil {
		return Update{}, fmt.Errorf("change %s: %w", state.Branch, err)
	}
	files := after.Diff(before)
	if len(files) == 0 {
		return Update{}, nil
	}
	commit, err := r.Objects.Write(Draft{Parent: head, Files: files, By: r.signature(), Message: message + "\n"})
	if err != nil {
		return Update{}, fmt.Errorf("write %s: %w", state.Branch, err)
	}
	return Update{Branch: state.Branch, Old: head, New: commit}, nil
}

// Recorded is what a user decision changed in the state branch.
type Recorded struct {
	Before, After state.State
	Written       bool // false: the decision was recorded already
}

// RecordDecision writes a user decision to the state branch. It retries when something
// else is written there at the same time.
func (r *Reconciler) RecordDecision(ctx context.Context, message string, changes ...state.Change) (recorded Recorded, err error) {
	for attempt := 1; ; attempt++ {
		recorded, err = r.recordOnce(ctx, message, changes)
		if fault.KindOf(err) != fault.Conflict || attempt == maxAttempts {
			return recorded, err
		}
		if err := r.pause(ctx, attempt); err != nil {
			return Recorded{}, err
		}
	}
}

func (r *Reconciler) recordOnce(ctx context.Context, message string, changes []state.Change) (recorded Recorded, err error) {
	head, err := r.fetchState(ctx)
	if err != nil {
		return Recorded{}, err
	}
	update, err := r.draftState(head, message, func(s state.State) (state.State, error) {
		recorded.Before = s
		after, err := s.Apply(changes...)
		recorded.After = after
		return after, err
	})
	if err != nil || update.New == "" {
		return recorded, err
	}
	if err := r.Remote.Push(ctx, update); err != nil {
		return Recorded{}, fmt.Errorf("write %s: %w", state.Branch, err)
	}
	recorded.Written = true
	return recorded, nil
}

// State reads the state branch.
func (r *Reconciler) State(ctx context.Context) (state.State, error) {
	head, err := r.fetchState(ctx)
	if err != nil {
		return state.State{}, err
	}
	return readState(r.Objects, head)
}

// fetchState fetches the state branch and returns its head; empty: there is none yet.
func (r *Reconciler) fetchState(ctx context.Context) (head string, err error) {
	refs, err := r.Remote.Refs(ctx)
	if err != nil {
		return "", err // the error names the listing
	}
	head = refs.Branches[state.Branch]
	if head != "" {
		if _, err := r.Remote.Fetch(ctx, state.Branch); err != nil {
			return "", fmt.Errorf("fetch %s: %w", state.Branch, err)
		}
	}
	return head, nil
}

// Decide returns what promoter would decide after changes of the state, with the
// observation that it decides from. It writes nothing. Without a usable config, both are
// empty.
func (r *Reconciler) Decide(ctx context.Context, changes ...state.Change) (promotion.Observation, []promotion.Decision, error) {
	o, err := r.withoutCommands().observe(ctx, true)
	if err != nil || o.Unusable != "" {
		return promotion.Observation{}, nil, err
	}
	o.Promotion.State, _ = o.Promotion.State.Apply(changes...)
	return o.Promotion, promotion.Plan(o.Promotion, o.Now), nil
}
