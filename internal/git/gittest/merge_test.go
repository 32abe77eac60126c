package gittest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/git/gittest"
)

var ann = gittest.Author{Name: "ann", Email: "ann@example.com", At: time.Unix(1_700_000_000, 0)}

// fork is a repository whose branch topic has two commits that main has not, and
// whose main has one that topic has not.
func fork(t *testing.T) *gittest.Repository {
	t.Helper()
	r := gittest.New(t).Init("web", gittest.Setup{})
	r.Add("main", "Begin", ann, map[string]string{"a": "1\n"})
	r.Add("topic", "One", ann, map[string]string{"a": "2\n"})
	r.Add("topic", "Two", ann, map[string]string{"b": "1\n"})
	r.Add("main", "Other", ann, map[string]string{"c": "1\n"})
	return r
}

func TestLand(t *testing.T) {
	t.Parallel()
	r := fork(t)
	base, head := r.Head("main"), r.Head("topic")
	forge := gittest.Author{Name: "forge", Email: "forge@example.com", At: time.Unix(1_700_000_100, 0)}
	landing := gittest.Landing{Base: base, Head: head, Message: "Land", By: ann, Committer: forge}
	for name, way := range map[string]struct {
		land     func(gittest.Landing) (string, bool)
		parents  int
		messages []string // beyond the base, newest first
	}{
		"merge":  {r.MergeCommit, 2, []string{"Land", "Two", "One"}},
		"squash": {r.Squash, 1, []string{"Land"}},
		"rebase": {r.Rebase, 1, []string{"Two", "One"}},
	} {
		commit, clean := way.land(landing)
		if !clean {
			t.Fatalf("%s conflicts", name)
		}
		made := r.ReadCommit(commit)
		if len(made.Parents) != way.parents || made.Parents[0] != base && name != "rebase" || made.Author.Name != "ann" || made.Committer.Name != "forge" {
			t.Errorf("%s made %+v", name, made)
		}
		got := strings.Split(r.Run("log", "--topo-order", "--format=%s", base+".."+commit), "\n")
		if diff := cmp.Diff(way.messages, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if files := r.Run("ls-tree", "--name-only", commit); files != "a\nb\nc" {
			t.Errorf("%s has the files %q", name, files)
		}
	}
	if r.Head("main") != base {
		t.Error("landing moved the branch")
	}
}

func TestLand_conflict(t *testing.T) {
	t.Parallel()
	r := fork(t)
	r.Add("main", "Mine", ann, map[string]string{"a": "3\n"})
	landing := gittest.Landing{Base: r.Head("main"), Head: r.Head("topic"), By: ann, Committer: ann}
	for name, land := range map[string]func(gittest.Landing) (string, bool){"merge": r.MergeCommit, "squash": r.Squash, "rebase": r.Rebase} {
		if commit, clean := land(landing); clean || commit != "" {
			t.Errorf("%s made %s", name, commit)
		}
	}
}

func TestRepository(t *testing.T) {
	t.Parallel()
	git := gittest.New(t)
	r, other := git.Init("web", gittest.Setup{}), git.Init("other", gittest.Setup{})
	first := r.Add("main", "Begin\n\nA: b\n", ann, map[string]string{"a": "1\n"})
	second := r.Add("main", "Next", ann, map[string]string{"b": "1\n"})
	if r.Message(first) != "Begin\n\nA: b" || !r.Ancestor(first, second) || r.Ancestor(second, first) {
		t.Error("the history is wrong")
	}
	if got := r.Between(first, second); !cmp.Equal(got, []string{second}) {
		t.Errorf("between: %q", got)
	}
	other.Take(r, "main", "refs/pull/1/head")
	other.Update("main", second, "")
	if got := other.Heads(); !cmp.Equal(got, map[string]string{"main": second}) {
		t.Errorf("heads: %q", got)
	}
	other.Delete("main")
	if _, found := other.Commit("main"); found || other.Head("main") != "" {
		t.Error("the branch is still there")
	}
	if id, found := other.Commit(first[:12]); !found || id != first {
		t.Errorf("found %q", id)
	}
}
