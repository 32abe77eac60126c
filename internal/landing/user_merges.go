package landing

import (
	"context"
	"fmt"
	"time"

	"promoter/internal/repo"
	"promoter/internal/scm"
)

// This file finds the pull request of a user that brought the current versions, for the time that the forge reports. Only the
// forge shows which pull request it merged in which commit: any user can write the message of a merge.

// brought fills in when a pull request of a user or a push brought the current versions, where a child soaks and nothing else
// shows it. What it finds, or that it found nothing, is recorded as a time, so that each commit is asked about once.
func (t targetReader) brought(ctx context.Context, deployments []deployed, w walked, recorded *times) error {
	if t.o.Promotion.PushOnly || len(deployments) == 0 || !w.begins(0) || !t.o.anyChild(t.target, soaks) {
		return nil
	}
	if since, _ := recorded.since(deployments); !since[0].IsZero() {
		return nil
	}
	commit, err := t.from.Objects.Commit(w.Periods[0].first())
	if err != nil {
		return repo.IgnoreNotFound(err)
	}
	if deployments[0].At.IsZero() && len(commit.Parents) > 0 { // nothing can have been merged as the first commit
		if deployments[0].At, err = t.mergedAt(ctx, commit.ID); err != nil {
			return err
		}
	}
	if since, _ := recorded.since(deployments); since[0].IsZero() {
		recorded.pushed, err = t.pushedAt(ctx, commit.ID)
	}
	return err
}

// mergedAt returns when the pull request was merged whose merge is a commit; the zero time: there is none.
func (t targetReader) mergedAt(ctx context.Context, commit string) (time.Time, error) {
	merges, can := t.from.Repository.(scm.Merges)
	if !can {
		return time.Time{}, nil
	}
	found, err := merges.MergedAs(ctx, commit)
	if err != nil {
		return time.Time{}, fmt.Errorf("find the pull request that was merged as %.7s: %w", commit, err)
	}
	for _, pr := range found {
		if pr.State == scm.StateMerged && pr.Merged.Commit == commit && pr.Base == t.o.Promotion.BaseOf(t.target) {
			return pr.Merged.At, nil
		}
	}
	return time.Time{}, nil
}
