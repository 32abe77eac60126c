package store_test

import (
	"context"
	"fmt"
	"testing"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/store"
)

// The followers of the benchmark: 10,000 images in 1,000 repositories, each of which
// also follows a folder of images by a pattern.
const (
	benchLanes  = 1000
	benchImages = 10
)

// BenchmarkFollowers finds who follows an image, a repository whose images change by
// the minute among many.
func BenchmarkFollowers(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		b.Run(kind.Name, func(b *testing.B) {
			db := databasetest.Open(b, kind.New(b))
			s := store.New(db)
			followMany(b, db, s)
			n := 0
			for b.Loop() {
				n++
				hint := imageHint("registry.example.com", fmt.Sprintf("team-%d/image-%d", n%benchLanes, n%benchImages))
				err := db.View(b.Context(), func(ctx context.Context, tx *database.Tx) error {
					found, err := s.Subscribers(ctx, tx, hint)
					if err == nil && len(found) != 1 {
						return fmt.Errorf("%s: %d followers", hint, len(found))
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

func followMany(b *testing.B, db *database.DB, s *store.Store) {
	b.Helper()
	for lane := range benchLanes {
		follows := []store.Subscription{pattern(b, fmt.Sprintf("registry.example.com/team-%d/charts/*", lane))}
		for n := range benchImages {
			follows = append(follows, pattern(b, fmt.Sprintf("registry.example.com/team-%d/image-%d", lane, n)))
		}
		err := db.Batch(b.Context(), func(ctx context.Context, tx *database.Tx) error {
			_, err := s.SetSubscriptions(ctx, tx, fmt.Sprint("github.com/", lane), follows)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
