package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// writeState writes the recorded changes to the state branch, in one commit. It also seals
// what users added there, and removes what does not count.
func (x *executor) writeState(ctx context.Context) error {
	states := stateReader{x.r}
	if len(x.o.Changes) == 0 && (x.o.Branch.sealed || !states.seals()) {
		return nil
	}
	message := "Record what a reconciliation observed"
	switch n := len(x.o.Messages); {
	case n == 1:
		message = x.o.Messages[0]
	case n > 1:
		message = fmt.Sprintf("Apply %d commands from comments\n\n%s", n, strings.Join(x.o.Messages, "\n\n"))
	}
	if len(x.o.Branch.ignored) > 0 {
		message += "\n\nRemoved, because it had no seal: " + ignoredText(x.o.Branch.ignored) + "."
	}
	after, _ := x.o.Branch.counts.Apply(x.o.Changes...) // see Observation.withChanges
	update, written, err := states.draft(x.o.Branch, after, message, states.seals())
	x.o.Changes, x.o.Messages = nil, nil
	if err != nil || update.New == "" {
		return err
	}
	if err := x.push(ctx, update); err != nil {
		return fmt.Errorf("write %s: %w", state.Branch, err)
	}
	x.o.Branch = written
	return nil
}

// Recorded is what a user decision changed in the state branch.
type Recorded struct {
	Before, After state.State
	Written       bool // false: the decision was recorded already
	// Confirmed: the branch had been deleted or moved back, and the decision, a resume of
	// the repository, confirmed it as it is and changed nothing else.
	Confirmed bool
}

// RecordDecision writes a user decision to the state branch. It retries when something
// else is written there at the same time.
//
// On a branch with seals, a decision that loosens something is an Unauthorized fault
// without the key. One that stops more is written without a seal.
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
	states := stateReader{r}
	branch, err := r.fetchState(ctx)
	if err != nil {
		return Recorded{}, err
	}
	var update repo.Update
	if branch.restricted() == nil {
		recorded.Before = branch.counts
		if recorded.After, err = branch.counts.Apply(changes...); err == nil {
			update, branch, err = states.draft(branch, recorded.After, message, states.seals())
		}
	} else {
		recorded, update, branch, err = states.draftRestricted(branch, message, changes)
	}
	if err != nil {
		return Recorded{}, err
	}
	if update.New == "" {
		return recorded, nil
	}
	if err := r.Remote.Push(ctx, update); err != nil {
		return Recorded{}, fmt.Errorf("write %s: %w", state.Branch, err)
	}
	recorded.Written = true
	return recorded, states.remember(ctx, branch)
}

// draftRestricted drafts a decision on a branch of which not everything is known to be
// authentic. One that stops more gets no seal: a seal would confirm the branch.
func (s stateReader) draftRestricted(b stateBranch, message string, changes []state.Change) (Recorded, repo.Update, stateBranch, error) {
	after, err := b.files.Apply(changes...)
	if err != nil {
		return Recorded{}, repo.Update{}, b, err
	}
	recorded := Recorded{Before: b.files, After: after}
	if _, loosens := state.Authentic(b.files, after, s.r.Now()); len(loosens) == 0 {
		b.counts = b.files
		update, b, err := s.draft(b, after, message, false)
		return recorded, update, b, err
	}
	if b.withoutKey != nil || !resumesAll(b.files, after) {
		return Recorded{}, repo.Update{}, b, b.restricted()
	}
	recorded = Recorded{Before: b.counts, After: b.counts, Confirmed: true}
	update, b, err := s.draft(b, b.counts, message, true)
	return recorded, update, b, err
}

// resumesAll reports whether a change resumed the repository.
func resumesAll(before, after state.State) bool {
	everywhere := state.Target{Environment: state.All, Application: state.All}
	was, is := before.At(everywhere).Resumed, after.At(everywhere).Resumed
	return is != nil && (was == nil || *was != *is)
}

// State returns what counts on the state branch.
func (r *Reconciler) State(ctx context.Context) (state.State, error) {
	branch, err := r.fetchState(ctx)
	return branch.counts, err
}

// fetchState fetches and reads the state branch.
func (r *Reconciler) fetchState(ctx context.Context) (stateBranch, error) {
	refs, err := r.Remote.Refs(ctx)
	if err != nil {
		return stateBranch{}, err // the error names the listing
	}
	branches := []string{state.Branch}
	if (stateReader{r}).seals() {
		if branches, err = r.withEnvironments(ctx, refs); err != nil {
			return stateBranch{}, err
		}
	}
	heads, err := r.Remote.Fetch(ctx, branches...)
	if err != nil {
		return stateBranch{}, fmt.Errorf("fetch %s: %w", state.Branch, err)
	}
	var environments []string
	for branch, head := range heads {
		if branch != state.Branch {
			environments = append(environments, head)
		}
	}
	return stateReader{r}.read(ctx, heads[state.Branch], environments)
}

// withEnvironments returns the state branch and those of the environments: their commits
// show how far it was.
func (r *Reconciler) withEnvironments(ctx context.Context, refs repo.Refs) ([]string, error) {
	branches := []string{state.Branch, refs.Default}
	heads, err := r.Remote.Fetch(ctx, refs.Default)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", refs.Default, err)
	}
	loaded, err := repo.LoadConfig(r.Objects, heads[refs.Default], refs.Default)
	if err != nil {
		return branches, nil //nolint:nilerr // without a config, no other branch has environments
	}
	for _, environment := range loaded.Environments {
		if branch := environment.Branch; branch != "" && !slices.Contains(branches, branch) {
			branches = append(branches, branch)
		}
	}
	return branches, nil
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
