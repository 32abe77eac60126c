package git_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/object"
	"promoter/internal/git/wire"
	"promoter/internal/secret"
)

// The requests to the origin of these tests.
const (
	getFetch  = "GET /origin.git/info/refs?service=git-upload-pack"
	postFetch = "POST /origin.git/git-upload-pack"
	getPush   = "GET /origin.git/info/refs?service=git-receive-pack"
	postPush  = "POST /origin.git/git-receive-pack"
)

// requested compares the requests since the last call.
func requested(t *testing.T, w *web, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, w.asked()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func listed(t *testing.T, m *git.Mirror) git.Refs {
	t.Helper()
	refs, err := m.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// The branches are listed once: what is fetched, deepened, and pushed afterwards needs no
// listing of its own. Only the first push asks what the server supports.
func TestList_onceForAllThatFollows(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(10))
	for i := range 5 {
		o.commit("main", files{"a.yaml": strings.Repeat("a\n", i+1)})
	}
	main := o.head("main")
	web := o.serve()
	dir := filepath.Join(t.TempDir(), "mirror")
	m := openedIn(t, dir, web.remote())
	listed(t, m)
	requested(t, web, getFetch)
	fetched(t, m, "main")
	requested(t, web, postFetch)
	fetched(t, m, "main")
	requested(t, web)
	if err := m.Deepen(t.Context(), "main", epoch); err != nil {
		t.Fatal(err)
	}
	requested(t, web, postFetch)
	push := func(content string, want ...string) {
		t.Helper()
		next := written(t, m, main, files{"a.yaml": content})
		err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: next}, git.Update{Branch: "new/" + strings.TrimSpace(content), New: next})
		if err != nil {
			t.Fatal(err)
		}
		requested(t, web, want...)
		main = next
		if found := fetched(t, m, "main"); found["main"] != main || o.head("main") != main {
			t.Errorf("fetched %v, and the origin is at %s, want %s", found, o.head("main"), main)
		}
		requested(t, web)
	}
	push("1\n", getPush, postPush)
	push("2\n", postPush)
	if err := m.Push(t.Context(), git.Update{Branch: "new/1", Old: fetched(t, m, "new/1")["new/1"]}); err != nil {
		t.Error(err)
	}
	requested(t, web, postPush)
	if found, err := m.Fetch(t.Context(), "new/1"); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	requested(t, web)
	o.run("", "fsck", "--strict")

	// The next process knows what the server supports, until the server changes.
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = openedIn(t, dir, web.remote())
	if refs := listed(t, m); refs.Branches["main"] != main || refs.Default != "main" {
		t.Errorf("%+v", refs)
	}
	fetched(t, m, "main")
	requested(t, web, getFetch)
	push("3\n", postPush)
	o.config("uploadpack.allowTipSHA1InWant", "true")
	listed(t, m)
	requested(t, web, getFetch)
	push("4\n", getPush, postPush)
	push("5\n", postPush)
}

// A branch that moves after the listing is fetched at a new one.
func TestList_outdated(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	base := o.commit("main", many(10))
	o.commit("main", files{"a.yaml": "1\n"})
	web := o.serve()
	m := opened(t, web.remote())
	listed(t, m)
	o.move("main", base)
	theirs := o.commit("main", files{"a.yaml": "theirs\n"})
	o.run("", "reflog", "expire", "--expire=now", "--all")
	o.run("", "gc", "-q", "--prune=now")
	web.asked()
	if found := fetched(t, m, "main"); found["main"] != theirs {
		t.Errorf("%v, want %s", found, theirs)
	}
	requested(t, web, postFetch, getFetch, postFetch)
	same(t, m, o, theirs)

	listed(t, m)
	o.move("main", base)
	o.commit("main", files{"a.yaml": "theirs again\n"})
	o.run("", "reflog", "expire", "--expire=now", "--all")
	o.run("", "gc", "-q", "--prune=now")
	if err := m.Deepen(t.Context(), "main", epoch); fault.KindOf(err) != fault.Conflict {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
}

// The server compares the commits of a push that was sent without asking where the
// branches are. The next attempt begins with a listing.
func TestPush_lostRaceAfterListing(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(5))
	web := o.serve()
	m := opened(t, web.remote())
	listed(t, m)
	fetched(t, m, "main")
	first := written(t, m, main, files{"a.yaml": "first\n"})
	if err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: first}); err != nil {
		t.Fatal(err)
	}
	theirs := o.commit("main", files{"a.yaml": "theirs\n"})
	web.asked()
	mine := written(t, m, first, files{"a.yaml": "mine\n"})
	other := git.Update{Branch: "other", New: mine}
	err := m.Push(t.Context(), other, git.Update{Branch: "main", Old: first, New: mine})
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "main is at "+theirs.String()) {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	requested(t, web, postPush, getFetch)
	if _, ok := o.find("other"); ok || o.head("main") != theirs {
		t.Errorf("half of a push was done: %v, main is at %s", ok, o.head("main"))
	}
	fetched(t, m, "main")
	requested(t, web, getFetch, postFetch)
	listed(t, m)
	again := written(t, m, theirs, files{"a.yaml": "mine\n"})
	if err := m.Push(t.Context(), git.Update{Branch: "main", Old: theirs, New: again}); err != nil {
		t.Error(err)
	}
	requested(t, web, getFetch, postPush)

	// What the listing contradicts is compared with where the branches are now.
	later := o.commit("main", files{"a.yaml": "later\n"})
	next := written(t, m, again, files{"a.yaml": "next\n"})
	if err := m.Push(t.Context(), git.Update{Branch: "main", Old: later, New: next}); err != nil {
		t.Error(err)
	}
	requested(t, web, getPush, postPush)
}

// A server that refuses a push without being asked first is asked, and so is one that
// did not respond.
func TestPush_resumedAndRefused(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(5))
	web := o.serve()
	dir := filepath.Join(t.TempDir(), "mirror")
	m := openedIn(t, dir, web.remote())
	push := func(content string) error {
		t.Helper()
		listed(t, m)
		fetched(t, m, "main")
		web.asked()
		next := written(t, m, main, files{"a.yaml": content})
		err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: next})
		if err == nil {
			main = next
		}
		return err
	}
	if err := push("1\n"); err != nil {
		t.Fatal(err)
	}
	asked := false
	web.instead(func(rw http.ResponseWriter, r *http.Request) bool {
		asked = asked || strings.HasSuffix(r.URL.RawQuery, "receive-pack")
		if r.Method == http.MethodGet || asked {
			return false
		}
		http.Error(rw, "no", http.StatusForbidden)
		return true
	})
	if err := push("2\n"); err != nil {
		t.Error(err)
	}
	requested(t, web, postPush, getPush, postPush)

	web.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	if err := push("3\n"); fault.KindOf(err) != fault.Temporary {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	requested(t, web, postPush, getFetch)
	web.instead(nil)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = openedIn(t, dir, web.remote())
	if err := push("3\n"); err != nil {
		t.Error(err)
	}
	requested(t, web, getPush, postPush)
	if o.head("main") != main {
		t.Errorf("main is at %s, want %s", o.head("main"), main)
	}
}

// Each request gets the credential as it is then, and only the host of the remote gets it.
func TestList_credentials(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(5))
	web, elsewhere := o.serve(), o.serve()
	number := 0
	remote := web.remote()
	remote.Credential = func(context.Context) (wire.Credential, error) {
		number++
		return wire.Credential{Bearer: secret.New(strings.Repeat("t", number))}, nil
	}
	var sent []string
	web.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		sent = append(sent, r.Header.Get("Authorization"))
		return false
	})
	m := opened(t, remote)
	listed(t, m)
	fetched(t, m, "main")
	for _, content := range []string{"1\n", "2\n"} {
		next := written(t, m, main, files{"a.yaml": content})
		if err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: next}); err != nil {
			t.Fatal(err)
		}
		main = next
	}
	want := []string{"Bearer t", "Bearer tt", "Bearer ttt", "Bearer ttt", "Bearer tttt"}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("credentials (-want +got):\n%s", diff)
	}

	elsewhere.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "" {
			t.Error("the credential left the host")
		}
		return false
	})
	web.instead(func(rw http.ResponseWriter, r *http.Request) bool {
		http.Redirect(rw, r, elsewhere.URL+r.URL.String(), http.StatusFound)
		return true
	})
	m = opened(t, remote)
	listed(t, m)
	fetched(t, m, "main")
	requested(t, elsewhere, getFetch, postFetch)
}

// A program sends its references to each session.
func TestList_programs(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	first := o.commit("main", many(5))
	for name, remote := range map[string]wire.Remote{"file": o.remoteFile(), "ssh": o.serveSSH().remote()} {
		m := opened(t, remote)
		refs := listed(t, m)
		if found := fetched(t, m, "main"); found["main"] != refs.Branches["main"] {
			t.Errorf("%s: %v", name, found)
		}
		var at object.ID
		for _, content := range []string{"1\n", "2\n"} {
			next := written(t, m, first, files{"a.yaml": name + content})
			if err := m.Push(t.Context(), git.Update{Branch: "of/" + name, Old: at, New: next}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			at = next
		}
		if err := m.Deepen(t.Context(), "main", epoch.Add(-time.Hour)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
