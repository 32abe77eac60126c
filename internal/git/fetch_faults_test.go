package git_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/git"
)

// A server that believes that we have what we lack leaves it out, and says nothing.
// The mirror is made anew then.
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

// between stands between client and server: it replaces what the server offers,
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
