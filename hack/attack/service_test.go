package attack

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"promoter/hack/process"
	"promoter/internal/benchworld"
)

// patience is how long the tests wait for what must happen.
const patience = 2 * time.Minute

// service is promoter as a service.
type service struct {
	*process.Process
	world  *world
	posted atomic.Int64
}

// serve starts promoter for repositories.
func (w *world) serve(t testing.TB, program string, repositories []string) *service {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, `data: %q
poll: 10s
forges:
  git: {kind: git, url: "http://%[2]s", insecure: true}
registries:
  - {host: "%[2]s", insecure: true}
  - {host: "%[3]s", insecure: true}
  - {host: "%[4]s", insecure: true}
networks: [127.0.0.0/8]
api:
  tokens:
    reader: {token: "env:READER"}
    nothing: {token: "env:NOTHING", repositories: ["none.example.com/*/*"]}
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
rateLimits:
  - {host: "*", perSecond: 1000, burst: 1000, concurrent: 16}
repositories:
`, filepath.Join(t.TempDir(), "data"), w.Host, w.hostile, w.slow)
	for _, name := range repositories {
		fmt.Fprintf(&text, "  - {forge: git, name: %s}\n", name)
	}
	return &service{world: w, Process: process.Start(t, process.Options{
		Program: program, Config: text.String(), Environment: []string{"READER=" + readToken, "NOTHING=" + nothingToken},
	})}
}

// post sends a webhook about an image, and returns the status of the response.
func (s *service) post(t testing.TB, image string, signed bool) int {
	t.Helper()
	return s.Webhook(t, "images", fmt.Sprint(s.posted.Add(1)), image+":"+benchworld.MovingTag, signed)
}

// release makes a new version of an image, and sends a valid webhook about it.
func (s *service) release(t testing.TB, image string) {
	t.Helper()
	s.world.Release(image)
	s.notify(t, s.world.Host+"/"+image)
}

// notify sends a valid webhook.
func (s *service) notify(t testing.TB, image string) {
	t.Helper()
	if code := s.post(t, image, true); code != http.StatusAccepted {
		t.Fatalf("a valid webhook: %d", code)
	}
}
