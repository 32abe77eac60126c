package store

import (
	"context"
	"strings"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/identity"
)

// Repository is a repository that is worked on, and how the last look at it ended.
type Repository struct {
	Key          string // of the repository
	Forge        string // its name in the server's file
	Host         string // of its pages
	Name         string // OWNER/NAME as it is now
	ReconciledAt time.Time
	Failure      string // empty: the last look did well
}

// setLane keeps what is known of a lane. The time is that of the database.
func setLane(ctx context.Context, tx *database.Tx, l Repository) error {
	_, err := tx.Exec(ctx, `
insert into lane (key, forge, host, name, looked_at, failure) values (?, ?, ?, ?, @now, ?)
on conflict (key) do update set forge = excluded.forge, host = excluded.host, name = excluded.name,
	looked_at = excluded.looked_at, failure = excluded.failure`,
		l.Key, l.Forge, plain(strings.ToLower(l.Host)), plain(strings.ToLower(l.Name)), short(l.Failure))
	return err
}

// DeleteRepository removes a lane that is not worked on any more, with what it follows.
func (s *Store) DeleteRepository(ctx context.Context, key string) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		for _, query := range []string{
			"delete from follower where lane = ?", "delete from cause where lane = ?",
			"delete from scheduled where lane = ?", "delete from refresh where lane = ?",
		} {
			if _, err := tx.Exec(ctx, query, key); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "delete from lane where key = ?", key)
		return err
	})
}

// Repository returns a lane; one that is not there is a NotFound fault.
func (s *Store) Repository(ctx context.Context, key string) (l Repository, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		var looked int64
		columns := []any{&l.Key, &l.Forge, &l.Host, &l.Name, &looked, &l.Failure}
		err := tx.One(ctx, columns, "select key, forge, host, name, looked_at, failure from lane where key = ?", key)
		l.ReconciledAt = database.Time(looked)
		return err
	})
	return l, err
}

// Repositories lists all lanes by host and name.
func (s *Store) Repositories(ctx context.Context) (all []Repository, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var l Repository
			var looked int64
			if err := scan(&l.Key, &l.Forge, &l.Host, &l.Name, &looked, &l.Failure); err != nil {
				return err
			}
			l.ReconciledAt = database.Time(looked)
			all = append(all, l)
			return nil
		}, "select key, forge, host, name, looked_at, failure from lane order by host, name, key")
	})
	return all, err
}

// lanesOf finds the lane of a repository by its id, which a rename keeps, and else by
// its name.
func lanesOf(ctx context.Context, tx *database.Tx, r event.Repository) ([]string, error) {
	if key, err := identity.ForgeKey(r.Host, r.ID); err == nil {
		found, err := lanes(ctx, tx, "select key from lane where key = ?", string(key))
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return lanes(ctx, tx, "select key from lane where host = ? and name = ?", strings.ToLower(r.Host), strings.ToLower(r.Name))
}
