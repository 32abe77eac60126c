package database_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

// Whoever stands around commits sees what was done before it counts; without him
// nothing is committed.
func TestAround(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		o, halt, saw := kind.New(t), true, 0
		o.CommitHook = func(done []database.Statement, commit func() error) error {
			if last := done[len(done)-1]; !strings.HasPrefix(last.Text, "insert into heartbeat") || last.Arguments[0] != 7 {
				t.Errorf("saw %v", done)
			}
			saw++
			if halt {
				return errors.New("halted")
			}
			return commit()
		}
		db := databasetest.Open(t, o)
		for i, write := range []func(context.Context, func(context.Context, *database.Tx) error) error{db.Update, db.Batch} {
			beat := func(ctx context.Context, tx *database.Tx) error {
				_, err := tx.Exec(ctx, "insert into heartbeat (written_at) values (?)", 7)
				return err
			}
			halt = true
			if err := write(t.Context(), beat); err == nil {
				t.Error("what was halted is said to be done")
			}
			halt = false
			if err := write(t.Context(), beat); err != nil {
				t.Error(err)
			}
			if n := number(t, db, "select count(*) from heartbeat where written_at = 7"); n != int64(i+1) || saw < 2*(i+1) {
				t.Errorf("%d rows, seen %d times", n, saw)
			}
		}
	})
}
