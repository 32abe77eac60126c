package engine

import (
	"context"
	"fmt"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// memory is what a pass will write to the state branch, and what it heard that it
// need not say again.
type memory struct {
	changes  []state.Change
	subjects []string                     // of what people asked for in comments: messages of commits
	statuses map[string]scm.Check         // by commit, what our status says there
	closed   map[string][]scm.PullRequest // by branch, where a comment was about one that is not open
	set      map[string]bool              // the commits on which it was set in this pass
}

// remember takes a change of the state at once for this pass, and writes it before
// the first effect that rests on it.
func (v *view) remember(changes ...state.Change) {
	v.observed.State, _ = v.observed.State.Apply(changes...) // what is refused is trouble of the pass already
	v.memory.changes = append(v.memory.changes, changes...)
}

// subject is what the commit says that writes the changes: what a person asked for
// is called as the command line calls it.
func (m *memory) subject() string {
	switch len(m.subjects) {
	case 0:
		return "Remember what a pass saw"
	case 1:
		return m.subjects[0]
	}
	return fmt.Sprintf("Carry out %d commands of comments\n\n%s", len(m.subjects), strings.Join(m.subjects, "\n\n"))
}

// flush writes what is to be remembered, in one commit. A place whose record
// cannot be read is left out: it is trouble of the pass already.
func (v *view) flush(ctx context.Context) error {
	if len(v.memory.changes) == 0 || v.DryRun {
		return nil
	}
	update, err := v.draftState(v.heads[state.Branch], v.memory.subject(), func(s state.State) (state.State, error) {
		s, _ = s.Apply(v.memory.changes...)
		return s, nil
	})
	v.memory.changes, v.memory.subjects = nil, nil
	if err != nil || update.New == "" {
		return err
	}
	if err := v.push(ctx, update); err != nil {
		return fmt.Errorf("write %s: %w", state.Branch, err)
	}
	return nil
}

// draftState makes the commit of changes on a head of the state branch. The update
// is empty where they change nothing.
func (l *Reconciler) draftState(head, subject string, apply func(state.State) (state.State, error)) (Update, error) {
	before, err := l.readState(head)
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
	commit, err := l.Objects.Write(Draft{Parent: head, Files: files, By: l.signature(), Message: subject + "\n"})
	if err != nil {
		return Update{}, fmt.Errorf("write %s: %w", state.Branch, err)
	}
	return Update{Branch: state.Branch, Old: head, New: commit}, nil
}

func (l *Reconciler) signature() Signature {
	by := l.By
	by.When = l.Now()
	return by
}

// push pushes and remembers where the branches are now.
func (v *view) push(ctx context.Context, updates ...Update) error {
	if err := v.Remote.Push(ctx, updates...); err != nil {
		return err // the caller names what it pushed
	}
	for _, update := range updates {
		if update.New == "" {
			delete(v.heads, update.Branch)
			delete(v.refs.Branches, update.Branch)
			continue
		}
		v.heads[update.Branch], v.refs.Branches[update.Branch] = update.New, update.New
	}
	return nil
}

// RecordDecision writes a person's decision to the state branch, whatever else is written
// there at the same time. It writes nothing when the decision stands already, and
// says so.
func (l *Reconciler) RecordDecision(ctx context.Context, subject string, changes ...state.Change) (written bool, err error) {
	for attempt := 1; ; attempt++ {
		written, err := l.decideOnce(ctx, subject, changes)
		if fault.KindOf(err) != fault.Conflict || attempt == attempts {
			return written, err
		}
		if err := l.pause(ctx, attempt); err != nil {
			return false, err
		}
	}
}

func (l *Reconciler) decideOnce(ctx context.Context, subject string, changes []state.Change) (written bool, err error) {
	refs, err := l.Remote.Refs(ctx)
	if err != nil {
		return false, err // it says that the branches were listed
	}
	head := refs.Branches[state.Branch]
	if head != "" {
		if _, err := l.Remote.Fetch(ctx, state.Branch); err != nil {
			return false, fmt.Errorf("fetch %s: %w", state.Branch, err)
		}
	}
	update, err := l.draftState(head, subject, func(s state.State) (state.State, error) { return s.Apply(changes...) })
	if err != nil || update.New == "" {
		return false, err
	}
	if err := l.Remote.Push(ctx, update); err != nil {
		return false, fmt.Errorf("write %s: %w", state.Branch, err)
	}
	return true, nil
}

// PreviousSnapshot returns the snapshot that stood in a place before the present one: what
// a rollback goes back to.
func (l *Reconciler) PreviousSnapshot(ctx context.Context, target promotion.Target) (promotion.Snapshot, error) {
	v, err := l.deafened().view(ctx, true)
	if err != nil {
		return nil, err
	}
	if v.report.Unusable != "" {
		return nil, fault.New(fault.Invalid, "%s", v.report.Unusable)
	}
	if _, here := v.observed.Targets[target]; !here {
		return nil, fault.New(fault.NotFound, "%s has no files in %s", target.Application, target.Environment)
	}
	in := map[string]*interest{}
	v.interested(in, target, longAgo, true)
	for branch, wanted := range in {
		if err := v.lookBackAt(ctx, branch, wanted); err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", branch, err)
		}
	}
	if why, away := v.observed.Unavailable[target.Environment]; away {
		return nil, fault.New(fault.Temporary, "%s", why)
	}
	for _, landing := range v.observed.Landings[target] {
		if v.stands(target, landing.Snapshot) {
			continue
		}
		// Whatever is rolled back to has run here: the files of then say so.
		then, err := v.presentIn(ctx, target, landing.Commit)
		if err != nil {
			return nil, err
		}
		if says(then, landing.Snapshot) {
			return landing.Snapshot, nil
		}
	}
	return nil, fault.New(fault.NotFound, "nothing that promoter put into %s before is found in its history", target.Environment)
}
