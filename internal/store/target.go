package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"promoter/internal/database"
)

// Target is what the last reconciliation found in one target.
type Target struct {
	Environment string         `json:"environment"`
	Application string         `json:"application"`
	After       []string       `json:"after,omitempty"` // the parent environments
	Branch      string         `json:"branch,omitempty"`
	Paths       []string       `json:"paths,omitempty"`
	State       string         `json:"state"` // of the decision
	Rule        string         `json:"rule,omitempty"`
	Message     string         `json:"message,omitempty"`
	Until       time.Time      `json:"until,omitzero"`
	Current     []EventVersion `json:"current"` // in the files
	Wanted      []EventVersion `json:"wanted,omitempty"`
	Posted      string         `json:"posted,omitempty"` // name of the posted snapshot that is requested there
	Number      int            `json:"number,omitempty"` // of the open pull request
	URL         string         `json:"url,omitempty"`
	// Labels are those of the environment and of the application, which has priority.
	Labels    map[string]string `json:"labels,omitempty"`
	Monitored bool              `json:"monitored,omitempty"` // it has a source of health

	// Detail is what else users ask about it.
	Detail TargetDetail `json:"detail"`

	Since    time.Time `json:"-"` // set by the store: since when it has the state and the rule
	Position int       `json:"-"` // among the targets of the repository; for SetOf
}

// Targets are what the last reconciliation of each repository found: its targets with their
// newest landings, and its drift.
type Targets struct{ db *database.DB }

// Set replaces the targets of a repository, in the order of its environments. It writes those that
// differ from what is stored: of 10,000, an event changes a few.
func (t Targets) Set(ctx context.Context, tx *database.Tx, repository string, targets []Target) error {
	stored, err := storedTargets(ctx, tx, repository, "")
	if err != nil {
		return err
	}
	changed := []storedTarget{}
	for i, one := range targets {
		one.Position = i
		next, err := toStore(one)
		if err != nil {
			return err
		}
		if stored[next.key()] != next {
			changed = append(changed, next)
		}
		delete(stored, next.key())
	}
	gone := make([]storedTarget, 0, len(stored))
	for key := range stored {
		gone = append(gone, storedTarget{Environment: key.environment, Application: key.application})
	}
	if err := execEach(ctx, tx, gone, `
delete from target where repository = ? and (environment, application) in (
	select value->>'environment', value->>'application' from @elements(?))`, repository); err != nil {
		return err
	}
	return upsertTargets(ctx, tx, repository, changed)
}

// SetOf replaces the targets of some applications in all environments of a repository, at their
// positions, and returns how many it wrote. It returns false, and writes nothing, if the stored ones are not the same targets: then
// all positions may be others.
func (t Targets) SetOf(
	ctx context.Context, tx *database.Tx, repository string, environments, applications []string, targets []Target,
) (done bool, written int, err error) {
	rows := []storedTarget{}
	for _, environment := range environments {
		for _, application := range applications {
			rows = append(rows, storedTarget{Environment: storable(environment), Application: storable(application)})
		}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return false, 0, fmt.Errorf("store the targets: %w", err)
	}
	stored, err := storedTargets(ctx, tx, repository, string(text))
	if err != nil || len(stored) != len(targets) {
		return false, 0, err
	}
	changed := []storedTarget{}
	for _, one := range targets {
		next, err := toStore(one)
		if err != nil {
			return false, 0, err
		}
		was, known := stored[next.key()]
		if !known || was.Position != next.Position {
			return false, 0, nil
		}
		if was != next {
			changed = append(changed, next)
		}
	}
	return true, len(changed), upsertTargets(ctx, tx, repository, changed)
}

// upsertTargets writes rows in place of those of the same targets.
func upsertTargets(ctx context.Context, tx *database.Tx, repository string, changed []storedTarget) error {
	return execEach(ctx, tx, changed, `
insert into target (repository, environment, application, position, state, since, content, summary)
select cast(? as text), value->>'environment', value->>'application', cast(value->>'position' as bigint), value->>'state', @now,
	value->>'content', value->>'summary'
from @elements(?) where true
on conflict (repository, environment, application) do update set position = excluded.position, state = excluded.state,
	since = case when target.state = excluded.state then target.since else excluded.since end, content = excluded.content,
	summary = excluded.summary`, repository)
}

// storedTarget is a row of the table.
type storedTarget struct {
	Environment string `json:"environment"`
	Application string `json:"application"`
	Position    int    `json:"position"`
	State       string `json:"state"`
	Content     string `json:"content"`
	Summary     string `json:"summary"`
}

type targetKey struct{ environment, application string }

func (s storedTarget) key() targetKey { return targetKey{s.Environment, s.Application} }

// toStore returns the row of a target.
func toStore(one Target) (storedTarget, error) {
	one.Message = truncated(one.Message)
	if one.Detail.Health != nil {
		reported := *one.Detail.Health
		reported.Message, reported.Failure = truncated(reported.Message), truncated(reported.Failure)
		one.Detail.Health = &reported
	}
	content, err := json.Marshal(one)
	if err != nil {
		return storedTarget{}, fmt.Errorf("store the targets: %w", err)
	}
	return storedTarget{
		Environment: storable(one.Environment), Application: storable(one.Application), Position: one.Position,
		State: storable(one.State + " " + one.Rule), Content: storable(string(content)), Summary: storable(one.Row().summary()),
	}, nil
}

// storedTargets returns the rows of a repository: those of a JSON list of targets or, if that is
// empty, all of them.
func storedTargets(ctx context.Context, tx *database.Tx, repository, among string) (map[targetKey]storedTarget, error) {
	all := map[targetKey]storedTarget{}
	query, arguments := "select environment, application, position, state, content, summary from target where "+
		"repository = ?", []any{repository}
	if among != "" {
		query += " and (environment, application) in (select value->>'environment', value->>'application' from @elements(?))"
		arguments = append(arguments, among)
	}
	err := tx.Query(ctx, func(scan database.Scan) error {
		var one storedTarget
		err := scan(&one.Environment, &one.Application, &one.Position, &one.State, &one.Content, &one.Summary)
		all[one.key()] = one
		return err
	}, query, arguments...)
	return all, err
}

// List lists the targets of a repository, in the order of its environments. An empty
// environment or application does not restrict.
func (t Targets) List(ctx context.Context, repository, environment, application string) ([]Target, error) {
	return viewRows(ctx, t.db, func(scan database.Scan, one *Target) error {
		var content string
		if err := scan(&one.Since, &content); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(content), one); err != nil {
			return fmt.Errorf("read the targets of %s: %w", repository, err)
		}
		return nil
	}, `select since, content from target where repository = ? and (? = '' or environment = ?) and (? = '' or application = ?)
order by position`, repository, storable(environment), storable(environment), storable(application), storable(application))
}

// SetDrift stores the drift that a reconciliation found, as JSON; empty: there is none.
func (t Targets) SetDrift(ctx context.Context, tx *database.Tx, key, drift string) error {
	drift = storable(drift)
	_, err := tx.Exec(ctx, "update repository set drift = ? where key = ? and drift <> ?", drift, key, drift)
	return err
}

// Drift returns the drift of the repositories that have some, as JSON by key.
func (t Targets) Drift(ctx context.Context) (map[string]string, error) {
	return viewPairs[string, string](ctx, t.db, "select key, drift from repository where drift <> ''")
}
