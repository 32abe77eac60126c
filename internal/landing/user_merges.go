package landing

import (
	"context"
	"fmt"

	"promoter/internal/repo"
	"promoter/internal/scm"
)

// This file finds the pull request of a user that brought the current versions, for the time that the forge reports. Only the
// forge shows which pull request it merged in which commit: any user can write the message of a merge.

// mergedByUser fills in when the pull request of a user brought the current versions, where a child soaks and nothing
// else shows it. What it finds, or that it found nothing, is recorded as a time, so that each commit is asked about once.
func (t targetReader) mergedByUser(ctx context.Context, deployments []deployed, w walked, recorded times) error {
	if t.o.Promotion.PushOnly || len(deployments) == 0 || !w.begins(0) || !t.o.anyChild(t.target, soaks) {
		return nil
	}
	merged, _ := times{}.since(deployments)
	if _, known := recorded.seen[0]; known || !merged[0].IsZero() {
		return nil
	}
	merges, can := t.from.Repository.(scm.Merges)
	if !can {
		return nil
	}
	commit, err := t.from.Objects.Commit(w.Periods[0].first())
	if err != nil || len(commit.Parents) == 0 { // nothing can have been merged as the first commit
		return repo.IgnoreNotFound(err)
	}
	found, err := merges.MergedAs(ctx, commit.ID)
	if err != nil {
		return fmt.Errorf("find the pull request that was merged as %.7s: %w", commit.ID, err)
	}
	for _, pr := range found {
		if pr.State == scm.StateMerged && pr.Merged.Commit == commit.ID && pr.Base == t.o.Promotion.BaseOf(t.target) {
			deployments[0].At = pr.Merged.At
		}
	}
	return nil
}
