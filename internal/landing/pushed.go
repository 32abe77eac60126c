package landing

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/fault"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// This file finds when the current versions were pushed, for the time that the forge reports. Any user can set the times in
// commits.

const (
	// pushMargin is how much longer than the longest soak pushes are read back, because clocks differ.
	pushMargin = time.Hour
	// pushRace is how old a push may be that moved the branch after it was fetched.
	pushRace = time.Minute
)

// Pushes keeps how branches moved for one reconciliation: the targets of a branch ask for the same list.
type Pushes struct{ branches map[string][]scm.Push }

// NewPushes returns those of a reconciliation.
func NewPushes() *Pushes { return &Pushes{branches: map[string][]scm.Push{}} }

// pushedAt returns since when, according to the forge, a branch has a commit without interruption. It is the zero time if the
// forge does not prove it.
func (t targetReader) pushedAt(ctx context.Context, commit string) (time.Time, error) {
	pushes, err := t.from.pushed(ctx, t.o, t.o.Promotion.BaseOf(t.target))
	if err != nil || len(pushes) == 0 {
		return time.Time{}, err
	}
	having := map[string]bool{} // where the branch may have been since it has the commit
	for c, err := range repo.FirstParents(t.from.Objects, t.head(), maxWalked) {
		if err != nil {
			return time.Time{}, repo.IgnoreNotFound(err)
		}
		having[c.ID] = true
		if c.ID == commit {
			return hadSince(pushes, having, t.o.Now.Add(-pushRace)), nil
		}
	}
	return time.Time{}, nil
}

// hadSince returns the time of the oldest push after which the branch always had the commit. Before that push, it had
// not, or nothing shows that it had: one move of which the forge does not report the commits is between two that do, and more
// may have moved the branch away and back. So may those that the forge hides: then one did not begin where the one before ended.
func hadSince(pushes []scm.Push, having map[string]bool, fetched time.Time) (since time.Time) {
	unknown, before := 0, ""
	for _, push := range pushes {
		switch {
		case push.Before == "" && push.After == "":
			if unknown++; unknown > 1 {
				return since
			}
			continue
		case !having[push.After] && since.IsZero() && unknown == 0 && push.At.After(fetched): // after the branch was read
			continue
		case !having[push.After], !since.IsZero() && unknown == 0 && push.After != before:
			return since
		}
		since, before = push.At, push.Before
		unknown = 0
		if !having[push.Before] {
			return since
		}
	}
	return since
}

// HeadAt returns where a branch was before a time, by the clock of the forge. Empty: the forge does not show it, or not every
// move since then.
func (r Reader) HeadAt(ctx context.Context, o Observed, branch string, at time.Time) (string, error) {
	pushes, err := r.pushed(ctx, o, branch)
	head := o.Heads[branch]
	for _, push := range pushes {
		if push.After != head || head == "" {
			return "", err
		}
		if push.At.Before(at) {
			return head, err
		}
		head = push.Before
	}
	return "", err
}

// pushed returns how a branch moved, as far back as a soak may need it. What the forge does not show proves nothing.
func (r Reader) pushed(ctx context.Context, o Observed, branch string) ([]scm.Push, error) {
	reporting, can := r.Repository.(scm.Pushes)
	if !can || r.Pushes == nil {
		return nil, nil
	}
	if known, read := r.Pushes.branches[branch]; read {
		return known, nil
	}
	pushes, err := reporting.Pushed(ctx, branch, o.Now.Add(-o.longestSoak()-pushMargin))
	switch fault.KindOf(err) {
	case fault.Unauthorized, fault.NotFound, fault.Invalid: // of an older server, or without the permission
		r.Log.InfoContext(ctx, "pushes unknown", slog.String("branch", branch), slog.Any("error", err))
		pushes, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the pushes to %s: %w", branch, err)
	}
	r.Pushes.branches[branch] = inOrder(pushes, o.Heads[branch])
	return r.Pushes.branches[branch], nil
}

// inOrder returns pushes, newest first, so that those with the same time follow each other, back from a head, as far as they can:
// forges report whole seconds.
func inOrder(pushes []scm.Push, head string) []scm.Push {
	pushes = slices.Clone(pushes)
	for i, next := range pushes {
		follows := slices.IndexFunc(pushes[i:], func(push scm.Push) bool { return push.After == head && push.At.Equal(next.At) })
		if follows > 0 && head != "" {
			pushes[i], pushes[i+follows] = pushes[i+follows], next
		}
		head = pushes[i].Before
	}
	return pushes
}

// longestSoak returns the longest soak that any target has to wait for.
func (o Observed) longestSoak() (longest time.Duration) {
	add := func(parents []setting.Parent) {
		for _, parent := range parents {
			longest = max(longest, parent.Soak)
		}
	}
	for target := range o.Promotion.Targets {
		add(o.Promotion.Config.Settings(target.Environment, target.Application).After)
	}
	return longest
}
