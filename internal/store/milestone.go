package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/database"
	"promoter/internal/fault"
)

// Milestones are the times from which delivery metrics are computed: what happened to
// snapshots in targets, and what they waited for.
type Milestones struct{ db *database.DB }

// TargetKey identifies a target of any repository.
type TargetKey struct{ Repository, Environment, Application string }

// Milestone is what metrics need of one event of the history.
type Milestone struct {
	TargetKey
	At       time.Time
	Since    time.Time // see Event
	Action   string
	Snapshot string // its ID
	Number   int    // of the pull request; 0: none, or unknown
	Rule     string // of the reason
}

// The kinds of promotion times.
const (
	TimeOfGate   = "gate"   // from when a condition or gate waited until it passed
	TimeOfCommit = "commit" // of the oldest source commit of a component that the target did not have
	TimeOfImage  = "image"  // when the image of a component was created
)

// PromotionTime is one time on the way of a snapshot into a target.
type PromotionTime struct {
	TargetKey
	Snapshot string // its ID
	Kind     string
	Name     string // of the condition or gate, or of the component
	// Began is when it was; of a condition or gate when it was stored first.
	Began time.Time
	// Passed is set to store that a condition or gate is passed, and Ended is since when it is;
	// zero: it is not.
	Passed bool
	Ended  time.Time
}

// savePromotionTimes stores times of promotions. Of a condition or gate, the store keeps when it
// was seen first, and since when it is passed.
func savePromotionTimes(ctx context.Context, tx *database.Tx, times []PromotionTime) error {
	for some := range slices.Chunk(times, eventsPerStatement) {
		rows := make([]map[string]any, 0, len(some))
		for _, t := range some {
			passed := 0
			if t.Passed {
				passed = 1
			}
			rows = append(rows, map[string]any{
				"repository": storable(t.Repository), "environment": storable(t.Environment), "application": storable(t.Application),
				"snapshot": storable(t.Snapshot), "kind": t.Kind, "name": truncated(t.Name),
				"began": database.Micros(t.Began), "passed": passed,
			})
		}
		err := execEach(ctx, tx, rows, `
insert into promotion_time (repository, environment, application, snapshot, kind, name, began_at, ended_at, stored_at)
select value->>'repository', value->>'environment', value->>'application', value->>'snapshot', value->>'kind', value->>'name',
	case when value->>'kind' = 'gate' then @now else cast(value->>'began' as bigint) end,
	case when cast(value->>'passed' as bigint) = 1 then @now else 0 end, @now
from @elements(?) where true
on conflict (repository, environment, application, snapshot, kind, name) do update set
	began_at = case when excluded.kind = 'gate' then promotion_time.began_at else excluded.began_at end,
	ended_at = excluded.ended_at, stored_at = excluded.stored_at
where case when excluded.kind = 'gate' then (promotion_time.ended_at = 0) <> (excluded.ended_at = 0)
	else promotion_time.began_at <> excluded.began_at end`)
		if err != nil {
			return err
		}
	}
	return nil
}

// TargetFilter selects targets. Empty fields do not restrict.
type TargetFilter struct {
	Repository  string // its key, its name, or its HOST/NAME
	Environment string
	Application string
	// Readable is asked with the name of a repository now. What may be shown of one that is no longer
	// followed is not known, so that nothing is.
	Readable Readable
}

// where is the condition of a filter, for a table with columns for the parts of a TargetKey. A
// repository that was renamed has the events under its earlier names too.
func (f TargetFilter) where() (condition string, args []any) {
	var all []string
	if repository := storable(strings.ToLower(f.Repository)); repository != "" {
		all = append(all, `repository in (
	select key from repository as known where ? in (lower(known.key), known.name, known.host || '/' || known.name))`)
		args = append(args, repository)
	}
	if f.Environment != "" {
		all, args = append(all, "environment = ?"), append(args, storable(f.Environment))
	}
	if f.Application != "" {
		all, args = append(all, "application = ?"), append(args, storable(f.Application))
	}
	if len(all) == 0 {
		return "", nil
	}
	return " where " + strings.Join(all, " and "), args
}

// Progress is how promotions went in some targets.
type Progress struct {
	Milestones []Milestone // all events, in no order
	Times      []PromotionTime
	Targets    map[TargetKey]TargetNow // those that the last reconciliation found
	Names      map[string]string       // HOST/OWNER/NAME of the repositories, by key
}

// TargetNow is what metrics need of a target as it is now.
type TargetNow struct {
	Labels    map[string]string `json:"labels"`
	Monitored bool              `json:"monitored"`
	Number    int               `json:"number"` // of the open pull request; 0: none
}

// Progress returns how promotions went in the targets of a filter, in one state of the database.
// More events or times than the limit, which protects the memory, are an error.
func (m Milestones) Progress(ctx context.Context, f TargetFilter, limit int) (p Progress, err error) {
	where, args := f.where()
	all := selection{where, args}
	return m.progress(ctx, all, all, all, reading{f.Readable, limit})
}

// ProgressSince is Progress of all targets, without what was before a time.
func (m Milestones) ProgressSince(ctx context.Context, since time.Time, limit int) (Progress, error) {
	milestones, times := selection{" where at >= ?", []any{since}}, selection{" where stored_at >= ?", []any{since}}
	return m.progress(ctx, milestones, times, selection{}, reading{limit: limit})
}

// selection is a condition with its arguments.
type selection struct {
	where string
	args  []any
}

// reading is what is read of the selected rows: what is readable, and how many of these may be.
type reading struct {
	readable Readable
	limit    int
}

// shows reports whether what is about a target is read.
func (r reading) shows(names map[string]string, key TargetKey) bool {
	if r.readable == nil {
		return true
	}
	name, followed := names[key.Repository]
	return followed && r.readable(name, key.Environment, key.Application)
}

// within restricts rows to the repositories of which anything is readable: those of others are not read
// to be left out.
func (r reading) within(rows selection, names map[string]string) (selection, error) {
	if r.readable == nil {
		return rows, nil
	}
	readable := []target{}
	for key, name := range names {
		if r.readable(name, "", "") {
			readable = append(readable, target{Repository: key})
		}
	}
	text, err := json.Marshal(readable)
	if err != nil {
		return rows, fmt.Errorf("read the progress of promotions: %w", err)
	}
	word := " where "
	if rows.where != "" {
		word = " and "
	}
	rows.where += word + "repository in (select value->>'r' from @elements(?))"
	rows.args = append(slices.Clone(rows.args), string(text))
	return rows, nil
}

func (m Milestones) progress(ctx context.Context, milestones, times, targets selection, r reading) (p Progress, err error) {
	err = m.db.View(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		p = Progress{Targets: map[TargetKey]TargetNow{}}
		if p.Names, err = readPairs[string, string](ctx, tx, "select key, host || '/' || name from repository"); err != nil {
			return err
		}
		if err := p.readMilestones(ctx, tx, milestones, r); err != nil {
			return err
		}
		if err := p.readTimes(ctx, tx, times, r); err != nil {
			return err
		}
		return p.readTargets(ctx, tx, targets, r)
	})
	return p, err
}

// tooMany is the error for a history that is larger than the limit.
func tooMany(limit int) error {
	return fault.New(fault.Invalid,
		"the history has more than %d events or times: select a repository, an environment, or an application", limit)
}

func (p *Progress) readMilestones(ctx context.Context, tx *database.Tx, of selection, r reading) error {
	of, err := r.within(of, p.Names)
	if err != nil {
		return err
	}
	return tx.Query(ctx, func(scan database.Scan) error {
		var one Milestone
		err := scan(&one.Repository, &one.Environment, &one.Application,
			&one.At, &one.Since, &one.Action, &one.Snapshot, &one.Number, &one.Rule)
		switch {
		case err != nil || !r.shows(p.Names, one.TargetKey):
			return err
		case len(p.Milestones) == r.limit:
			return tooMany(r.limit)
		}
		p.Milestones = append(p.Milestones, one)
		return nil
	}, "select repository, environment, application, at, since_at, action, snapshot, number, rule from history"+of.where, of.args...)
}

func (p *Progress) readTimes(ctx context.Context, tx *database.Tx, of selection, r reading) error {
	of, err := r.within(of, p.Names)
	if err != nil {
		return err
	}
	return tx.Query(ctx, func(scan database.Scan) error {
		var one PromotionTime
		err := scan(&one.Repository, &one.Environment, &one.Application,
			&one.Snapshot, &one.Kind, &one.Name, &one.Began, &one.Ended)
		switch {
		case err != nil || !r.shows(p.Names, one.TargetKey):
			return err
		case len(p.Times) == r.limit:
			return tooMany(r.limit)
		}
		p.Times = append(p.Times, one)
		return nil
	}, "select repository, environment, application, snapshot, kind, name, began_at, ended_at from promotion_time"+of.where, of.args...)
}

func (p *Progress) readTargets(ctx context.Context, tx *database.Tx, of selection, r reading) error {
	of, err := r.within(of, p.Names)
	if err != nil {
		return err
	}
	return tx.Query(ctx, func(scan database.Scan) error {
		var key TargetKey
		var content string
		if err := scan(&key.Repository, &key.Environment, &key.Application, &content); err != nil || !r.shows(p.Names, key) {
			return err
		}
		var now TargetNow
		if err := json.Unmarshal([]byte(content), &now); err != nil {
			return fmt.Errorf("read the targets of %s: %w", key.Repository, err)
		}
		p.Targets[key] = now
		return nil
	}, "select repository, environment, application, content from target"+of.where, of.args...)
}

// DeleteBefore deletes the times that were stored before a time, and returns their number.
func (m Milestones) DeleteBefore(ctx context.Context, before time.Time) (deleted int64, err error) {
	times := aged{"promotion_time", "repository, environment, application, snapshot, kind, name", "stored_at"}
	return times.deleteBefore(ctx, m.db, before)
}
