package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"promoter/internal/benchtree"
)

// registry is a registry on loopback that has every image at the tree's version,
// and one image at newer ones. What it says is as a real one says it, so that the
// program works as always. All other paths are those of Git repositories.
type registry struct {
	host   string
	image  string // the repository with newer versions
	newest atomic.Int64
	git    http.Handler
	server *http.Server
	served chan error
}

func startRegistry(image, repositories string) (*registry, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the process
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	r := &registry{host: listener.Addr().String(), image: strings.TrimPrefix(image, benchtree.Registry+"/"), served: make(chan error, 1)}
	r.git = &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: repositories, Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + repositories, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=bench"},
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { r.served <- r.server.Serve(listener) }()
	return r, nil
}

func (r *registry) stop() error {
	err := r.server.Close()
	if served := <-r.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// release adds a version of the one image.
func (r *registry) release() { r.newest.Add(1) }

func (r *registry) released() int { return int(r.newest.Load()) }

// ServeHTTP answers as the distribution specification says: tags, manifests and
// their configs.
func (r *registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	rest, ofRegistry := strings.CutPrefix(request.URL.Path, "/v2/")
	if !ofRegistry {
		r.git.ServeHTTP(w, request)
		return
	}
	switch kind := path.Base(path.Dir(rest)); {
	case rest == "":
	case strings.HasSuffix(rest, "/tags/list"):
		name := strings.TrimSuffix(rest, "/tags/list")
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"name":%q,"tags":[%s]}`, name, `"`+strings.Join(r.tags(name), `","`)+`"`)
	case kind == "manifests":
		manifest := r.manifest(path.Base(rest))
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Content-Length", fmt.Sprint(len(manifest)))
		w.Header().Set("Docker-Content-Digest", digestOf(manifest))
		if request.Method != http.MethodHead {
			_, _ = w.Write([]byte(manifest))
		}
	case kind == "blobs":
		_, _ = w.Write([]byte(imageConfig))
	default:
		http.NotFound(w, request)
	}
}

// tags are those of a repository.
func (r *registry) tags(name string) []string {
	tags := []string{benchtree.Tag}
	if name == r.image {
		for i := range r.released() {
			tags = append(tags, fmt.Sprintf("2.0.%d", i))
		}
	}
	return tags
}

// manifest returns the manifest of a tag or a digest.
func (r *registry) manifest(reference string) string {
	for _, tag := range r.tags(r.image) {
		if manifest := manifestOf(tag); digestOf(manifest) == reference {
			return manifest
		}
	}
	return manifestOf(reference)
}

// imageConfig is the config of every image.
const imageConfig = `{"architecture":"amd64","os":"linux","created":"2026-01-02T03:04:05Z","rootfs":{"type":"layers","diff_ids":[]},"config":{}}`

// manifestOf is the manifest of a tag: no two tags have the same one.
func manifestOf(tag string) string {
	return fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",`+
		`"config":{"mediaType":"application/vnd.oci.image.config.v1+json","size":%d,"digest":%q},"layers":[],"annotations":{"tag":%q}}`,
		len(imageConfig), digestOf(imageConfig), tag)
}

func digestOf(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }
