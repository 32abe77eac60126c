// Package registrytest runs a real registry on loopback, for tests of packages that
// use one.
package registrytest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Server is a registry that records the requests to it, except for those of tests.
type Server struct {
	Host string // with its port

	mutex    sync.Mutex
	requests []string
	replaced http.HandlerFunc
	wrap     func(http.Handler) http.Handler
}

// New starts a registry, which stops at the end of the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mutex.Lock()
		replaced, wrap := s.replaced, s.wrap
		if r.Header.Get(ofTest) == "" {
			s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		}
		s.mutex.Unlock()
		switch {
		case replaced != nil:
			replaced(w, r)
		case wrap != nil:
			wrap(images).ServeHTTP(w, r)
		default:
			images.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(listener.Close)
	s.Host = strings.TrimPrefix(listener.URL, "http://")
	return s
}

// Replace makes the handler answer instead of the registry; nil: the registry does.
func (s *Server) Replace(handler http.HandlerFunc) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.replaced = handler
}

// Wrap puts a handler in front of the registry.
func (s *Server) Wrap(wrap func(http.Handler) http.Handler) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.wrap = wrap
}

// Requests returns the method and path of every request since the last Forget.
func (s *Server) Requests() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.requests)
}

// RequestsFor returns the number of requests about a repository.
func (s *Server) RequestsFor(repository string) (n int) {
	for _, request := range s.Requests() {
		if strings.Contains(request, "/v2/"+repository+"/") {
			n++
		}
	}
	return n
}

// Forget drops the recorded requests.
func (s *Server) Forget() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.requests = nil
}

// Push pushes an image and returns its digest. The same seed gives the same digest.
func (s *Server) Push(t testing.TB, reference, seed string) string {
	t.Helper()
	return s.push(t, reference, seed, types.DockerConfigJSON)
}

// PushChart pushes a Helm chart.
func (s *Server) PushChart(t testing.TB, reference, seed string) string {
	t.Helper()
	return s.push(t, reference, seed, "application/vnd.cncf.helm.config.v1+json")
}

// push pushes an artifact with a media type of its config.
func (s *Server) push(t testing.TB, reference, seed string, config types.MediaType) string {
	t.Helper()
	tag, err := name.NewTag(s.Host + "/" + reference)
	if err != nil {
		t.Fatal(err)
	}
	image, err := mutate.Config(empty.Image, v1.Config{Labels: map[string]string{"seed": seed}})
	if err != nil {
		t.Fatal(err)
	}
	image = mutate.ConfigMediaType(image, config)
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, image, remote.WithTransport(Transport{})); err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

// ofTest marks the requests of tests.
const ofTest = "X-Test"

// Transport marks requests so that they are not recorded.
type Transport struct{}

// RoundTrip implements http.RoundTripper.
func (Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(ofTest, "1")
	return http.DefaultTransport.RoundTrip(r)
}
