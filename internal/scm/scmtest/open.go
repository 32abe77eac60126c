package scmtest

import (
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// opening tests Forge.Open and Info.
func opening() []condition {
	return []condition{
		{name: "Open describes the repository", run: func(t *testing.T, x *fixture) {
			info := x.repo.Info()
			if info.Key == "" || info.Name != x.Name || !info.MayPush || info.Archived {
				t.Errorf("info is %+v", info)
			}
			if info.CloneURL == "" || strings.Contains(strings.TrimPrefix(info.CloneURL, "ssh://git@"), "@") {
				t.Errorf("the clone URL is %q", info.CloneURL)
			}
			if again := open(t, x.Bench).Info(); again != info {
				t.Errorf("first %+v, then %+v", info, again)
			}
		}},
		{
			name: "Open tells page, default branch and our account", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				info := x.repo.Info()
				if info.URL == "" || info.DefaultBranch != Main || info.Self.Host == "" || info.Self.Login == "" {
					t.Errorf("info is %+v", info)
				}
			},
			without: func(t *testing.T, x *fixture) {
				if info := x.repo.Info(); info.DefaultBranch != "" || !strings.HasPrefix(string(info.Key), "git:") {
					t.Errorf("info is %+v", info)
				}
			},
		},
		{
			name: "Open follows a rename, and the key stays", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Rename} },
			run: func(t *testing.T, x *fixture) {
				before := x.repo.Info()
				name := x.World.Rename(t)
				after := open(t, x.Bench)
				if info := after.Info(); info.Key != before.Key || info.Name != name {
					t.Errorf("before %+v, after %+v", before, info)
				}
				x.repo = after
				x.propose(t)
				x.one(t)
			},
		},
		{
			name: "a removed repository is not found", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Remove} },
			run: func(t *testing.T, x *fixture) {
				x.World.Remove(t)
				_, err := x.Forge.Open(t.Context(), x.Name)
				wantKind(t, "open", err, fault.NotFound)
			},
		},
		{
			name: "an archived repository is reported and refuses with a message", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Archive} },
			run: func(t *testing.T, x *fixture) {
				x.push(t, "image: web:2\n")
				x.World.Archive(t)
				if !open(t, x.Bench).Info().Archived {
					t.Error("it is not told")
				}
				_, err := x.repo.PullRequests().Create(t.Context(), draft())
				wantKind(t, "create", err, fault.Unauthorized)
				if err == nil || !strings.Contains(err.Error(), "archived") {
					t.Errorf("the words are %v", err)
				}
			},
		},
		{
			name: "an account that may not push is reported", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.ReadOnly} },
			run: func(t *testing.T, x *fixture) {
				x.World.ReadOnly(t)
				if open(t, x.Bench).Info().MayPush {
					t.Error("it may push")
				}
			},
		},
		{
			name: "a credential that lost its scope is unauthorized", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Scope} },
			run: func(t *testing.T, x *fixture) {
				x.push(t, "image: web:2\n")
				x.World.Scope(t)
				_, err := x.repo.PullRequests().Create(t.Context(), draft())
				wantKind(t, "create", err, fault.Unauthorized)
			},
		},
		{
			name: "a revoked credential is unauthorized", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Revoke} },
			run: func(t *testing.T, x *fixture) {
				x.World.Revoke(t)
				_, err := x.Forge.Open(t.Context(), x.Name)
				wantKind(t, "open", err, fault.Unauthorized)
				_, err = x.repo.PullRequests().Open(t.Context())
				wantKind(t, "list", err, fault.Unauthorized)
			},
		},
		{name: "optional seams are those that Features names", run: optional},
	}
}

func optional(t *testing.T, x *fixture) {
	features := x.repo.Features()
	if _, ok := x.Forge.(scm.Comparer); ok != features.Compare {
		t.Errorf("Comparer is implemented: %t; Features says %t", ok, features.Compare)
	}
	if _, ok := x.Forge.(scm.Releases); ok != features.Releases {
		t.Errorf("Releases is implemented: %t; Features says %t", ok, features.Releases)
	}
}
