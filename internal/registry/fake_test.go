package registry

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	inprocess "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"promoter/internal/image"
	"promoter/internal/outbound"
)

// fake is a real registry in process behind a recorder that may answer instead.
type fake struct {
	host string
	// answer may answer a request; false leaves it to the registry. Set before
	// the first request.
	answer func(w http.ResponseWriter, r *http.Request) bool

	mu    sync.Mutex
	asked []string // METHOD PATH?QUERY
	auths []string // of each request
}

func newFake(t testing.TB) *fake {
	t.Helper()
	return before(t, inprocess.New(inprocess.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo))))
}

// before puts the recorder before any registry.
func before(t testing.TB, inner http.Handler) *fake {
	t.Helper()
	f := &fake{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.record(r)
		if f.answer == nil || !f.answer(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	f.host = strings.TrimPrefix(server.URL, "http://")
	return f
}

func (f *fake) record(r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r.Method+" "+r.URL.String())
	f.auths = append(f.auths, r.Header.Get("Authorization"))
}

// count returns how many requests had all the words.
func (f *fake) count(words ...string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, asked := range f.asked {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(asked, w) }) {
			n++
		}
	}
	return n
}

func (f *fake) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.auths = nil, nil
}

func (f *fake) repository(t testing.TB, path string) image.Repository {
	t.Helper()
	r, err := image.ParseRepository(f.host + "/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// built describes an image to push.
type built struct {
	created     time.Time
	labels      map[string]string
	annotations map[string]string
	platform    string
}

func (b built) image(t testing.TB) v1.Image {
	t.Helper()
	img, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.Created = v1.Time{Time: b.created}
	config.Config.Labels = b.labels
	config.OS, config.Architecture, _ = strings.Cut(cmp.Or(b.platform, "linux/amd64"), "/")
	config.Architecture, config.Variant, _ = strings.Cut(config.Architecture, "/")
	if img, err = mutate.ConfigFile(img, config); err != nil {
		t.Fatal(err)
	}
	if len(b.annotations) > 0 {
		img = mutate.Annotations(img, b.annotations).(v1.Image)
	}
	return img
}

// push puts an image under tags and returns its digest.
func (f *fake) push(t testing.TB, path string, b built, tags ...string) string {
	t.Helper()
	return pushTo(t, f.host, authn.Anonymous, path, b.image(t), tags...)
}

func pushTo(t testing.TB, host string, auth authn.Authenticator, path string, img v1.Image, tags ...string) string {
	t.Helper()
	for _, tag := range tags {
		if err := remote.Write(mustTag(t, host, path, tag), img, remote.WithAuth(auth)); err != nil {
			t.Fatal(err)
		}
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

// pushEach puts every image under its tag, and asks only once how to log in.
func (f *fake) pushEach(t testing.TB, path string, images map[string]built) {
	t.Helper()
	pusher, err := remote.NewPusher()
	if err != nil {
		t.Fatal(err)
	}
	for tag, b := range images {
		if err := pusher.Push(t.Context(), mustTag(t, f.host, path, tag), b.image(t)); err != nil {
			t.Fatal(err)
		}
	}
}

func mustTag(t testing.TB, host, path, tag string) name.Tag {
	t.Helper()
	ref, err := name.NewTag(host+"/"+path+":"+tag, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// indexOf makes an index of images.
func indexOf(t testing.TB, annotations map[string]string, images []built) v1.ImageIndex {
	t.Helper()
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	if len(annotations) > 0 {
		index = mutate.Annotations(index, annotations).(v1.ImageIndex)
	}
	for _, b := range images {
		platform, err := v1.ParsePlatform(b.platform)
		if err != nil {
			t.Fatal(err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: b.image(t), Descriptor: v1.Descriptor{Platform: platform}})
	}
	return index
}

// pushIndex puts an index of images under tags and returns its digest.
func (f *fake) pushIndex(t testing.TB, path string, annotations map[string]string, images []built, tags ...string) string {
	t.Helper()
	index := indexOf(t, annotations, images)
	for _, tag := range tags {
		if err := remote.WriteIndex(mustTag(t, f.host, path, tag), index); err != nil {
			t.Fatal(err)
		}
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

// newClient makes a client that may dial this machine.
func newClient(t testing.TB, options Options) *Client {
	t.Helper()
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Outbound == nil {
		options.Outbound = newOutbound(t)
	}
	c, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newOutbound(t testing.TB) *outbound.Client {
	t.Helper()
	out, err := outbound.New(outbound.Options{
		AllowLoopback: true, Now: time.Now, Attempts: 1, MaxWait: time.Second,
		RateLimit: outbound.RateLimit{PerSecond: 1e6, Burst: 1e6},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.CloseIdleConnections)
	return out
}

func mustPolicy(t testing.TB, s image.Selection) *image.Policy {
	t.Helper()
	p, err := image.NewPolicy(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustSelect(t testing.TB, v *View, r Request) Selection {
	t.Helper()
	s, err := v.Select(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// day is a date after all fixed stamps.
func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

// The annotations of the image specification.
const (
	keyCreated  = "org.opencontainers.image.created"
	keyRevision = "org.opencontainers.image.revision"
	keySource   = "org.opencontainers.image.source"
	keyVersion  = "org.opencontainers.image.version"
)
