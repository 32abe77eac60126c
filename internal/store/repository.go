package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/database"
	"promoter/internal/identity"
)

// Repository is a repository that is reconciled, and the result of its last
// reconciliation.
type Repository struct {
	Key          string
	Forge        string // its name in the server file
	Host         string // of the web pages
	Name         string // OWNER/NAME as it is now
	ReconciledAt time.Time
	BeganAt      time.Time // when that reconciliation began
	Failure      string    // empty: the last reconciliation succeeded
	Failures     int       // reconciliations since the last one that succeeded
}

// Address returns HOST/OWNER/NAME.
func (r Repository) Address() string { return r.Host + "/" + r.Name }

// IsNamed reports whether a text names the repository: see identity.RepositoryKey.IsNamed.
func (r Repository) IsNamed(text string) bool {
	return identity.RepositoryKey(r.Key).IsNamed(r.Address(), text)
}

// HistoryUpdate is what a reconciliation adds to the history.
type HistoryUpdate struct {
	Events []Event
	// Heads are the commits up to which the history of each branch was read.
	Heads map[string]string
	Times []PromotionTime // of promotions that are underway
}

// RecordReconciliation stores the result of a reconciliation. It returns the events that the
// history did not contain.
func (s *Store) RecordReconciliation(ctx context.Context, tx *database.Tx, r Repository, update HistoryUpdate) (added []Event, err error) {
	_, err = tx.Exec(ctx, `
insert into repository (key, forge, host, name, began_at, reconciled_at, last_error, failures)
values (?, ?, ?, ?, ?, @now, cast(? as text), case when cast(? as text) = '' then 0 else 1 end)
on conflict (key) do update set forge = excluded.forge, host = excluded.host, name = excluded.name, began_at = excluded.began_at,
	reconciled_at = excluded.reconciled_at, last_error = excluded.last_error,
	failures = case when excluded.last_error = '' then 0 else repository.failures + 1 end`,
		r.Key, r.Forge, storable(strings.ToLower(r.Host)), storable(strings.ToLower(r.Name)), r.BeganAt, truncated(r.Failure),
		truncated(r.Failure))
	if err != nil {
		return nil, err
	}
	if added, err = s.AddEvents(ctx, tx, update.Events); err != nil {
		return nil, err
	}
	if err := savePromotionTimes(ctx, tx, update.Times); err != nil {
		return nil, err
	}
	for _, branch := range slices.Sorted(maps.Keys(update.Heads)) {
		if _, err := tx.Exec(ctx, `
insert into history_head (repository, branch, commit_id) values (?, ?, ?)
on conflict (repository, branch) do update set commit_id = excluded.commit_id`, r.Key, storable(branch), update.Heads[branch]); err != nil {
			return nil, err
		}
	}
	return added, nil
}

// DeleteRepository deletes a repository that is not reconciled any more, except its
// history.
func (s *Store) DeleteRepository(ctx context.Context, key string) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		for _, statement := range []string{
			"delete from subscription where repository = ?", "delete from last_trigger where repository = ?",
			"delete from repository_schedule where repository = ?", "delete from refresh where repository = ?",
			"delete from health_state where repository = ?",
			"delete from target where repository = ?",
			"delete from repository_detail where repository = ?",
			"delete from repository where key = ?",
		} {
			if _, err := tx.Exec(ctx, statement, key); err != nil {
				return err
			}
		}
		return nil
	})
}

const repositoryColumns = "key, forge, host, name, began_at, reconciled_at, last_error, failures"

// columns are where repositoryColumns are read to.
func (r *Repository) columns() []any {
	return []any{&r.Key, &r.Forge, &r.Host, &r.Name, &r.BeganAt, &r.ReconciledAt, &r.Failure, &r.Failures}
}

// Repository returns a repository, or a NotFound fault.
func (s *Store) Repository(ctx context.Context, key string) (r Repository, err error) {
	err = viewOne(ctx, s.db, r.columns(), "select "+repositoryColumns+" from repository where key = ?", key)
	return r, err
}

// Repositories lists all repositories by host and name.
func (s *Store) Repositories(ctx context.Context) ([]Repository, error) {
	read := func(scan database.Scan, r *Repository) error { return scan(r.columns()...) }
	return viewRows(ctx, s.db, read, "select "+repositoryColumns+" from repository order by host, name, key")
}

// RecordTrigger stores which delivery last triggered each of the repositories. Call it
// after queue.TriggerIn, so that it is not older than the triggers.
func (s *Store) RecordTrigger(ctx context.Context, tx *database.Tx, by DeliveryRef, repositories []string) error {
	type row struct {
		Key string `json:"key"`
	}
	// Transactions that lock the same rows do so in the same order, and cannot deadlock.
	var rows []row
	for _, key := range slices.Compact(slices.Sorted(slices.Values(repositories))) {
		rows = append(rows, row{key})
	}
	return execEach(ctx, tx, rows, `
insert into last_trigger (repository, receiver, delivery, triggered_at)
select value->>'key', cast(? as text), cast(? as text), @now from @elements(?) where true
on conflict (repository) do update set receiver = excluded.receiver, delivery = excluded.delivery, triggered_at = excluded.triggered_at`,
		storable(by.Receiver), storable(by.Delivery))
}

// TriggerSince returns the last delivery that triggered a repository at or after a time;
// zero: there is none.
func (s *Store) TriggerSince(ctx context.Context, repository string, since time.Time) (by DeliveryRef, err error) {
	err = viewOptional(ctx, s.db, []any{&by.Receiver, &by.Delivery},
		"select receiver, delivery from last_trigger where repository = ? and triggered_at >= ?", repository, since)
	return by, err
}
