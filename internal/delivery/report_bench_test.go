package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/delivery"
	"promoter/internal/store"
)

// The history of the benchmark: 100,000 events of 2,000 applications in three environments.
const (
	benchApplications = 2000
	benchEvents       = 100_000
)

// BenchmarkRead reads the history and computes a report of it. The ratio is to the time in which
// the database returns the same events, without any use.
func BenchmarkRead(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		b.Run(kind.Name, func(b *testing.B) {
			db := databasetest.Open(b, kind.New(b))
			fill(b, db)
			stored := store.New(db).Milestones
			var reading, computing time.Duration
			for b.Loop() {
				begin := time.Now()
				if n := rows(b, db); n != benchEvents {
					b.Fatalf("%d events", n)
				}
				reading += time.Since(begin)
				begin = time.Now()
				report, err := delivery.Read(b.Context(), stored, delivery.Query{}, at("16 00:00"))
				if err != nil || report.Total.Deployments == 0 || len(report.Groups) != 3 {
					b.Fatalf("%d groups, %v", len(report.Groups), err)
				}
				computing += time.Since(begin)
			}
			b.ReportMetric(computing.Seconds()/reading.Seconds(), "ratio")
			b.ReportMetric(computing.Seconds()*1000/float64(b.N), "ms/report")
		})
	}
}

// rows reads the events as the report does, and drops them.
func rows(b *testing.B, db *database.DB) (n int) {
	b.Helper()
	err := db.View(b.Context(), func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var repository, environment, application, action, snapshot, rule string
			var at, since, number int64
			n++
			return scan(&repository, &environment, &application, &at, &since, &action, &snapshot, &number, &rule)
		}, "select repository, environment, application, at, since_at, action, snapshot, number, rule from history")
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// fill writes the life of promotions: opened, landed, and healthy, in each environment.
func fill(b *testing.B, db *database.DB) {
	b.Helper()
	var events []store.Event
	for n := 0; len(events) < benchEvents; n++ {
		snapshot := n / 3 / benchApplications
		e := store.Event{
			Repository: key, Name: "github.com/acme/gitops", Application: fmt.Sprintf("app-%d", n/3%benchApplications),
			Environment: []string{"dev", "staging", "prod"}[n%3], Snapshot: fmt.Sprintf("v1:%d", snapshot), Number: n,
			At: at("02 00:00").Add(time.Duration(snapshot)*24*time.Hour + time.Duration(n%3)*time.Hour), Commit: fmt.Sprint(n), Rule: "newer",
			Versions: []store.EventVersion{{Component: "web", Repository: "quay.io/acme/web", Tag: "1.0", Digest: "sha256:1"}},
		}
		for i, action := range []string{store.EventOpened, store.EventLanded, store.EventHealthy} {
			e.Action, e.At = action, e.At.Add(time.Duration(i)*time.Minute)
			events = append(events, e)
		}
	}
	for some := range slices.Chunk(events[:benchEvents], 5000) {
		err := db.Update(b.Context(), func(ctx context.Context, tx *database.Tx) error {
			_, err := store.New(db).AddEvents(ctx, tx, some)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
