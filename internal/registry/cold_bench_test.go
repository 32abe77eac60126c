package registry

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote"

	"promoter/internal/image"
	"promoter/internal/outbound"
	"promoter/internal/parallel"
)

// The first poll of many images, by their moving tags, as many at a time as in a reconciliation.
const (
	coldImages   = 2000
	coldParallel = 8
)

// BenchmarkColdPoll requests each image once, and then again with a loop that does nothing
// else, as many at a time. The first registry is a handler that only answers, so that what is
// measured is the client; the other one is real.
func BenchmarkColdPoll(b *testing.B) {
	b.Run("handler", func(b *testing.B) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/manifests/") {
				w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
				w.Header().Set("Content-Length", "2")
				w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("ab", 32))
			}
		}))
		b.Cleanup(server.Close)
		coldPoll(b, strings.TrimPrefix(server.URL, "http://"), coldNames())
	})
	b.Run("distribution", func(b *testing.B) {
		f, names := serve(b, program(b, threeVariable, "registry"), ""), coldNames()
		img := built{created: day(1)}.image(b)
		err := parallel.ForEach(coldParallel, names, func(name string) error {
			return remote.Write(mustTag(b, f.host, name, "stable"), img)
		})
		if err != nil {
			b.Fatal(err)
		}
		coldPoll(b, f.host, names)
	})
}

func coldNames() (names []string) {
	for n := range coldImages {
		names = append(names, fmt.Sprint("acme/image-", n))
	}
	return names
}

func coldPoll(b *testing.B, host string, names []string) {
	b.Helper()
	policy := mustPolicy(b, image.Selection{Tag: "stable"})
	tag, _ := policy.Moving()
	var ours, plain time.Duration
	for b.Loop() {
		ours += timeOf(b, names, func(b *testing.B) (func(string) error, func()) {
			b.Helper()
			out, err := outbound.New(outbound.Options{AllowLoopback: true, Now: time.Now})
			if err != nil {
				b.Fatal(err)
			}
			view := newClient(b, Options{Outbound: out}).For("a/1")
			return func(name string) error {
				_, err := view.Resolve(b.Context(), image.Reference{Repository: mustRepositoryOf(b, host, name), Tag: tag})
				return err
			}, out.CloseIdleConnections
		})
		plain += timeOf(b, names, func(b *testing.B) (func(string) error, func()) {
			b.Helper()
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: coldParallel}}
			return func(name string) error {
				req, err := http.NewRequestWithContext(b.Context(), http.MethodHead, "http://"+host+"/v2/"+name+"/manifests/"+tag, nil)
				if err != nil {
					return err
				}
				req.Header.Set("Accept", "*/*")
				resp, err := client.Do(req)
				if err != nil {
					return err
				}
				return resp.Body.Close()
			}, client.CloseIdleConnections
		})
	}
	b.ReportMetric(float64(coldImages*b.N)/ours.Seconds(), "requests/s")
	b.ReportMetric(float64(coldImages*b.N)/plain.Seconds(), "plain-requests/s")
	b.ReportMetric(ours.Seconds()/plain.Seconds(), "x-plain")
	b.ReportMetric(0, "ns/op")
}

// timeOf returns how long a client needs for all images.
func timeOf(b *testing.B, names []string, open func(*testing.B) (request func(string) error, end func())) time.Duration {
	b.Helper()
	request, end := open(b)
	defer end()
	begin := time.Now()
	if err := parallel.ForEach(coldParallel, names, request); err != nil {
		b.Fatal(err)
	}
	return time.Since(begin)
}

func mustRepositoryOf(b *testing.B, host, name string) image.Repository {
	b.Helper()
	r, err := image.ParseRepository(host + "/" + name)
	if err != nil {
		b.Fatal(err)
	}
	return r
}
