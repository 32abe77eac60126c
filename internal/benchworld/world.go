// Package benchworld is what a program that is measured asks: a registry in which every
// image exists, and a Git server, both at one address on loopback. What they say is as
// real ones say it, so that the program works as always.
//
// It is support code for benchmarks; nothing of it is shipped.
package benchworld

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// World is the registry and the Git server.
type World struct {
	Host string // and port, of both

	folder string // of the repositories
	git    http.Handler
	busy   atomic.Int64 // nanoseconds in which Git's server worked
	server *httptest.Server

	mu     sync.Mutex
	newest map[string]int // version of an image; not there: 0
	asked  map[string]int
	heads  map[string]int // HEADs of manifests, by image
}

// Start serves the repositories below a folder, and the registry. Who starts it closes it.
func Start(folder string) (*World, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("serve repositories: %w", err)
	}
	w := With(&cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: folder, Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=bench"},
	})
	w.folder = folder
	return w, nil
}

// With serves the registry, and repositories with another Git server. Who starts it closes it.
func With(git http.Handler) *World {
	w := &World{git: git, newest: map[string]int{}, asked: map[string]int{}, heads: map[string]int{}}
	w.server = httptest.NewServer(w)
	w.Host = strings.TrimPrefix(w.server.URL, "http://")
	return w
}

// Close ends it.
func (w *World) Close() { w.server.Close() }

// Release adds a version of an image and moves its tag there.
func (w *World) Release(image string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.newest[image]++
}

// Released is the newest version of an image. Versions count from 0.
func (w *World) Released(image string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.newest[image]
}

// GitTime is how long the Git server has worked so far.
func (w *World) GitTime() time.Duration { return time.Duration(w.busy.Load()) }

// Asked returns what the registry was asked since the last time: how often, by the
// method and what was asked for, as in "HEAD manifests".
func (w *World) Asked() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = map[string]int{}
	return asked
}

// Heads returns how often each image was asked for the manifest of a tag or digest by HEAD, since
// the last time.
func (w *World) Heads() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	heads := w.heads
	w.heads = map[string]int{}
	return heads
}

// ServeHTTP answers as the distribution specification says: tags, manifests and their
// configs. All other paths are those of repositories.
func (w *World) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	rest, ofRegistry := strings.CutPrefix(r.URL.Path, "/v2/")
	if !ofRegistry {
		begin := time.Now() //nolint:forbidigo // it measures
		w.git.ServeHTTP(out, r)
		w.busy.Add(int64(time.Since(begin))) //nolint:forbidigo // it measures
		return
	}
	kind, image := path.Base(path.Dir(rest)), path.Dir(path.Dir(rest)) // IMAGE/tags/list, IMAGE/manifests/REFERENCE
	w.mu.Lock()
	w.asked[r.Method+" "+kind]++
	if r.Method == http.MethodHead {
		w.heads[image]++
	}
	newest := w.newest[image]
	w.mu.Unlock()
	switch {
	case rest == "":
	case strings.HasSuffix(rest, "/tags/list"):
		out.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(out, `{"name":%q,"tags":["%s"]}`, image, strings.Join(tagsUpTo(newest), `","`))
	case kind == "manifests":
		manifest := manifestOf(image, versionOf(image, path.Base(rest), newest))
		out.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		out.Header().Set("Content-Length", fmt.Sprint(len(manifest)))
		out.Header().Set("Docker-Content-Digest", digestOf(manifest))
		if r.Method != http.MethodHead {
			_, _ = io.WriteString(out, manifest)
		}
	case kind == "blobs":
		_, _ = io.WriteString(out, imageConfig)
	default:
		http.NotFound(out, r)
	}
}
