package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"promoter/internal/database"
	"promoter/internal/fault"
)

// Snapshot is a snapshot that a pipeline posted.
type Snapshot struct {
	Repository  string // the key of the GitOps repository
	Application string
	Name        string
	Receiver    string // who posted it
	PostedAt    time.Time
	Content     []byte            // JSON, as it was posted; empty: the database was lost, and it is from promoter/_state
	Images      map[string]string // REPOSITORY:TAG@DIGEST by component, as the registry has them
}

const insertSnapshot = `
insert into snapshot (repository, application, name, receiver, posted_at, content, images) values (?, ?, ?, ?, ?, ?, ?)
on conflict (repository, application, name) do `

// Snapshots are the sets of images that were posted.
type Snapshots struct{ db *database.DB }

// Save stores a snapshot, or replaces the one of its name.
func (s Snapshots) Save(ctx context.Context, one Snapshot) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		return addSnapshot(ctx, tx, one, insertSnapshot+"update set content = excluded.content, images = excluded.images")
	})
}

// Restore stores snapshots, unless there are some of their names.
func (s Snapshots) Restore(ctx context.Context, tx *database.Tx, snapshots []Snapshot) error {
	for _, one := range snapshots {
		if err := addSnapshot(ctx, tx, one, insertSnapshot+"nothing"); err != nil {
			return err
		}
	}
	return nil
}

func addSnapshot(ctx context.Context, tx *database.Tx, one Snapshot, statement string) error {
	images, err := json.Marshal(one.Images)
	if err != nil {
		return fmt.Errorf("store snapshot %s: %w", one.Name, err)
	}
	_, err = tx.Exec(ctx, statement,
		one.Repository, storable(one.Application), storable(one.Name), storable(one.Receiver), one.PostedAt,
		storable(string(one.Content)), storable(string(images)))
	return err
}

const selectSnapshots = "select repository, application, name, receiver, posted_at, content, images from snapshot where repository = ?"

func scanSnapshot(scan database.Scan, one *Snapshot) error {
	var content, images string
	if err := scan(&one.Repository, &one.Application, &one.Name, &one.Receiver, &one.PostedAt, &content, &images); err != nil {
		return err
	}
	one.Content = []byte(content)
	if err := json.Unmarshal([]byte(images), &one.Images); err != nil {
		return fmt.Errorf("read the images of snapshot %s: %w", one.Name, err)
	}
	return nil
}

// List lists the newest snapshots of a repository. An empty application or name does
// not restrict.
func (s Snapshots) List(ctx context.Context, repository, application, name string, limit int) ([]Snapshot, error) {
	application, name = storable(application), storable(name)
	const query = selectSnapshots + " and (? = '' or application = ?) and (? = '' or name = ?) order by posted_at desc, name limit ?"
	return viewRows(ctx, s.db, scanSnapshot, query, repository, application, application, name, name, limit)
}

// Get returns the snapshot of a name among those of readable applications, or a NotFound fault. An
// empty application does not restrict.
func (s Snapshots) Get(
	ctx context.Context, repository, application, name string, readable func(application string) bool,
) (Snapshot, error) {
	found, err := s.List(ctx, repository, application, name, math.MaxInt32) // an application has one of each name
	found = slices.DeleteFunc(found, func(one Snapshot) bool { return !readable(one.Application) })
	switch {
	case err != nil:
		return Snapshot{}, err
	case len(found) == 0:
		return Snapshot{}, fault.New(fault.NotFound, "there is no snapshot %.100q", name)
	case len(found) > 1:
		return Snapshot{}, fault.New(fault.Invalid, "%s and %s have a snapshot %.100q: name the application",
			found[0].Application, found[1].Application, name)
	}
	return found[0], nil
}

// DeleteBefore deletes the snapshots that were posted before a time, and returns
// their number.
func (s Snapshots) DeleteBefore(ctx context.Context, before time.Time) (deleted int64, err error) {
	return aged{"snapshot", "repository, application, name", "posted_at"}.deleteBefore(ctx, s.db, before)
}
