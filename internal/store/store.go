package store

import (
	"context"
	"strings"
	"time"

	"promoter/internal/database"
)

// Store is the data in one database. It is safe for concurrent use.
type Store struct {
	Deliveries    Deliveries
	Health        HealthRecords
	Snapshots     Snapshots
	Schedules     Schedules
	Milestones    Milestones
	Targets       Targets
	Details       RepositoryDetails
	ImageEvents   ImageEvents
	CommentEvents CommentEvents
	Seals         Seals
	Keys          Keys
	Notifications Notifications

	db     *database.DB
	recent *recentEvents
}

// New returns the store of a database.
func New(db *database.DB) *Store {
	return &Store{
		Deliveries: Deliveries{db}, Health: HealthRecords{db}, Snapshots: Snapshots{db}, Schedules: Schedules{db}, Milestones: Milestones{db},
		Targets: Targets{db}, Details: RepositoryDetails{db}, ImageEvents: ImageEvents{db}, CommentEvents: CommentEvents{db},
		Seals: Seals{db}, Keys: Keys{db}, Notifications: Notifications{db}, db: db, recent: &recentEvents{},
	}
}

// storable returns text that both databases can store: PostgreSQL has no NUL and only
// UTF-8, and users and commits may contain anything.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// maxText limits texts of users and commits, in bytes.
const maxText = 4 << 10

// truncated returns storable text of limited length, without a partial character.
func truncated(text string) string {
	text = storable(text)
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// queryTexts reads a column of texts.
func queryTexts(ctx context.Context, tx *database.Tx, query string, args ...any) (found []string, err error) {
	err = tx.Query(ctx, func(scan database.Scan) error {
		var text string
		if err := scan(&text); err != nil {
			return err
		}
		found = append(found, text)
		return nil
	}, query, args...)
	return found, err
}

// deleteBatch is how many rows one transaction deletes. On SQLite, other writers wait
// for it: some milliseconds.
const deleteBatch = 500

// deleteInBatches repeats a statement that deletes a limited number of rows older than a
// time, until none is left.
func deleteInBatches(ctx context.Context, db *database.DB, statement string, before time.Time) (deleted int64, err error) {
	for {
		var some int64
		err = db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
			some, err = tx.Exec(ctx, statement, before, deleteBatch)
			return err
		})
		deleted += some
		if err != nil || some < deleteBatch {
			return deleted, err
		}
		if ctx.Err() != nil {
			return deleted, context.Cause(ctx)
		}
	}
}
