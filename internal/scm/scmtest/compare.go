package scmtest

import (
	"fmt"
	"slices"
	"strings"
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
			name: "Compare names the pull request of a commit that merged one", feature: compare,
			run: func(t *testing.T, x *fixture) {
				from := x.main(t)
				var to string
				messages := []string{
					"Show the price (#12)", "Merge branch 'a' into 'main'\n\nSee merge request " + x.Name + "!12", // the first as GitHub and Gitea, the second as GitLab
					"Not (#13) one", "Nor this\n\nFixes (#14)", "Nor (#this)", "Nor\n\nSee merge request acme/other!15",
				}
				for i, message := range messages {
					to = x.Git.Commit(t, Commit{By: Ann, Branch: Main, Path: "a.yaml", Content: fmt.Sprintf("v: %d\n", i), Message: message})
				}
				got, err := x.Forge.(scm.Comparer).Compare(t.Context(), x.Name, from, to, 10)
				fatal(t, "compare", err)
				var named []int
				for _, commit := range got.Commits {
					if n := commit.PullRequest.Number; n > 0 {
						named = append(named, n)
						if !strings.HasSuffix(commit.PullRequest.URL, "/12") || !strings.Contains(commit.PullRequest.URL, x.Name) {
							t.Errorf("the link is %s", commit.PullRequest.URL)
						}
					}
				}
				if !slices.Equal(named, []int{12}) {
					t.Errorf("the pull requests %v are named", named)
				}
			},
		},
		{
			name: "Release returns the notes of the release of a tag", feature: releases,
			hooks: func(b Bench) []any { return []any{b.People.Release} },
			run: func(t *testing.T, x *fixture) {
				day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
				x.People.Release(t, Release{Tag: "v1.1.0", Published: day, Notes: "Faster."})
				x.People.Release(t, Release{Tag: "v1.2.0", Published: day.AddDate(99, 0, 0), Draft: true})
				forge := x.Forge.(scm.Releases)
				got, err := forge.Release(t.Context(), x.Name, "v1.1.0")
				if err != nil || got.Tag != "v1.1.0" || got.Notes != "Faster." || got.Published.IsZero() || !strings.Contains(got.URL, "/releases/") {
					t.Errorf("the release: %+v, %v", got, err)
				}
				for _, tag := range []string{"v1.2.0", "1.1.0"} {
					_, err = forge.Release(t.Context(), x.Name, tag)
					wantKind(t, tag, err, fault.NotFound)
				}
				_, err = forge.Release(t.Context(), "acme/none", "v1.1.0")
				wantKind(t, "no repository", err, fault.NotFound)
				_, err = forge.Release(t.Context(), x.Name, "../1")
				wantKind(t, "no tag", err, fault.Invalid)
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
