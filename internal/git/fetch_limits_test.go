package git_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git"
)

// A file over the limit stays on the server, and everything else goes on.
func TestFetch_tooLarge(t *testing.T) {
	t.Parallel()
	small := func(o *git.Options) { o.BlobLimit = 1000 }
	for _, name := range []string{"file", "http"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			o.commit("main", files{"a.yaml": "a\n", "exact.yaml": strings.Repeat("e", 1000), "big.yaml": strings.Repeat("b", 1001)})
			dir := filepath.Join(t.TempDir(), "mirror")
			remote := ways(o)[name]
			m := openedIn(t, dir, remote, small)
			head := fetched(t, m, "main")["main"]
			sizes(t, m, head, map[string]bool{"a.yaml": false, "exact.yaml": false, "big.yaml": true})

			// One more, in a later fetch: looked at twice, then remembered.
			next := o.commit("main", files{"more.yaml": strings.Repeat("m", 2000), "a.yaml": "a: 2\n"})
			o.repack()
			fetched(t, m, "main")
			sizes(t, m, next, map[string]bool{"a.yaml": false, "exact.yaml": false, "big.yaml": true, "more.yaml": true})
			if got := history(t, m, next); !slices.Equal(got, []git.ID{next, head}) {
				t.Errorf("history: %v", got)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			m = openedIn(t, dir, remote, small)
			sizes(t, m, next, map[string]bool{"a.yaml": false, "exact.yaml": false, "big.yaml": true, "more.yaml": true})
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}

			// Another limit is another mirror.
			m = openedIn(t, dir, remote, func(o *git.Options) { o.BlobLimit = 5000 })
			fetched(t, m, "main")
			same(t, m, o, next)
		})
	}
}

// sizes reads every file and compares which ones are too large.
func sizes(t *testing.T, m *git.Mirror, id git.ID, want map[string]bool) {
	t.Helper()
	tree, err := m.Tree(id)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for entry, err := range tree.Files() {
		if err != nil {
			t.Fatal(err)
		}
		_, err := entry.Read(1 << 20)
		if err != nil && !errors.Is(err, git.ErrTooLarge) {
			t.Error(err)
		}
		if m.TooLarge(entry.ID) != errors.Is(err, git.ErrTooLarge) {
			t.Errorf("%s: TooLarge says %v, Read %v", entry.Path, m.TooLarge(entry.ID), err)
		}
		got[entry.Path] = m.TooLarge(entry.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("too large (-want +got):\n%s", diff)
	}
}

// A server that cannot filter sends everything, up to the limits.
func TestFetch_withoutFilter(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.config("uploadpack.allowFilter", "false")
	head := o.commit("main", files{"a.yaml": "a\n", "big.yaml": strings.Repeat("b", 5000)})
	for name, remote := range ways(o) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := opened(t, remote, func(o *git.Options) { o.BlobLimit = 1000 })
			fetched(t, m, "main")
			same(t, m, o, head)
		})
	}
}

// What is over the other limits fails the fetch, and nothing of it stays.
func TestFetch_limits(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.config("uploadpack.allowFilter", "false")
	o.commit("main", files{"a.yaml": "a\n", "big.yaml": strings.Repeat("b", 5000)})
	remotes := ways(o)
	for name, test := range map[string]struct {
		change func(*git.Options)
		want   string
	}{
		"a pack":    {func(o *git.Options) { o.PackLimit = 100 }, "the pack is larger than allowed"},
		"an object": {func(o *git.Options) { o.ObjectLimit = 4999 }, "the repository holds an object of 5000 bytes, over the limit of 4999"},
	} {
		for way, remote := range remotes {
			t.Run(name+" over "+way, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "mirror")
				m := openedIn(t, dir, remote, test.change)
				_, err := m.Fetch(t.Context(), "main")
				if fault.KindOf(err) != fault.Invalid || !strings.HasSuffix(err.Error(), test.want) {
					t.Errorf("%v: %v", fault.KindOf(err), err)
				}
				left, err := filepath.Glob(filepath.Join(dir, "incoming-*"))
				if err != nil || len(left) != 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			})
		}
	}
}
