package store

import (
	"context"

	"promoter/internal/database"
	"promoter/internal/secret"
)

// Seals are the newest sealed commits of the state branches.
type Seals struct{ db *database.DB }

// Newest returns the newest sealed commit of the state branch of a repository, and its
// counter; zero: none is known. It outlives DeleteRepository: a repository that is followed
// again must not have been moved back.
func (s Seals) Newest(ctx context.Context, repository string) (counter uint64, commit string, err error) {
	var stored int64
	err = viewOptional(ctx, s.db, []any{&stored, &commit}, "select counter, commit_id from sealed where repository = ?", repository)
	return uint64(max(stored, 0)), commit, err //nolint:gosec // it is not negative
}

// Remember stores the newest sealed commit, unless a newer one is stored.
func (s Seals) Remember(ctx context.Context, repository string, counter uint64, commit string) error {
	return exec(ctx, s.db, `
insert into sealed (repository, counter, commit_id) values (?, ?, ?)
on conflict (repository) do update set counter = excluded.counter, commit_id = excluded.commit_id
where excluded.counter > sealed.counter`, repository, int64(counter), commit) //nolint:gosec // it counts one by one
}

// Keys are the keys that all replicas share.
type Keys struct{ db *database.DB }

// Seal returns the key of the seals that all replicas share. The first one stores the
// key that it brings.
func (k Keys) Seal(ctx context.Context, generated secret.String) (secret.String, error) {
	return k.shared(ctx, "seal_key", generated)
}

// Session is Seal for the key of the sessions of browsers.
func (k Keys) Session(ctx context.Context, generated secret.String) (secret.String, error) {
	return k.shared(ctx, "session_key", generated)
}

func (k Keys) shared(ctx context.Context, table string, generated secret.String) (key secret.String, err error) {
	err = k.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		if _, err := tx.Exec(ctx, "insert into "+table+" (id, value) values (1, ?) on conflict (id) do nothing",
			generated.Reveal()); err != nil {
			return err
		}
		var value string
		err := tx.One(ctx, []any{&value}, "select value from "+table+" where id = 1")
		key = secret.New(value)
		return err
	})
	return key, err
}
