package scmtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// dashTitle returns a minimal edit.
func dashTitle() scm.Edit {
	title := "-"
	return scm.Edit{Title: &title}
}

// comparing tests Comparer and Releases.
func comparing() []condition {
	compare := func(f scm.Features) bool { return f.Compare }
	releases := func(f scm.Features) bool { return f.Releases }
	return []condition{
		{
			name: "Compare lists the commits between two, oldest first", feature: compare,
			run: func(t *testing.T, x *fixture) {
				from, made := x.main(t), x.commits(t, 4)
				got, err := x.Forge.(scm.Comparer).Compare(t.Context(), x.Name, from, made[3], 10)
				fatal(t, "compare", err)
				if ids := idsOf(got); !slices.Equal(ids, made) || got.Total != 4 || got.URL == "" {
					t.Errorf("compared %+v", got)
				}
				if one := got.Commits[0]; one.Message != "Change 0" || one.Author == "" || one.Committed.IsZero() {
					t.Errorf("the first is %+v", one)
				}
				back, err := x.Forge.(scm.Comparer).Compare(t.Context(), x.Name, made[3], from, 10)
				if err != nil || len(back.Commits) != 0 {
					t.Errorf("backwards: %+v, %v", back, err)
				}
			},
		},
		{
			name: "Compare cuts at the limit and returns the total", feature: compare,
			run: func(t *testing.T, x *fixture) {
				from, made := x.main(t), x.commits(t, 5)
				got, err := x.Forge.(scm.Comparer).Compare(t.Context(), x.Name, from, made[4], 3)
				fatal(t, "compare", err)
				if len(got.Commits) != 3 || got.Total != 5 || got.Commits[0].ID != made[0] {
					t.Errorf("compared %+v", got)
				}
			},
		},
		{
			name: "Compare of what is not there or hidden is not found", feature: compare,
			run: func(t *testing.T, x *fixture) {
				comparer := x.Forge.(scm.Comparer)
				_, err := comparer.Compare(t.Context(), "acme/none", "a", "b", 10)
				wantKind(t, "no repository", err, fault.NotFound)
				_, err = comparer.Compare(t.Context(), x.Name, x.main(t), "0123456789012345678901234567890123456789", 10)
				wantKind(t, "no commit", err, fault.NotFound)
			},
		},
		{
			name: "Releases lists the published ones, newest first", feature: releases,
			hooks: func(b Bench) []any { return []any{b.People.Release} },
			run: func(t *testing.T, x *fixture) {
				day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
				x.People.Release(t, Release{Tag: "v1.1.0", Published: day(2)})
				x.People.Release(t, Release{Tag: "v1.0.0", Published: day(1)})
				x.People.Release(t, Release{Tag: "v2.0.0-rc.1", Published: day(3), Prerelease: true})
				for n := range 4 {
					x.People.Release(t, Release{Tag: fmt.Sprintf("v9.0.%d", n), Published: day(9), Draft: true})
				}
				got, err := x.Forge.(scm.Releases).Releases(t.Context(), x.Name, 3)
				want := []scm.Release{{Tag: "v2.0.0-rc.1", Prerelease: true, Published: day(3)}, {Tag: "v1.1.0", Published: day(2)}, {Tag: "v1.0.0", Published: day(1)}}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("releases: %+v, %v", got, err)
				}
				if got, err = x.Forge.(scm.Releases).Releases(t.Context(), x.Name, 2); err != nil || !slices.Equal(got, want[:2]) {
					t.Errorf("two releases: %+v, %v", got, err)
				}
				_, err = x.Forge.(scm.Releases).Releases(t.Context(), "acme/none", 2)
				wantKind(t, "no repository", err, fault.NotFound)
			},
		},
	}
}

// commits adds commits to main.
func (x *fixture) commits(t *testing.T, n int) []string {
	t.Helper()
	var made []string
	for i := range n {
		made = append(made, x.Git.Commit(t, Commit{By: Ann, Branch: Main, Path: "a.yaml", Content: fmt.Sprintf("v: %d\n", i), Message: fmt.Sprintf("Change %d", i)}))
	}
	return made
}

func idsOf(comparison scm.Comparison) []string {
	var ids []string
	for _, commit := range comparison.Commits {
		ids = append(ids, commit.ID)
	}
	return ids
}
