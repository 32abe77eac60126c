package object_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
)

// revList asks Git for the objects between, sorted.
func (r *repo) revList(t testing.TB, tip object.ID, have ...object.ID) []string {
	t.Helper()
	args := []string{"rev-list", "--objects", "--no-object-names", tip.String()}
	for _, id := range have {
		args = append(args, "^"+id.String())
	}
	ids := strings.Fields(gittest.Exec(t, r.dir, args...))
	slices.Sort(ids)
	return ids
}

func between(t testing.TB, r *repo, tip object.ID, have ...object.ID) []string {
	t.Helper()
	found, err := r.NewObjects(t.Context(), tip, have...)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, hash := range found {
		ids = append(ids, hash.String())
	}
	slices.Sort(ids)
	return ids
}

func TestBetween_asGitDoes(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	commits := merged(t, r) // the merge first, the root last
	tip := commits[0]
	for _, content := range []string{"first", "second", "third"} { // one commit for each environment
		tip = r.write(t, draft(tip, map[string]string{"apps/web/prod/kustomization.yaml": content, "new/" + content: content}))
	}
	tip = r.write(t, draft(tip, nil, "a/b"))
	for name, have := range map[string][]object.ID{
		"its base":                        {commits[0]},
		"an older commit":                 {commits[2]},
		"nothing":                         nil,
		"nothing that is here":            {{}, {1}},
		"two commits":                     {commits[2], commits[1]},
		"itself":                          {tip},
		"a commit that is not in history": {r.write(t, draft(commits[1], map[string]string{"else": "x"}))},
	} {
		known := slices.DeleteFunc(slices.Clone(have), func(id object.ID) bool { return id.IsZero() || id == object.ID{1} })
		if diff := cmp.Diff(r.revList(t, tip, known...), between(t, r, tip, have...)); diff != "" {
			t.Errorf("%s (-git +got):\n%s", name, diff)
		}
	}
}

// Edits of directories with many entries, at their beginning, their end, and in between.
func TestBetween_largeDirectories(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	files := map[string]string{}
	for n := range 400 {
		files[fmt.Sprintf("apps/service-%03d/web.yaml", n)] = fmt.Sprint(n)
		files[fmt.Sprintf("flat/%03d.yaml", n)] = fmt.Sprint(n)
	}
	base := r.write(t, draft(object.ID{}, files))
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // repeatable
	tip := base
	for round := range 30 {
		written, deleted := map[string]string{}, []string(nil)
		for range 1 + random.IntN(3) {
			n := random.IntN(403) - 1 // the first and the last ones are new
			written[fmt.Sprintf("apps/service-%03d/web.yaml", n)] = fmt.Sprint("round ", round)
			written[fmt.Sprintf("flat/%03d.yaml", 399-n)] = fmt.Sprint("round ", round)
		}
		if gone := fmt.Sprintf("flat/%03d.yaml", 300+round); written[gone] == "" && round%3 == 0 {
			deleted = append(deleted, gone)
		}
		parent := tip
		tip = r.write(t, draft(parent, written, deleted...))
		for _, have := range []object.ID{parent, base} {
			if diff := cmp.Diff(r.revList(t, tip, have), between(t, r, tip, have)); diff != "" {
				t.Fatalf("round %d (-git +got):\n%s", round, diff)
			}
		}
	}
}

// A clone of depth 1 does not have the parents of what the server has.
func TestBetween_shallow(t *testing.T) {
	t.Parallel()
	origin := newRepo(t)
	tip := merged(t, origin)[0]
	dir := filepath.Join(t.TempDir(), "clone")
	gittest.Exec(t, origin.dir, "clone", "-q", "--bare", "--depth", "1", "file://"+origin.dir, dir)
	r := openRepo(dir)
	landed := r.write(t, draft(tip, map[string]string{"a/b": "new"}))
	want := r.revList(t, landed, tip)
	if len(want) != 4 {
		t.Fatalf("git finds %v", want)
	}
	for name, have := range map[string][]object.ID{"with its tip": {tip}, "with nothing": nil, "with another tip": {{1}}} {
		if diff := cmp.Diff(want, between(t, r, landed, have...)); diff != "" {
			t.Errorf("%s (-git +got):\n%s", name, diff)
		}
	}
	if got := between(t, r, tip); len(got) != 0 {
		t.Errorf("what the server has: %v", got)
	}
}

// Committers' clocks are wrong: the walk may send more, and never less.
func TestBetween_skewedClocks(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	skew := []time.Duration{0, 1000 * time.Hour, -1000 * time.Hour, 1, 500 * time.Hour, -900 * time.Hour}
	var commits []object.ID
	var parent object.ID
	for i, by := range skew {
		d := draft(parent, map[string]string{"a": strings.Repeat("x", i+1)})
		d.Committer.When = d.Committer.When.Add(by)
		parent = r.write(t, d)
		commits = append(commits, parent)
	}
	for i, tip := range commits {
		for j, have := range commits {
			got, least := between(t, r, tip, have), r.revList(t, tip, have)
			for _, id := range least {
				if !slices.Contains(got, id) {
					t.Errorf("from %d to %d: %s is missing", j, i, id)
				}
			}
			if j <= i && len(got) != len(least) {
				t.Errorf("from %d to %d: %d objects, and %d by Git", j, i, len(got), len(least))
			}
		}
	}
}

func TestBetween_refused(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c := &gittest.Clone{T: t, Dir: r.dir, Storer: r.store}
	deep := object.ID(c.Commit(chain(c, 600)))
	broken := object.ID(c.Commit(plumbing.NewHash("1234567890123456789012345678901234567890")))
	for id, words := range map[object.ID]string{deep: "directories are nested deeper than 512", broken: "object not found", {1}: "object not found"} {
		if got, err := r.NewObjects(t.Context(), id); err == nil || !strings.Contains(err.Error(), words) || got != nil {
			t.Errorf("%s: %d objects, %v", id, len(got), err)
		}
	}
}
