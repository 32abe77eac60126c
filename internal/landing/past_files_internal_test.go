package landing

import (
	"context"
	"testing"

	"promoter/internal/budget"
	"promoter/internal/config"
	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// spending are files that take what they like of a resource.
type spending struct {
	repo.Files
	resource budget.Resource
	n        int64
}

func (s spending) At(ctx context.Context, _ *config.Config, _ string, _ []string) (repo.Tree, error) {
	return noTree{}, budget.Spend(ctx, s.resource, "files", s.n)
}

type noTree struct{ repo.Tree }

func (noTree) Targets() map[promotion.Target]promotion.Current { return nil }

// What only adds to what is known has a limit of every resource, and uses nothing of the reconciliation.
func TestPastFiles_tryIsLimited(t *testing.T) {
	t.Parallel()
	for resource, limit := range budget.Defaults() {
		of := budget.New(budget.Limits{resource: {Total: 1}})
		ctx := budget.With(t.Context(), of)
		target := promotion.Target{Environment: "dev"}
		small := NewPastFiles(spending{resource: resource, n: 2}, &config.Config{})
		if _, read, err := small.Try(ctx, target, "a"); err != nil || !read {
			t.Errorf("%s: %t, %v", resource, read, err)
		}
		large := NewPastFiles(spending{resource: resource, n: limit.Total + 1}, &config.Config{})
		if _, read, err := large.Try(ctx, target, "a"); err != nil || read {
			t.Errorf("%s without a limit: %t, %v", resource, read, err)
		}
	}
}
