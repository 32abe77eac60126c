package load

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"promoter/internal/benchtree"
)

// world is a registry in which every image exists, with one tag that moves, and a Git
// server beside it at the same address.
type world struct {
	b      *testing.B
	host   string
	folder string // of the repositories
	git    http.Handler

	mu      sync.Mutex
	version map[string]int // of an image: how often its tag moved
	asked   map[string]int // by method and what was asked for
}

// movingTag is a tag of all images that stands at the newest version. Each version has
// a tag of its own too.
const movingTag = "released"

func newWorld(b *testing.B) *world {
	b.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		b.Skip("no git here")
	}
	w := &world{b: b, folder: b.TempDir(), version: map[string]int{}, asked: map[string]int{}}
	w.git = &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: w.folder, Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + w.folder, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=load"},
	}
	server := httptest.NewServer(w)
	b.Cleanup(server.Close)
	w.host = strings.TrimPrefix(server.URL, "http://")
	return w
}

// ServeHTTP answers as the distribution specification says.
func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	rest, ofRegistry := strings.CutPrefix(r.URL.Path, "/v2/")
	if !ofRegistry {
		w.git.ServeHTTP(out, r)
		return
	}
	kind, name := path.Base(path.Dir(rest)), path.Dir(path.Dir(rest)) // NAME/tags/list, NAME/manifests/REFERENCE
	w.mu.Lock()
	w.asked[r.Method+" "+kind]++
	newest := w.version[name]
	w.mu.Unlock()
	switch {
	case rest == "":
	case strings.HasSuffix(rest, "/tags/list"):
		_, _ = fmt.Fprintf(out, `{"name":%q,"tags":["%s"]}`, name, strings.Join(tagsUpTo(newest), `","`))
	case kind == "manifests":
		manifest := manifestOf(name, versionOf(name, path.Base(rest), newest))
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

// tagOf is that of one version. The first is the one in the tree of all benchmarks.
func tagOf(version int) string {
	if version == 0 {
		return benchtree.Tag
	}
	return fmt.Sprintf("2.0.%d", version)
}

func tagsUpTo(newest int) []string {
	tags := []string{movingTag}
	for version := range newest + 1 {
		tags = append(tags, tagOf(version))
	}
	return tags
}

// versionOf finds what a tag or a digest stands for.
func versionOf(name, reference string, newest int) int {
	for version := range newest {
		if reference == tagOf(version) || reference == digestOf(manifestOf(name, version)) {
			return version
		}
	}
	return newest
}

// release moves the tag of an image.
func (w *world) release(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version[name]++
}

// counted returns what was asked since the last time.
func (w *world) counted() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = map[string]int{}
	return asked
}

const imageConfig = `{"architecture":"amd64","os":"linux","created":"2026-01-02T03:04:05Z","rootfs":{"type":"layers","diff_ids":[]},"config":{}}`

// manifestOf differs for every image and version.
func manifestOf(name string, version int) string {
	return fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",`+
		`"config":{"mediaType":"application/vnd.oci.image.config.v1+json","size":%d,"digest":%q},"layers":[],"annotations":{"name":%q,"version":"%d"}}`,
		len(imageConfig), digestOf(imageConfig), name, version)
}

func digestOf(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

// repository makes one with these files and returns its name.
func (w *world) repository(name string, files map[string]string) string {
	w.b.Helper()
	origin := filepath.Join(w.folder, "load", name+".git")
	w.run("", "", "init", "-q", "--bare", "-b", "main", "--template=", origin)
	var stream bytes.Buffer
	fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter load <load@example.com> 1790000000 +0000\ndata 1\nm\n")
	for file, content := range files {
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", file, len(content), content)
	}
	w.run(origin, stream.String(), "fast-import", "--quiet")
	settings := "[http]\n\treceivepack = true\n[uploadpack]\n\tallowFilter = true\n[gc]\n\tauto = 0\n[receive]\n\tautogc = false\n"
	file, err := os.OpenFile(filepath.Join(origin, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		w.b.Fatal(err)
	}
	if _, err := file.WriteString(settings); err != nil {
		w.b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		w.b.Fatal(err)
	}
	return "load/" + name + ".git"
}

func (w *world) run(dir, input string, args ...string) {
	w.b.Helper()
	command := exec.CommandContext(w.b.Context(), "git", args...)
	command.Dir, command.Stdin = dir, strings.NewReader(input)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := command.CombinedOutput(); err != nil {
		w.b.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
}

// follower is a repository that follows images by their moving tag, in one environment
// that is pushed to.
func (w *world) follower(name string, images ...string) string {
	w.b.Helper()
	config, manifest := "version: 1\ncomponents:\n", ""
	for n, image := range images {
		config += fmt.Sprintf("  c%d: {image: %s/%s, select: {tag: %s}, pin: tag+digest}\n", n, w.host, image, movingTag)
		manifest += fmt.Sprintf("---\nkind: Pod\nspec: {containers: [{image: \"%s/%s:%s@%s\"}]}\n", w.host, image, movingTag, digestOf(manifestOf(image, 0)))
	}
	config += "environments:\n  dev: {land: push}\n"
	return w.repository(name, map[string]string{".promoter.yaml": config, "pods.yaml": manifest})
}
