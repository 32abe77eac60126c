package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
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

// Trigger says that there may be work.
type Trigger struct {
	Kind, Key string
	// Debounce is how long it is waited for further hints. Each begins the wait anew.
	Debounce time.Duration
	// MaxDebounce bounds that wait, so that a stream of hints does not put the work off for
	// ever. At least Quiet.
	MaxDebounce time.Duration
	// Trace is the traceparent of what hints, for whoever follows the work from there
	// to its run. Empty: nobody does.
	Trace string
}

// Trigger stores hints in a transaction of their own. They are on the disk when it
// returns nil.
func (q *Queue) Trigger(ctx context.Context, hints ...Trigger) error {
	return q.db.Batch(ctx, func(_ context.Context, tx *database.Tx) error {
		return q.TriggerIn(tx, hints...)
	})
}

// TriggerIn stores hints with the transaction. They are its last statements: the
// transaction itself does not see them.
func (q *Queue) TriggerIn(tx *database.Tx, hints ...Trigger) error {
	for _, hint := range hints {
		if err := hint.check(); err != nil {
			return err
		}
		if hint.Debounce < q.soon(hint.Kind) {
			tx.AfterCommit(func() { q.wake(hint.Kind) })
		}
		tx.Defer(pending{name{hint.Kind, hint.Key}: {hint.Debounce, max(hint.Debounce, hint.MaxDebounce), 1, kept(hint.Trace)}})
	}
	return nil
}

func (h Trigger) check() error {
	switch {
	case !isName(h.Kind, maxKind) || !isName(h.Key, maxKey):
		return fault.New(fault.Invalid, "work is named by a kind of up to %d and a key of up to %d bytes of text", maxKind, maxKey)
	case h.Debounce < 0:
		return fault.New(fault.Invalid, "the quiet time of a hint is below zero")
	case h.Trace != "" && !isTrace(h.Trace):
		return fault.New(fault.Invalid, "the trace of a hint is no traceparent")
	}
	return nil
}

// isName: PostgreSQL keeps neither NUL nor what is not UTF-8.
func isName(text string, most int) bool {
	return text != "" && len(text) <= most && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// pending are the hints that a transaction is to write, all with one statement.
type pending map[name]count

// name is the name of a row.
type name struct{ kind, key string }

// count is how many hints a row gets, and how they wait.
type count struct {
	quiet, within time.Duration
	hints         int64
	traces        string
}

// Key says that all hints go together.
func (p pending) Key() string { return "work" }

// Merge adds the hints of another one. Those for one row are as urgent as the most
// urgent.
func (p pending) Merge(later database.Deferred) database.Deferred {
	others, ok := later.(pending)
	if !ok {
		return p
	}
	for name, more := range others {
		if known, ok := p[name]; ok {
			more.quiet, more.within = min(known.quiet, more.quiet), min(known.within, more.within)
			more.hints += known.hints
			more.traces = together(more.traces, known.traces)
		}
		p[name] = more
	}
	return p
}

// fresh is a row whose hints were all read, or which waits for a schedule alone: the
// next hint begins to wait from the beginning.
const fresh = `(work.hinted = work.done or work.hinted_at = 0 or (work.owner <> '' and work.hinted = work.claimed))`

// addHints adds to rows, or makes them. A failed run that is held back stays so.
// addTraced also keeps the traces of hints.
const (
	addHints  = addBegin + `) ` + addValues + addFrom
	addTraced = addBegin + `, traces) ` + addValues + `, coalesce(value->>'traces', '')` + addFrom + `,
	traces     = substr(excluded.traces || work.traces, 1, ` + maxTraces + `)`
)

const addBegin = `
insert into work (kind, key, hinted, claimed, done, hinted_at, due_by, not_before, held_until, attempts, last_error, failed_at, owner, lease_until`

const addValues = `
select value->>'kind', value->>'key', cast(value->>'hints' as bigint), 0, 0, @now,
	@now + cast(value->>'within' as bigint), @now + cast(value->>'quiet' as bigint), 0, 0, '', 0, '', 0`

const addFrom = `
from @elements(?) where true
on conflict (kind, key) do update set
	hinted     = work.hinted + excluded.hinted,
	hinted_at  = case when ` + fresh + ` then excluded.hinted_at else work.hinted_at end,
	due_by     = case when ` + fresh + ` then excluded.due_by else @least(work.due_by, excluded.due_by) end,
	not_before = @greatest(work.held_until, @least(excluded.not_before,
		case when ` + fresh + ` then excluded.due_by else @least(work.due_by, excluded.due_by) end))`

// row is an element of its argument; times are microseconds.
type row struct {
	Kind   string `json:"kind"`
	Key    string `json:"key"`
	Hints  int64  `json:"hints"`
	Within int64  `json:"within"`
	Quiet  int64  `json:"quiet"`
	Traces string `json:"traces,omitempty"`
}

// Do writes them, in the same order on all servers: those that change the same rows
// then wait for each other and never in a circle.
func (p pending) Do(ctx context.Context, tx *database.Tx) error {
	rows, statement := make([]row, 0, len(p)), addHints
	for name, c := range p {
		rows = append(rows, row{name.kind, name.key, c.hints, c.within.Microseconds(), c.quiet.Microseconds(), c.traces})
		if c.traces != "" {
			statement = addTraced
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Key, b.Key))
	})
	text, err := json.Marshal(rows)
	if err != nil {
		return fault.New(fault.Internal, "hints: %w", err)
	}
	_, err = tx.Exec(ctx, statement, string(text))
	return err
}
