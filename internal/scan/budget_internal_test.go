package scan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"promoter/internal/budget"
	"promoter/internal/config"
)

// A config file with many patterns, and files with long paths, would take minutes to match.
func TestScan_chargesTheBudgetForPaths(t *testing.T) {
	t.Parallel()
	loaded, m := loadConfig(t, twoEnvironments), newMemory()
	commit := m.commit(twoApplications())
	scan := func(ctx context.Context) error {
		_, err := newCommitScanner(m, Request{Config: loaded, Environments: loaded.Order()}).scan(ctx, commit)
		return err
	}
	limited := budget.With(t.Context(), budget.New(budget.Limits{budget.Paths: {Total: 20}}))
	if err := scan(limited); !errors.Is(err, budget.ErrExhausted) || !strings.Contains(err.Error(), "more than 20 steps of path patterns; most: .promoter.yaml (") {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := scan(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := scan(budget.With(t.Context(), budget.New(budget.Defaults()))); err != nil {
		t.Error(err)
	}
}

// The largest repository within the other limits is within the budget: 500,000 files of 500 environments that have
// folders of their own.
func TestMatcher_costOfALargeRepository(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("version: 1\ncomponents:\n  web: {image: quay.io/acme/web, select: {semver: \">=1\"}}\nenvironments:\n")
	for i := range 500 {
		fmt.Fprintf(&text, "  e%d: {paths: [\"clusters/e%d/{application}/**\"]}\n", i, i)
	}
	loaded, problems := config.Load(config.FileName, []byte(text.String()))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	m := newMatcher(loaded, loaded.Order(), nil)
	const files = 500_000
	within := budget.Defaults()[budget.Paths].Total
	if of := files * m.cost("clusters/e77/"+strings.Repeat("a", 100)+"/deployment.yaml"); of > within {
		t.Errorf("%d steps of %d", of, within)
	}
	// Patterns that compare all of each path cost it.
	if of := m.cost("clusters/e1/x/y"); of != 500*4+15 {
		t.Errorf("%d steps", of)
	}
}
