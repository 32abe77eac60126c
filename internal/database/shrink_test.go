package database_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

// What was removed leaves the disk, but for some room.
func TestShrink_returnsDeletedSpaceToTheFileSystem(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		o := kind.New(t)
		db := databasetest.Open(t, o)
		table(t, db)
		if err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			for i := range 300 { // 12 MiB
				if _, err := tx.Exec(ctx, "insert into thing (name, size) values (?, ?)", strconv.Itoa(i)+strings.Repeat("x", 40<<10), i); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		update(t, db, "delete from thing")
		if err := db.Shrink(t.Context()); err != nil {
			t.Fatal(err)
		}
		if o.Path == "" {
			return
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(o.Path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 10<<20 {
			t.Errorf("the file still has %d bytes", info.Size())
		}
		if err := databasetest.Open(t, o).Shrink(t.Context()); err != nil {
			t.Errorf("with nothing to give back: %v", err)
		}
	})
}
