package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"promoter/internal/database"
)

// CommentEvent is a new comment on a pull request as a webhook reported it.
type CommentEvent struct {
	Repository string `json:"repository"` // its key
	Comment    int64  `json:"comment"`    // its ID on the forge
	Digest     string `json:"digest"`     // of its command
}

// CommentEvents are the new comments that webhooks reported.
type CommentEvents struct{ db *database.DB }

// Record records new comments. The first event of a comment counts. It is one
// statement.
func (c CommentEvents) Record(ctx context.Context, tx *database.Tx, events []CommentEvent) error {
	// Transactions that lock the same rows do so in the same order, and cannot deadlock.
	slices.SortStableFunc(events, func(a, b CommentEvent) int {
		return cmp.Or(cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.Comment, b.Comment))
	})
	return execEach(ctx, tx, events, `
insert into comment_event (repository, comment_id, digest, event_at)
select value->>'repository', cast(value->>'comment' as bigint), value->>'digest', @now from @elements(?) where true
on conflict (repository, comment_id) do nothing`)
}

// Digests returns the digests of those comments of a repository that a webhook
// reported.
func (c CommentEvents) Digests(ctx context.Context, repository string, comments []int64) (map[int64]string, error) {
	if len(comments) == 0 {
		return map[int64]string{}, nil
	}
	text, err := json.Marshal(comments)
	if err != nil {
		return nil, fmt.Errorf("read comment events: %w", err)
	}
	return viewPairs[int64, string](ctx, c.db, `
select comment_id, digest from comment_event
where repository = ? and comment_id in (select cast(cast(value as text) as bigint) from @elements(?) where true)`,
		repository, string(text))
}

// DeleteBefore deletes events from before a time, and returns their number.
func (c CommentEvents) DeleteBefore(ctx context.Context, before time.Time) (deleted int64, err error) {
	return aged{"comment_event", "repository, comment_id", "event_at"}.deleteBefore(ctx, c.db, before)
}
