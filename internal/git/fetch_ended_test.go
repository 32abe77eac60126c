package git_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"promoter/internal/fault"
)

// ending is a context that is found to have ended after so many looks.
type ending struct {
	context.Context //nolint:containedctx // it is one
	left            atomic.Int64
}

// Err says that the context ended.
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
	for looks := int64(0); ; looks++ {
		ctx := &ending{Context: t.Context()}
		ctx.left.Store(looks)
		_, err := m.Fetch(ctx, "main")
		if err == nil {
			break
		}
		failed++
		if fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), context.Canceled.Error()) {
			t.Errorf("after %d looks: %v: %v", looks, fault.KindOf(err), err)
		}
		if id, _ := m.Have("main"); id != first {
			t.Fatalf("after %d looks, the mirror has %s", looks, id)
		}
		nothingLeft(t, dir)
	}
	if failed < 3 {
		t.Errorf("the context was looked at %d times", failed)
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
func TestFetch_hostileWordsBeforeThePack(t *testing.T) {
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
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "the server's answer is larger than allowed") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	if _, ok := m.Have("main"); ok {
		t.Error("have a branch")
	}
}
