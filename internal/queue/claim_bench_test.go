package queue_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// BenchmarkClaim claims and ends one run while the rest of a poll waits, of ten tenants.
func BenchmarkClaim(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		for _, waiting := range []int{1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", kind.Name, waiting), func(b *testing.B) {
				db := databasetest.Open(b, kind.New(b))
				q, err := queue.New(b.Context(), db, "here")
				if err != nil {
					b.Fatal(err)
				}
				triggers := make([]queue.Trigger, waiting)
				for n := range triggers {
					triggers[n] = queue.Trigger{Kind: "repository", Key: fmt.Sprint(n), Tenant: fmt.Sprint("tenant-", n%10)}
				}
				if err := q.Trigger(b.Context(), triggers...); err != nil {
					b.Fatal(err)
				}
				err = db.Update(b.Context(), func(ctx context.Context, tx *database.Tx) error {
					_, err := tx.Exec(ctx, "analyze")
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				o := queue.ClaimOptions{Kind: "repository", Limit: 1, Lease: time.Minute, Share: func(due []queue.Waiting) []queue.Share {
					return []queue.Share{{Tenant: due[0].Tenant, Runs: 1}}
				}}
				for b.Loop() {
					claimed, err := q.Claim(b.Context(), o)
					if err != nil || len(claimed.Items) != 1 {
						b.Fatalf("%d claimed, error %v", len(claimed.Items), err)
					}
					if err := q.Done(b.Context(), claimed.Items[0], queue.Result{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
