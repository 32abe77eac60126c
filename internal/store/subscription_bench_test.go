package store_test

import (
	"context"
	"fmt"
	"testing"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/store"
)

// The subscriptions of the benchmark: 10,000 images in 1,000 repositories, each of which
// also has a pattern.
const (
	benchRepositories = 1000
	benchImages       = 10
)

// BenchmarkSubscribers finds the subscribers of one image among many.
func BenchmarkSubscribers(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		b.Run(kind.Name, func(b *testing.B) {
			db := databasetest.Open(b, kind.New(b))
			s := store.New(db)
			subscribeMany(b, db, s)
			n := 0
			for b.Loop() {
				n++
				e := imageEvent("registry.example.com", fmt.Sprintf("team-%d/image-%d", n%benchRepositories, n%benchImages))
				err := db.View(b.Context(), func(ctx context.Context, tx *database.Tx) error {
					found, err := s.Subscribers(ctx, tx, "hook", e)
					if err == nil && len(found) != 1 {
						return fmt.Errorf("%s: %d subscribers", e, len(found))
					}
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func subscribeMany(b *testing.B, db *database.DB, s *store.Store) {
	b.Helper()
	for repository := range benchRepositories {
		subscriptions := []store.Subscription{pattern(b, fmt.Sprintf("registry.example.com/team-%d/charts/*", repository))}
		for n := range benchImages {
			subscriptions = append(subscriptions, pattern(b, fmt.Sprintf("registry.example.com/team-%d/image-%d", repository, n)))
		}
		err := db.Update(b.Context(), func(ctx context.Context, tx *database.Tx) error {
			_, err := s.SetSubscriptions(ctx, tx, fmt.Sprint("github.com/", repository), subscriptions)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
