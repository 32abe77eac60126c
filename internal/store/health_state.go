package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"promoter/internal/database"
	"promoter/internal/health"
)

// States returns what is stored of the states of landed commits of a repository.
func (s HealthRecords) States(ctx context.Context, repository string, keys []health.Key) (states map[health.Key]health.State, err error) {
	states = map[health.Key]health.State{}
	wanted := map[health.Key]bool{}
	contexts := []any{repository}
	for _, key := range keys {
		if !wanted[key] {
			wanted[key] = true
			contexts = append(contexts, key.Context)
		}
	}
	if len(wanted) == 0 {
		return states, nil
	}
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var key health.Key
			var text string
			if err := scan(&key.Context, &key.Commit, &text); err != nil || !wanted[key] {
				return err
			}
			var state health.State
			if err := json.Unmarshal([]byte(text), &state); err != nil {
				return fmt.Errorf("read the health of %s: %w", key.Commit, err)
			}
			states[key] = state
			return nil
		}, "select context, commit_id, state from health_state where repository = ? and context in (?"+strings.Repeat(", ?", len(contexts)-2)+")", contexts...)
	})
	return states, err
}

// maxStates is how many landed commits of each target keep their state.
const maxStates = 20

// SaveStates stores states of landed commits of a repository. Of each target, the states
// that were stored last are kept.
func (s HealthRecords) SaveStates(ctx context.Context, repository string, states map[health.Key]health.State) error {
	keys := slices.SortedFunc(maps.Keys(states), func(a, b health.Key) int {
		return cmp.Or(cmp.Compare(a.Context, b.Context), cmp.Compare(a.Commit, b.Commit))
	})
	if len(keys) == 0 {
		return nil
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		for _, key := range keys {
			text, err := json.Marshal(states[key])
			if err != nil {
				return fmt.Errorf("store the health of %s: %w", key.Commit, err)
			}
			if _, err := tx.Exec(ctx, `
insert into health_state (repository, context, commit_id, state, stored_at) values (?, ?, ?, ?, @now)
on conflict (repository, context, commit_id) do update set state = excluded.state, stored_at = excluded.stored_at`,
				repository, storable(key.Context), key.Commit, storable(string(text))); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `
delete from health_state where repository = ? and context = ? and commit_id not in (
	select commit_id from health_state where repository = ? and context = ? order by stored_at desc, commit_id limit ?
)`, repository, storable(key.Context), repository, storable(key.Context), maxStates); err != nil {
				return err
			}
		}
		return nil
	})
}
