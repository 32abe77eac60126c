package statebranch

import (
	"context"
	"fmt"
	"slices"

	"promoter/internal/fault"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// Recorded is what a user decision changed in the state branch.
type Recorded struct {
	Before, After state.State
	Written       bool // false: the decision was recorded already, or nothing is to be written
	Differs       bool // something is to be written
}

// maxRecordAttempts is how often a decision is written before a conflict is an error.
const maxRecordAttempts = 5

// Record writes a user decision to the state branch. It retries when something
// else is written there at the same time.
//
// On a branch with seals, a decision that loosens something is an Unauthorized fault
// without the key. One that stops more is written without a seal.
func (s Branch) Record(ctx context.Context, message string, changes ...state.Change) (recorded Recorded, err error) {
	for attempt := 1; ; attempt++ {
		recorded, err = s.recordOnce(ctx, message, changes)
		if fault.KindOf(err) != fault.Conflict || attempt == maxRecordAttempts {
			return recorded, err
		}
		if err := s.Pause(ctx, attempt); err != nil {
			return Recorded{}, err
		}
	}
}

func (s Branch) recordOnce(ctx context.Context, message string, changes []state.Change) (recorded Recorded, err error) {
	branch, err := s.fetchState(ctx)
	if err != nil {
		return Recorded{}, err
	}
	var update repo.Update
	if branch.restricted() == nil {
		recorded.Before = branch.Counts
		if recorded.After, err = s.apply(ctx, branch.Counts, changes); err == nil {
			update, branch, err = s.Draft(ctx, branch, recorded.After, message, s.IsSealed())
		}
	} else {
		recorded, update, branch, err = s.draftRestricted(ctx, branch, message, changes)
	}
	if err != nil {
		return Recorded{}, err
	}
	recorded.Differs = update.New != ""
	if !recorded.Differs || s.DryRun {
		return recorded, nil
	}
	if err := s.Remote.Push(ctx, update); err != nil {
		return Recorded{}, fmt.Errorf("write %s: %w", state.Branch, err)
	}
	recorded.Written = true
	return recorded, s.Remember(ctx, branch)
}

// apply makes the changes, and records where the targets of new decisions are.
func (s Branch) apply(ctx context.Context, before state.State, changes []state.Change) (state.State, error) {
	after, err := before.Apply(changes...)
	if err != nil || s.Locate == nil {
		return after, err
	}
	return after.Apply(s.Locate(ctx, before, after)...)
}

// draftRestricted drafts a decision on a branch of which not everything is known to be
// authentic. One that stops more gets no seal: a seal would confirm the branch.
func (s Branch) draftRestricted(ctx context.Context, b Head, message string, changes []state.Change) (Recorded, repo.Update, Head, error) {
	after, err := s.apply(ctx, b.files, changes)
	if err != nil {
		return Recorded{}, repo.Update{}, b, err
	}
	recorded := Recorded{Before: b.files, After: after}
	if _, loosens := state.Authentic(b.files, after, s.Now()); len(loosens) == 0 {
		b.Counts = b.files
		update, b, err := s.Draft(ctx, b, after, message, false)
		return recorded, update, b, err
	}
	return Recorded{}, repo.Update{}, b, b.restricted()
}

// Confirm confirms a state branch that was deleted or moved back as it is now: a sealed commit
// without a change, after which decisions are carried out again. It reports whether there was
// something to confirm.
func (s Branch) Confirm(ctx context.Context, message string) (confirmed bool, err error) {
	branch, err := s.fetchState(ctx)
	switch {
	case err != nil:
		return false, err
	case branch.WithoutKey != nil:
		return false, branch.WithoutKey
	case branch.Lost == "":
		return false, nil
	case s.unlisted(branch.files) != "": // the lost content is still there
		return false, branch.restricted()
	}
	update, branch, err := s.Draft(ctx, branch, branch.Counts, message, true)
	if err != nil || s.DryRun {
		return err == nil, err
	}
	if err := s.Remote.Push(ctx, update); err != nil {
		return false, fmt.Errorf("write %s: %w", state.Branch, err)
	}
	return true, s.Remember(ctx, branch)
}

// State returns what counts on the state branch.
func (s Branch) State(ctx context.Context) (state.State, error) {
	branch, err := s.fetchState(ctx)
	return branch.Counts, err
}

// fetchState fetches and reads the state branch.
func (s Branch) fetchState(ctx context.Context) (Head, error) {
	refs, err := s.Remote.Refs(ctx)
	if err != nil {
		return Head{}, err // the error names the listing
	}
	branches := []string{state.Branch}
	if s.IsSealed() {
		if branches, err = s.withEnvironments(ctx, refs); err != nil {
			return Head{}, err
		}
	}
	heads, err := s.Remote.Fetch(ctx, branches...)
	if err != nil {
		return Head{}, fmt.Errorf("fetch %s: %w", state.Branch, err)
	}
	var environments []string
	for branch, head := range heads {
		if branch != state.Branch {
			environments = append(environments, head)
		}
	}
	return s.Read(ctx, heads[state.Branch], environments)
}

// withEnvironments returns the state branch and those of the environments: their commits
// show how far it was.
func (s Branch) withEnvironments(ctx context.Context, refs repo.Refs) ([]string, error) {
	branches := []string{state.Branch, refs.Default}
	heads, err := s.Remote.Fetch(ctx, refs.Default)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", refs.Default, err)
	}
	loaded, err := repo.LoadConfig(s.Objects, heads[refs.Default], refs.Default, nil)
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
