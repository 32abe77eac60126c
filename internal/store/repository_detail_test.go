package store_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/database"
	"promoter/internal/edit"
	"promoter/internal/store"
)

// A config that cannot be used any more is shown as it was, with the problems of now.
func TestRepositoryDetail_keepsTheLastUsableConfig(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		set := func(digest store.FoundDigest, detail store.RepositoryDetail) {
			b.Helper()
			b.write(func(ctx context.Context, tx *database.Tx) error {
				return b.Details.Set(ctx, tx, "github:1", digest, detail)
			})
			if got, err := b.Details.Digest(b.Context(), "github:1"); got != digest || err != nil {
				b.Errorf("the digest is %v, %v", got, err)
			}
		}
		want := func(want store.RepositoryDetail) {
			b.Helper()
			if got, err := b.Details.Get(b.Context(), "github:1"); err != nil || !cmp.Equal(want, got) {
				b.Errorf("%v\n%s", err, cmp.Diff(want, got))
			}
		}
		want(store.RepositoryDetail{})
		if got, err := b.Details.Digest(b.Context(), "github:1"); got != (store.FoundDigest{}) || err != nil {
			b.Errorf("without a detail: %v, %v", got, err)
		}
		usable := store.RepositoryDetail{
			Config:     "version: 1\n",
			Refused:    store.ListOf([]store.RefusedFile{{Environment: "prod", Application: "web", Refusal: edit.Refusal{File: "a.yaml", Line: 3, Reason: "the tag stands alone"}}}),
			Unfollowed: store.ListOf([]store.UnfollowedImage{{Branch: "main", File: "a.yaml", Line: 7, Image: "redis:7"}}),
		}
		set(store.FoundDigest{All: "1", Config: "a"}, usable)
		want(usable)
		broken := store.RepositoryDetail{Problems: config.Problems{{
			Severity: config.SeverityError, Position: config.Position{File: ".promoter.yaml", Line: 2, Column: 1}, Message: "unknown key", Hint: "remove it",
		}}}
		set(store.FoundDigest{All: "2"}, broken)
		broken.Config = usable.Config
		want(broken)
		if err := b.DeleteRepository(b.Context(), "github:1"); err != nil {
			b.Fatal(err)
		}
		want(store.RepositoryDetail{})
	})
}

func TestListOf_isLimited(t *testing.T) {
	t.Parallel()
	if got := store.ListOf(make([]int, store.MaxListed+1)); len(got.Items) != store.MaxListed || got.Total != store.MaxListed+1 {
		t.Errorf("%d of %d", len(got.Items), got.Total)
	}
}
