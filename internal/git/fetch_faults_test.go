package git_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/object"
)

// A server that believes that we have what we lack leaves it out, and says nothing.
// The mirror is created again.
func TestFetch_incomplete(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(50))
	o.commit("main", files{"apps/a1/f1.yaml": "old: 1\n"})
	o.commit("main", files{"apps/a1/f1.yaml": "new: 1\n"})
	web := o.serve()
	m := opened(t, web.remote())
	fetched(t, m, "main")
	revert := o.commit("main", files{"apps/a1/f1.yaml": "old: 1\n"})
	o.repack()
	web.between(" deepen-since ", " deepen-never ", func(body []byte) []byte {
		for {
			at := bytes.Index(body, []byte("0035shallow "))
			if at < 0 {
				return body
			}
			body = append(body[:at:at], body[at+0x35:]...)
		}
	})
	web.asked()
	if found := fetched(t, m, "main"); found["main"] != revert {
		t.Errorf("found %v", found)
	}
	same(t, m, o, revert)
	if asked := web.asked(); len(asked) != 4 {
		t.Errorf("%d requests for a fetch that is made twice: %v", len(asked), asked)
	}
}

// breaking is an answer that ends with the connection after so many bytes.
type breaking struct {
	http.ResponseWriter
	left int
}

// Write aborts the connection when there is nothing left.
func (b *breaking) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return b.ResponseWriter.Write(p)
}

// A pack that breaks off is no pack: nothing of it stays, and the next fetch is as
// good as if there had been none.
func TestFetch_brokenOff(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	first := o.commit("main", files{"a.yaml": "a\n"})
	web := o.serve()
	m := opened(t, web.remote())
	fetched(t, m, "main")
	change := many(2000)
	next := o.commit("main", change)
	for _, left := range []int{0, 100, 20_000} {
		web.instead(func(rw http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				web.backend.ServeHTTP(&breaking{ResponseWriter: rw, left: left}, r)
				return true
			}
			return false
		})
		if _, err := m.Fetch(t.Context(), "main"); fault.KindOf(err) != fault.Temporary {
			t.Errorf("after %d bytes: %v: %v", left, fault.KindOf(err), err)
		}
		if id, _ := m.Have("main"); id != first {
			t.Errorf("have %s", id)
		}
	}
	web.instead(nil)
	fetched(t, m, "main")
	same(t, m, o, next)
	if got := history(t, m, next); len(got) != 2 {
		t.Errorf("history: %v", got)
	}
}

// between proxies between client and server: it replaces what the server offers,
// with as many bytes, and changes what the client asks for.
func (w *web) between(available, by string, ask func([]byte) []byte) {
	w.instead(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			recorded := httptest.NewRecorder()
			w.backend.ServeHTTP(recorded, r)
			rw.Header().Set("Content-Type", recorded.Header().Get("Content-Type"))
			_, _ = io.WriteString(rw, strings.Replace(recorded.Body.String(), available, by, 1))
			return true
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return false
		}
		body = ask(body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return false
	})
}

// A server that never sends everything is not asked for ever.
func TestFetch_neverComplete(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	head := o.commit("main", many(10))
	web := o.serve()
	web.between(" filter ", " flitre ", func(body []byte) []byte {
		first, rest, _ := bytes.Cut(body[4:], []byte("\n")) // the first want, with what we can do
		first = fmt.Appendf(nil, "%04x%s filter\n", 4+len(first)+len(" filter\n"), first)
		return append(first, bytes.Replace(rest, []byte("0000"), []byte("0014filter blob:none0000"), 1)...)
	})
	m := opened(t, web.remote(), func(o *git.Options) { o.Attempts = 3 })
	_, err := m.Fetch(t.Context(), "main")
	if fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "objects are missing from what the server sent") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	if asked := web.asked(); len(asked) != 6 {
		t.Errorf("%d requests for three attempts: %v", len(asked), asked)
	}
	if id, ok := m.Have("main"); ok {
		t.Errorf("have %s", id)
	}
	web.instead(nil)
	fetched(t, m, "main")
	same(t, m, o, head)
}

// ending is a context that ends after a number of calls of Err.
type ending struct {
	context.Context //nolint:containedctx // it is one
	left            atomic.Int64
}

// Err reports whether the context ended.
func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return e.Context.Err()
}

// A context may end anywhere in a fetch. The mirror stays what it was, nothing is
// left behind, and the next fetch goes on from there.
func TestFetch_ended(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	first := o.commit("main", many(30))
	dir := filepath.Join(t.TempDir(), "mirror")
	m := openedIn(t, dir, o.serve().remote())
	fetched(t, m, "main")
	next := o.commit("main", files{"apps/a1/f1.yaml": "new: 1\n", "apps/b/c/d.yaml": "d\n"})
	failed := 0
	for checks := int64(0); ; checks++ {
		ctx := &ending{Context: t.Context()}
		ctx.left.Store(checks)
		_, err := m.Fetch(ctx, "main")
		if err == nil {
			break
		}
		failed++
		if fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), context.Canceled.Error()) {
			t.Errorf("after %d checks: %v: %v", checks, fault.KindOf(err), err)
		}
		if id, _ := m.Have("main"); id != first {
			t.Fatalf("after %d checks, the mirror has %s", checks, id)
		}
		nothingLeft(t, dir)
	}
	if failed < 3 {
		t.Errorf("the context was checked %d times", failed)
	}
	same(t, m, o, next)
	if got := history(t, m, next); len(got) != 2 {
		t.Errorf("history: %v, want what was here too", got)
	}
}

// nothingLeft looks for files that are only there while a fetch goes on.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	for _, pattern := range []string{"incoming-*", "state.json.*", "objects/pack/tmp_*"} {
		if left, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// A server may name any default branch, and end the history as often as it likes.
func TestFetch_limitsResponseBeforePack(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(10))
	web := o.serve()
	m := opened(t, web.remote())
	web.between("HEAD:refs/heads/main", "HEAD:refs/heads/\x1b[2J", func(body []byte) []byte { return body })
	if refs, err := m.List(t.Context()); err != nil || refs.Default != "" {
		t.Errorf("the default branch %q, %v", refs.Default, err)
	}
	ends := strings.Repeat("0035shallow "+strings.Repeat("a", 40)+"\n", 1000)
	web.instead(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		rw.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		for range 500 {
			if _, err := rw.Write([]byte(ends)); err != nil {
				break
			}
		}
		return true
	})
	_, err := m.Fetch(t.Context(), "main")
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "the server's response is larger than allowed") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	if _, ok := m.Have("main"); ok {
		t.Error("have a branch")
	}
}

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

			// One more, in a later fetch: checked twice, then recorded.
			next := o.commit("main", files{"more.yaml": strings.Repeat("m", 2000), "a.yaml": "a: 2\n"})
			o.repack()
			fetched(t, m, "main")
			sizes(t, m, next, map[string]bool{"a.yaml": false, "exact.yaml": false, "big.yaml": true, "more.yaml": true})
			if got := history(t, m, next); !slices.Equal(got, []object.ID{next, head}) {
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
func sizes(t *testing.T, m *git.Mirror, id object.ID, want map[string]bool) {
	t.Helper()
	tree, err := m.Objects.Tree(id)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for entry, err := range tree.Files() {
		if err != nil {
			t.Fatal(err)
		}
		_, err := entry.Read(1 << 20)
		if err != nil && !errors.Is(err, object.ErrTooLarge) {
			t.Error(err)
		}
		if m.TooLarge(entry.ID) != errors.Is(err, object.ErrTooLarge) {
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
		"a pack":    {func(o *git.Options) { o.PackLimit = 100 }, "the commits of main need more than 1 KiB, the limit of one fetch (sizes.pack in the server file)"},
		"an object": {func(o *git.Options) { o.ObjectLimit = 4999 }, "the repository contains an object of 5000 bytes, over the limit of 4999"},
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
