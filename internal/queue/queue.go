package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"promoter/internal/database"
	"promoter/internal/fault"
)

// Queue is the work in one database. It is safe for concurrent use.
type Queue struct {
	db     *database.DB
	name   string // of this process
	claims atomic.Int64

	mu    sync.Mutex
	loops map[string]loop // by kind
}

// loop is what claims one kind of work in this process.
type loop struct {
	poll time.Duration
	wake chan struct{} // of size one
}

// New opens the queue of a database. The name, for instance that of the host, is shown
// as the owner of runs. On SQLite, the leases of an earlier process end.
func New(ctx context.Context, db *database.DB, name string) (*Queue, error) {
	// The random suffix distinguishes processes of the same name.
	q := &Queue{db: db, name: name + "/" + rand.Text()[:8], loops: map[string]loop{}}
	if !db.SingleProcess() {
		return q, nil
	}
	return q, db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		_, err := tx.Exec(ctx, "update work set lease_until = @now where owner <> '' and lease_until > @now")
		return err
	})
}

// Trigger is a notification that there may be work.
type Trigger struct {
	Kind, Key string
	// Debounce delays the run, because more triggers may follow. Each of them starts the
	// delay again.
	Debounce time.Duration
	// MaxDebounce limits the total delay. It is at least Debounce.
	MaxDebounce time.Duration
	// Trace is the traceparent of the cause; empty: it is not traced.
	Trace string
	// Tenant is who shares the workers with others; empty: as before.
	Tenant string
	// Urgent work starts before other work: an event triggered it, not a schedule.
	Urgent bool
}

// Limits of the names of work, in bytes.
const (
	maxKind = 64
	maxKey  = 1024
)

func (t Trigger) validate() error {
	// PostgreSQL stores neither NUL nor invalid UTF-8.
	valid := func(text string, most int) bool {
		return text != "" && len(text) <= most && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
	}
	switch {
	case !valid(t.Kind, maxKind) || !valid(t.Key, maxKey):
		return fault.New(fault.Invalid, "work needs a kind of up to %d and a key of up to %d bytes of text", maxKind, maxKey)
	case t.Tenant != "" && !valid(t.Tenant, maxKey):
		return fault.New(fault.Invalid, "the tenant of a trigger is not up to %d bytes of text", maxKey)
	case t.Debounce < 0:
		return fault.New(fault.Invalid, "the debounce time of a trigger is negative")
	case t.Trace != "" && !isTrace(t.Trace):
		return fault.New(fault.Invalid, "the trace of a trigger is not a traceparent")
	}
	return nil
}

// maxTogether is how many triggers a transaction of Trigger stores: the ends of runs, and webhooks,
// wait for its rows.
const maxTogether = 500

// Trigger stores triggers in transactions of their own. If it fails, some may be stored.
func (q *Queue) Trigger(ctx context.Context, triggers ...Trigger) error {
	for together := range slices.Chunk(triggers, maxTogether) {
		err := q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
			return q.TriggerIn(ctx, tx, together...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// triggerRow is what a transaction adds to one row. Durations are microseconds.
type triggerRow struct {
	Kind        string `json:"kind"`
	Key         string `json:"key"`
	Triggers    int64  `json:"triggers"`
	MaxDebounce int64  `json:"maxDebounce"`
	Debounce    int64  `json:"debounce"`
	Traces      string `json:"traces"`
	Tenant      string `json:"tenant"`
	Urgent      int64  `json:"urgent"`
}

// TriggerIn stores triggers with a transaction, with one statement. Call it last: other
// transactions that trigger the same work wait from then on until the commit.
func (q *Queue) TriggerIn(ctx context.Context, tx *database.Tx, triggers ...Trigger) error {
	if len(triggers) == 0 {
		return nil
	}
	rows := map[[2]string]*triggerRow{}
	for _, t := range triggers {
		if err := t.validate(); err != nil {
			return err
		}
		trace := ""
		if t.Trace != "" {
			trace = t.Trace + " "
		}
		debounce, limit := t.Debounce.Microseconds(), max(t.Debounce, t.MaxDebounce).Microseconds()
		row, ok := rows[[2]string{t.Kind, t.Key}]
		if !ok {
			row = &triggerRow{Kind: t.Kind, Key: t.Key, Debounce: debounce, MaxDebounce: limit}
			rows[[2]string{t.Kind, t.Key}] = row
		}
		if t.Debounce < q.pollInterval(t.Kind) {
			tx.AfterCommit(func() { q.wake(t.Kind) })
		}
		// Several triggers of a row are as urgent as the most urgent one.
		row.Debounce, row.MaxDebounce = min(row.Debounce, debounce), min(row.MaxDebounce, limit)
		row.Triggers++
		row.Tenant = cmp.Or(t.Tenant, row.Tenant)
		if t.Urgent {
			row.Urgent = 1
		}
		row.Traces = prependTrace(trace, row.Traces)
	}
	sorted := make([]*triggerRow, 0, len(rows))
	for _, row := range rows {
		sorted = append(sorted, row)
	}
	// Transactions that lock the same rows do so in the same order, and cannot deadlock.
	slices.SortFunc(sorted, func(a, b *triggerRow) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Key, b.Key))
	})
	text, err := json.Marshal(sorted)
	if err != nil {
		return fault.New(fault.Internal, "triggers: %w", err)
	}
	_, err = tx.Exec(ctx, addTriggers, string(text))
	return err
}

// restart is the condition for a row whose debounce time starts again: all its triggers
// were read, or only a schedule keeps it.
const restart = `(work.triggered = work.done or work.triggered_at = 0 or (work.owner <> '' and work.triggered = work.claimed))`

// addTriggers inserts or updates rows. Failed work is not run before retry_after, and a suspect before its time only
// by an urgent trigger: a poll would let a repository that kills the process do so every few minutes.
const addTriggers = `
insert into work (kind, key, triggered, claimed, done, triggered_at, due_by, not_before, retry_after, attempts, last_error,
	failed_at, owner, lease_until, traces, tenant, urgent)
select value->>'kind', value->>'key', cast(value->>'triggers' as bigint), 0, 0, @now,
	@now + cast(value->>'maxDebounce' as bigint), @now + cast(value->>'debounce' as bigint), 0, 0, '', 0, '', 0, value->>'traces',
	value->>'tenant', cast(value->>'urgent' as bigint)
from @elements(?) where true
on conflict (kind, key) do update set
	triggered    = work.triggered + excluded.triggered,
	triggered_at = case when ` + restart + ` then excluded.triggered_at else work.triggered_at end,
	due_by       = case when ` + restart + ` then excluded.due_by else @least(work.due_by, excluded.due_by) end,
	not_before   = case when work.crashes > 0 and excluded.urgent = 0 then @greatest(work.not_before, @now)
		else @greatest(work.retry_after, @least(excluded.not_before,
			case when ` + restart + ` then excluded.due_by else @least(work.due_by, excluded.due_by) end)) end,
	traces       = substr(excluded.traces || work.traces, 1, ` + maxTraces + `),
	tenant       = case when excluded.tenant = '' then work.tenant else excluded.tenant end,
	urgent       = @greatest(work.urgent, excluded.urgent)`

// The traces of a row are texts of the same length, each followed by a space, newest
// first, so that a database can truncate them.
const (
	traceLength = 55 // of a traceparent, https://www.w3.org/TR/trace-context/#traceparent-header
	traceLimit  = 20
	maxTraces   = "1120" // traceLimit * (traceLength + 1)
)

func isTrace(text string) bool {
	return len(text) == traceLength && strings.Trim(text, "0123456789abcdef-") == ""
}

// prependTrace adds a trace to those of a row, unless it is among them.
func prependTrace(trace, traces string) string {
	if strings.Contains(traces, trace) {
		return traces
	}
	all := trace + traces
	return all[:min(len(all), traceLimit*(traceLength+1))]
}

// tracesOf returns the traces of a row, oldest first.
func tracesOf(stored string) []string {
	if stored == "" {
		return nil
	}
	all := strings.Fields(stored)
	slices.Reverse(all)
	return all
}

// owner returns a name for one run.
func (q *Queue) owner() string { return fmt.Sprintf("%s/%d", q.name, q.claims.Add(1)) }

// register adds the loop of a kind, so that triggers of this process wake it at once.
func (q *Queue) register(kind string, poll time.Duration) loop {
	q.mu.Lock()
	defer q.mu.Unlock()
	added := loop{poll: poll, wake: make(chan struct{}, 1)}
	q.loops[kind] = added
	return added
}

// pollInterval returns how often the loop of a kind polls: work that is due later is
// found without waking it.
func (q *Queue) pollInterval(kind string) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.loops[kind].poll
}

func (q *Queue) wake(kind string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case q.loops[kind].wake <- struct{}{}:
	default: // it is awake, or there is no loop
	}
}

// Stat is the amount of work of one kind.
type Stat struct {
	Kind    string
	Waiting int // triggered and not running; schedules do not count
	Running int
	Failing int // the last run failed, or its process died
	// Oldest is the age of the oldest trigger that no successful run has read.
	Oldest time.Duration
}

// Stats counts the work of every kind.
func (q *Queue) Stats(ctx context.Context) (all []Stat, err error) {
	err = q.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			one, oldest := Stat{}, int64(0)
			err := scan(&one.Kind, &one.Waiting, &one.Running, &one.Failing, &oldest)
			one.Oldest = time.Duration(oldest) * time.Microsecond
			all = append(all, one)
			return err
		}, `
select kind,
	count(case when triggered > done and triggered_at > 0 and owner = '' then 1 end),
	count(case when owner <> '' and lease_until > @now then 1 end),
	count(case when failed_at > 0 or crashes > 0 then 1 end),
	coalesce(max(case when triggered > done and triggered_at > 0 then @now - triggered_at end), 0)
from work group by kind order by kind`)
	})
	return all, err
}

// Entry is the state of one key, for display.
type Entry struct {
	Kind, Key string
	// Owner is the current run, or a run that crashed and whose lease is still valid.
	Owner string
	// TriggeredAt is the first trigger that no successful run has read.
	TriggeredAt time.Time
	// NotBefore is the time of the next run; zero: when it is triggered.
	NotBefore time.Time
	Attempts  int
	LastError string
	FailedAt  time.Time
	// Crashes counts the processes that died during a run since the last successful one.
	Crashes int
}

// Entries lists the work of a kind by key, starting after the given key.
func (q *Queue) Entries(ctx context.Context, kind, after string, limit int) (all []Entry, err error) {
	err = q.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			one := Entry{Kind: kind}
			err := scan(&one.Key, &one.Owner, &one.TriggeredAt, &one.NotBefore, &one.Attempts, &one.LastError, &one.FailedAt, &one.Crashes)
			all = append(all, one)
			return err
		}, `
select key, owner, triggered_at, case when triggered > done then not_before else 0 end, attempts, last_error, failed_at, crashes
from work where kind = ? and key > ? order by key limit ?`, kind, after, limit)
	})
	return all, err
}
