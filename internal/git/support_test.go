package git_test

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/git"
	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
	"promoter/internal/git/wire"
)

// epoch is when the history of every origin in these tests begins.
var epoch = time.Unix(1_700_000_000, 0).UTC()

// origin is a bare repository on disk that Git itself serves.
type origin struct {
	t     testing.TB
	dir   string
	hours int // one for each commit so far: no two have the same time
}

func newOrigin(t testing.TB) *origin {
	t.Helper()
	o := &origin{t: t, dir: filepath.Join(t.TempDir(), "origin.git")}
	gittest.Exec(t, ".", "init", "-q", "--bare", "-b", "main", "--template=", o.dir)
	settings, err := os.OpenFile(filepath.Join(o.dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = settings.Close() }()
	if _, err := settings.WriteString(originConfig); err != nil {
		t.Fatal(err)
	}
	return o
}

// originConfig lets nothing tidy up in the background, where it would outlive a test.
const originConfig = `[uploadpack]
	allowFilter = true
[http]
	receivepack = true
[receive]
	autogc = false
[gc]
	auto = 0
`

func (o *origin) config(key, value string) { gittest.Exec(o.t, o.dir, "config", key, value) }

// files is what a commit changes: paths and their content; empty removes one.
type files map[string]string

// commit adds a commit to a branch, an hour after the last one.
func (o *origin) commit(branch string, change files) object.ID {
	o.t.Helper()
	o.hours++
	return o.commitAt(branch, epoch.Add(time.Duration(o.hours)*time.Hour), change)
}

// merge adds a commit that merges others, an hour after the last one.
func (o *origin) merge(branch string, change files, others ...object.ID) object.ID {
	o.t.Helper()
	o.hours++
	return o.commitAt(branch, epoch.Add(time.Duration(o.hours)*time.Hour), change, others...)
}

func (o *origin) commitAt(branch string, at time.Time, change files, merged ...object.ID) object.ID {
	o.t.Helper()
	var stream strings.Builder
	fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter t <t@example.com> %d +0000\ndata 1\nm\n", branch, at.Unix())
	if _, ok := o.find(branch); ok {
		fmt.Fprintf(&stream, "from refs/heads/%s^0\n", branch)
	}
	for _, id := range merged {
		fmt.Fprintf(&stream, "merge %s\n", id)
	}
	for _, name := range slices.Sorted(maps.Keys(change)) {
		if content := change[name]; content == "" {
			fmt.Fprintf(&stream, "D %s\n", name)
		} else {
			fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", name, len(content), content)
		}
	}
	o.run(stream.String(), "fast-import", "--quiet", "--force")
	return o.head(branch)
}

// run runs Git with something to read.
func (o *origin) run(input string, args ...string) string {
	o.t.Helper()
	return strings.TrimSpace(gittest.ExecWithInput(o.t, o.dir, input, args...))
}

func (o *origin) find(branch string) (object.ID, bool) {
	o.t.Helper()
	text := o.run("", "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch)
	if text == "" {
		return object.ID{}, false
	}
	id, err := object.ParseID(text)
	if err != nil {
		o.t.Fatal(err)
	}
	return id, true
}

func (o *origin) head(branch string) object.ID {
	o.t.Helper()
	id, ok := o.find(branch)
	if !ok {
		o.t.Fatalf("the origin has no branch %s", branch)
	}
	return id
}

// move forces a branch to a commit; the zero one deletes it.
func (o *origin) move(branch string, to object.ID) {
	o.t.Helper()
	if to.IsZero() {
		o.run("", "update-ref", "-d", "refs/heads/"+branch)
		return
	}
	o.run("", "update-ref", "refs/heads/"+branch, to.String())
}

// repack does what a server does at night: one pack, with bitmaps.
func (o *origin) repack() { o.run("", "repack", "-qadb") }

// hook installs a hook that runs a shell script. No process begins meanwhile: it
// would hold the file open for a moment, and Linux runs none that is open for writing.
func (o *origin) hook(name, script string) {
	o.t.Helper()
	hooks := filepath.Join(o.dir, "hooks")
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	err := os.MkdirAll(hooks, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\n"+script), 0o700) //nolint:gosec // a program
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// contents reads every file of a commit as the origin has it.
func (o *origin) contents(id object.ID) map[string]string {
	o.t.Helper()
	all := map[string]string{}
	archive := tar.NewReader(strings.NewReader(gittest.Exec(o.t, o.dir, "archive", "--format=tar", id.String())))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		content, reading := io.ReadAll(archive)
		if err = errors.Join(err, reading); err != nil {
			o.t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			all[header.Name] = string(content)
		}
	}
}

// remoteFile reaches the origin on disk.
func (o *origin) remoteFile() wire.Remote {
	return wire.Remote{URL: "file://" + o.dir, AllowFile: true, Now: time.Now}
}

// web serves an origin over smart HTTP with Git's own program.
type web struct {
	*httptest.Server
	backend http.Handler

	mu       sync.Mutex
	requests []string                                      // method, path and query
	answer   func(http.ResponseWriter, *http.Request) bool // instead of Git's own, if it returns true
}

func (o *origin) serve() *web {
	o.t.Helper()
	folder := strings.TrimSpace(gittest.Exec(o.t, ".", "--exec-path"))
	w := &web{backend: &cgi.Handler{
		Path: filepath.Join(folder, "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + filepath.Dir(o.dir), "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		},
		Stderr: io.Discard,
	}}
	w.Server = httptest.NewServer(w)
	o.t.Cleanup(w.Close)
	return w
}

// ServeHTTP notes the request and answers it.
func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.requests = append(w.requests, r.Method+" "+r.URL.String())
	answer := w.answer
	w.mu.Unlock()
	if answer == nil || !answer(rw, r) {
		w.backend.ServeHTTP(rw, r)
	}
}

// instead answers requests in place of Git if f returns true.
func (w *web) instead(f func(http.ResponseWriter, *http.Request) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = f
}

// asked returns the requests since the last call.
func (w *web) asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.requests
	w.requests = nil
	return asked
}

func (w *web) remote() wire.Remote {
	return wire.Remote{URL: w.URL + "/origin.git", HTTP: w.Client(), Now: func() time.Time { return epoch }}
}

// opened opens a mirror in a folder of its own.
func opened(t testing.TB, remote wire.Remote, change ...func(*git.Options)) *git.Mirror {
	t.Helper()
	return openedIn(t, filepath.Join(t.TempDir(), "mirror"), remote, change...)
}

func openedIn(t testing.TB, dir string, remote wire.Remote, change ...func(*git.Options)) *git.Mirror {
	t.Helper()
	options := git.Options{Remote: remote}
	for _, f := range change {
		f(&options)
	}
	m, err := git.Open(t.Context(), dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() }) // a test may have closed it
	return m
}

// fetched fetches and expects every branch to be there.
func fetched(t testing.TB, m *git.Mirror, branches ...string) map[string]object.ID {
	t.Helper()
	found, err := m.Fetch(t.Context(), branches...)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(branches) {
		t.Fatalf("found %v of %v", found, branches)
	}
	return found
}

// closedAddress is an address without a listener. A port that was free before may be in use
// now; this one is never assigned to a listener that asks for any port.
const closedAddress = "127.0.0.1:1"

func contextWith(t testing.TB, timeout time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), timeout)
}

// twoWays are the transports of tests about history.
func twoWays() map[string]bool { return map[string]bool{"file": true, "http": true} }

// hour is when the n-th commit of an origin is made.
func hour(n int) time.Time { return epoch.Add(time.Duration(n) * time.Hour) }

// ways are the transports of most tests.
func ways(o *origin) map[string]wire.Remote {
	return map[string]wire.Remote{"file": o.remoteFile(), "http": o.serve().remote()}
}

func many(n int) files {
	all := files{}
	for i := range n {
		all[fmt.Sprintf("apps/a%d/f%d.yaml", i%10, i)] = fmt.Sprintf("file: %d\n", i)
	}
	return all
}

// contents reads every file of a commit.
func contents(t testing.TB, m *git.Mirror, id object.ID) map[string]string {
	t.Helper()
	tree, err := m.Objects.Tree(id)
	if err != nil {
		t.Fatal(err)
	}
	all, err := list(tree)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// same compares a commit in the mirror with the origin's, file by file.
func same(t testing.TB, m *git.Mirror, o *origin, id object.ID) {
	t.Helper()
	want, got := o.contents(id), contents(t, m, id)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", id, diff)
	}
}

// history lists the first-parent history that a mirror has of a commit.
func history(t testing.TB, m *git.Mirror, id object.ID) []object.ID {
	t.Helper()
	var ids []object.ID
	for commit, err := range m.Objects.History(id) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, commit.ID)
	}
	return ids
}

// objectsIn counts the objects in the packs of a mirror's folder.
func objectsIn(t testing.TB, dir string) int {
	t.Helper()
	indexes, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.idx"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range indexes {
		count += strings.Count(gittest.Exec(t, ".", "verify-pack", "-v", name), "\n")
		count -= strings.Count(gittest.Exec(t, ".", "verify-pack", "-s", name), "\n") + 1
	}
	return count
}

// list reads a whole tree: contents by path, without submodules.
func list(tree *object.Tree) (map[string]string, error) {
	found := map[string]string{}
	for e, err := range tree.Files() {
		if err != nil {
			return found, err
		}
		content, err := e.Read(1 << 20)
		if err != nil {
			return found, err
		}
		found[e.Path] = string(content)
	}
	return found, nil
}
