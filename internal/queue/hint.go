package queue

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"promoter/internal/database"
	"promoter/internal/fault"
)

// Bounds of the names of work, in bytes.
const (
	maxKind = 64
	maxKey  = 1024
)

// Hint says that there may be work.
type Hint struct {
	Kind, Key string
	// Quiet is how long it is waited for further hints. Each begins the wait anew.
	Quiet time.Duration
	// Within bounds that wait, so that a stream of hints does not put the work off for
	// ever. At least Quiet.
	Within time.Duration
}

// Hint stores hints in a transaction of their own. They are on the disk when it
// returns nil.
func (q *Queue) Hint(ctx context.Context, hints ...Hint) error {
	return q.db.Batch(ctx, func(_ context.Context, tx *database.Tx) error {
		return q.HintIn(tx, hints...)
	})
}

// HintIn stores hints with the transaction. They are its last statements: the
// transaction itself does not see them.
func (q *Queue) HintIn(tx *database.Tx, hints ...Hint) error {
	for _, hint := range hints {
		if err := hint.check(); err != nil {
			return err
		}
		tx.Defer(pending{Hint: hint, count: 1})
		if hint.Quiet < q.soon(hint.Kind) {
			tx.AfterCommit(func() { q.wake(hint.Kind) })
		}
	}
	return nil
}

func (h Hint) check() error {
	switch {
	case !isName(h.Kind, maxKind) || !isName(h.Key, maxKey):
		return fault.New(fault.Invalid, "work is named by a kind of up to %d and a key of up to %d bytes of text", maxKind, maxKey)
	case h.Quiet < 0:
		return fault.New(fault.Invalid, "the quiet time of a hint is below zero")
	}
	return nil
}

// isName: PostgreSQL keeps neither NUL nor what is not UTF-8.
func isName(text string, most int) bool {
	return text != "" && len(text) <= most && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// pending is how many hints for one key are to be written.
type pending struct {
	Hint
	count int64
}

// Key orders the hints of a transaction alike on all servers.
func (p pending) Key() string { return p.Kind + "\x00" + p.Hint.Key }

// Merge counts both, and is as urgent as the more urgent one.
func (p pending) Merge(later database.Deferred) database.Deferred {
	other, ok := later.(pending)
	if !ok {
		return p
	}
	p.count += other.count
	p.Quiet = min(p.Quiet, other.Quiet)
	p.Within = min(p.Within, other.Within)
	return p
}

// fresh is a row whose hints were all read, or which waits for a schedule alone: the
// next hint begins to wait from the beginning.
const fresh = `(work.hinted = work.done or work.hinted_at = 0 or (work.owner <> '' and work.hinted = work.claimed))`

// addHints adds to a row, or makes it. A failed run that is held back stays so.
const addHints = `
insert into work (kind, key, hinted, claimed, done, hinted_at, due_by, not_before, held_until, attempts, last_error, failed_at, owner, lease_until)
values (?, ?, ?, 0, 0, @now, @now + ?, @now + ?, 0, 0, '', 0, '', 0)
on conflict (kind, key) do update set
	hinted     = work.hinted + excluded.hinted,
	hinted_at  = case when ` + fresh + ` then excluded.hinted_at else work.hinted_at end,
	due_by     = case when ` + fresh + ` then excluded.due_by else @least(work.due_by, excluded.due_by) end,
	not_before = @greatest(work.held_until, @least(excluded.not_before,
		case when ` + fresh + ` then excluded.due_by else @least(work.due_by, excluded.due_by) end))`

// Do writes them.
func (p pending) Do(ctx context.Context, tx *database.Tx) error {
	_, err := tx.Exec(ctx, addHints, p.Kind, p.Hint.Key, p.count,
		max(p.Within, p.Quiet).Microseconds(), p.Quiet.Microseconds())
	return err
}
