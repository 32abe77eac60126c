package app_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"promoter/internal/registry/registrytest"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// A real registry sends a webhook for a push: promoter pushes to dev and opens a pull
// request for staging.
func TestServe_dockerRegistry(t *testing.T) {
	t.Parallel()
	realRegistryTells(t, registryProgram(t, "PROMOTER_DOCKER_REGISTRY", "docker-registry"))
}

func TestServe_distribution3(t *testing.T) {
	t.Parallel()
	realRegistryTells(t, registryProgram(t, "PROMOTER_DISTRIBUTION", "registry"))
}

func registryProgram(t *testing.T, variable, program string) string {
	t.Helper()
	if path := os.Getenv(variable); path != "" {
		return path
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not on PATH and %s is not set", program, variable)
	}
	return path
}

func realRegistryTells(t *testing.T, program string) {
	t.Helper()
	s := newStory(t, "github", reviewed)
	relay := newRelay(t)
	s.behind(startRegistry(t, program, relay.URL+"/webhooks/registry"))
	relay.pause() // earlier pushes are not news
	w := serveAs(t, s, serving{quiet: -1, poll: "30d", receivers: registryHook})
	relay.resume(w.url)
	s.platforms("web", "1.1.0")
	w.until("opened")
	w.until("reconciled")
	s.holds("dev", "1.1.0 1.0.0")
	s.pulls(stagingHead + " open")
	if body, date := s.repo.Pulls.Get(1).Body, s.clock.Now().UTC().Format(time.DateOnly); !strings.Contains(body, "| "+date+" |") {
		t.Errorf("the body has no date of the image, %s:\n%s", date, body)
	}
	w.stop()
	for _, status := range relay.answers() {
		if status != http.StatusAccepted {
			t.Errorf("a notification was answered with %d", status)
		}
	}
	s.calm()
}

// relay is between the registry and the service, which starts later.
type relay struct {
	*httptest.Server
	to       chan string // the URL of the service
	statuses chan int
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	r := &relay{to: make(chan string, 1), statuses: make(chan int, 100)}
	r.to <- ""
	r.Server = httptest.NewServer(http.HandlerFunc(r.pass))
	t.Cleanup(r.Close)
	return r
}

func (r *relay) pass(w http.ResponseWriter, request *http.Request) {
	to := <-r.to
	r.to <- to
	if to == "" { // no service is running
		_, _ = io.Copy(io.Discard, request.Body)
		return
	}
	forward := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host = "http", strings.TrimPrefix(to, "http://")
		},
		ModifyResponse: func(response *http.Response) error {
			r.statuses <- response.StatusCode
			return nil
		},
	}
	forward.ServeHTTP(w, request)
}

// pause holds webhooks back until resume.
func (r *relay) pause() { <-r.to }

func (r *relay) resume(to string) { r.to <- to }

func (r *relay) answers() (all []int) {
	for {
		select {
		case status := <-r.statuses:
			all = append(all, status)
		default:
			return all
		}
	}
}

var registryListens = regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)

// startRegistry starts a registry that notifies an endpoint of pushes, and returns its
// address.
func startRegistry(t *testing.T, program, endpoint string) string {
	t.Helper()
	folder := t.TempDir()
	file := writeFile(t, filepath.Join(folder, "config.yml"), fmt.Sprintf(`version: 0.1
storage: {filesystem: {rootdirectory: %q}}
http: {addr: '127.0.0.1:0'}
notifications:
  endpoints:
    - {name: promoter, url: %q, headers: {X-Registry: ["Bearer %s"]}, timeout: 30s, threshold: 100, backoff: 100ms}
`, filepath.Join(folder, "data"), endpoint, serveSecret))
	command := exec.CommandContext(t.Context(), program, "serve", file)
	command.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	var address string
	startCounterpart(t, command, func(line string) bool {
		if found := registryListens.FindStringSubmatch(line); found != nil {
			address = found[1]
		}
		return address != ""
	})
	return address
}

// startCounterpart starts a program until the test ends, and waits for the line of its log that
// reports that it is ready.
func startCounterpart(t *testing.T, command *exec.Cmd, ready func(line string) bool) {
	t.Helper()
	output, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	lines, log := bufio.NewScanner(output), ""
	for lines.Scan() {
		log += lines.Text() + "\n"
		if ready(lines.Text()) {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return
		}
	}
	t.Fatalf("%s did not start:\n%s", filepath.Base(command.Path), log)
}

// behind replaces the registry of the story by another one with the same images.
func (s *story) behind(address string) {
	s.t.Helper()
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: address})
		p.Out.Host = p.In.Host // the name of the registry in the files
	}}
	s.registry.Wrap(func(http.Handler) http.Handler { return proxy })
	for _, component := range []string{"web", "worker"} {
		before := s.digests[component+":1.0.0"]
		if s.image(component, "1.0.0", component+" 1.0.0", s.times[component+":1.0.0"]) != before {
			s.t.Fatalf("%s is another image now", component)
		}
	}
}

// platforms pushes an image of two platforms: the registry sends an event for each of
// them, and then for the index with the tag.
func (s *story) platforms(component, tag string) {
	s.t.Helper()
	target, err := name.NewTag(s.host + "/acme/" + component + ":" + tag)
	if err != nil {
		s.t.Fatal(err)
	}
	index := v1.ImageIndex(empty.Index)
	for _, architecture := range []string{"amd64", "arm64"} {
		made, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{Architecture: architecture, OS: "linux", Created: v1.Time{Time: s.clock.Now()}})
		if err != nil {
			s.t.Fatal(err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: made, Descriptor: v1.Descriptor{Platform: &v1.Platform{Architecture: architecture, OS: "linux"}},
		})
	}
	digest, err := index.Digest()
	if err := errors.Join(err, remote.WriteIndex(target, index, remote.WithTransport(registrytest.Transport{}))); err != nil {
		s.t.Fatal(err)
	}
	s.digests[component+":"+tag] = digest.String()
}
