package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/store"
)

// BenchmarkFreshness reads which images had an event, after many webhooks in the
// five minutes since the last poll.
func BenchmarkFreshness(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		for _, events := range []int{300, 3000, 30_000} {
			b.Run(fmt.Sprintf("%s/%d", kind.Name, events), func(b *testing.B) {
				db := databasetest.Open(b, kind.New(b))
				s := store.New(db)
				var rows []string
				for n := range events {
					rows = append(rows, fmt.Sprintf(`{"path": "team/image-%d", "age": %d}`, n, (5*time.Minute).Microseconds()*int64(n)/int64(events)))
				}
				err := db.Update(b.Context(), func(ctx context.Context, tx *database.Tx) error {
					_, err := tx.Exec(ctx, "insert into schedule (name, fired_at) values (?, @now - 300000000)", store.Poll)
					if err != nil {
						return err
					}
					_, err = tx.Exec(ctx, `insert into image_event (host, path, event_at)
select 'registry.example.com', value->>'path', @now - cast(value->>'age' as bigint) from @elements(?)`, "["+strings.Join(rows, ",")+"]")
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := s.Freshness(b.Context(), "github.com/1", 5*time.Minute); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
