package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/connect"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm/github"
	"promoter/internal/serverfile"
)

// manyPullRequests is how many pull requests one image leads to here.
const manyPullRequests = 20

// many proposes each application in a pull request of its own, with a check and an approval.
const many = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
environments:
  staging:
    paths: ["staging/{application}.yaml"]
    gates: {checks: [e2e], approvals: {count: 1}}
    pullRequest: {waitForChecks: 0}
`

// newMany makes a repository of twenty applications that use one image, and releases the
// next version of it.
func newMany(t testing.TB) *story {
	t.Helper()
	s := newStory(t, "github", many)
	s.cache = filepath.Join(s.dir, "cache")
	files := map[string]string{}
	for i := range manyPullRequests - 1 {
		files[fmt.Sprintf("staging/app-%02d.yaml", i)] = s.manifest("web:1.0.0")
	}
	s.repo.Git.Commit("ada", "main", "More applications", files)
	s.run() // the first clone
	s.release("web", "1.1.0")
	return s
}

// TestRun_twentyPullRequests_github counts what twenty pull requests cost, which
// docs/performance.md lists. A second run writes nothing, and its reads are conditional: GitHub
// answers each of them with "not modified", which does not count against the rate limit.
func TestRun_twentyPullRequests_github(t *testing.T) {
	t.Parallel()
	s := newMany(t)
	var costs []string
	event := func(name string) outcome.Report {
		t.Helper()
		s.forge.Traffic.ResetRequests()
		report := s.run()
		costs = append(costs, fmt.Sprintf("| %s | %s |", name, cost(s.forge.Traffic.Requests())))
		return report
	}
	if n := len(actsOf(event("20 pull requests are opened"))); n != manyPullRequests {
		t.Errorf("%d actions", n)
	}
	if done := actsOf(event("nothing new, 20 pull requests open")); len(done) > 0 {
		t.Errorf("a second run did %v", done)
	}
	onlyReads(t, s.forge.Traffic.Requests())
	var modified modifiedReads
	s.forge.Traffic.Wrap(modified.note)
	s.run()
	s.forge.Traffic.Wrap(nil)
	if len(modified.paths) > 0 {
		t.Errorf("a third run reads again: %q", modified.paths)
	}
	s.release("web", "1.1.1")
	if n := len(actsOf(event("a newer image: 20 pull requests are refreshed"))); n != manyPullRequests {
		t.Errorf("%d actions", n)
	}
	s.calm()
	compareWithDocs(t, "20 pull requests", costs)
}

// modifiedReads are the reads of an API that were answered with content.
type modifiedReads struct {
	mutex sync.Mutex
	paths []string
}

func (m *modifiedReads) note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		if r.Method == http.MethodGet && answer.Code != http.StatusNotModified && !strings.Contains(r.URL.Path, ".git/") {
			m.mutex.Lock()
			m.paths = append(m.paths, r.URL.String())
			m.mutex.Unlock()
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = answer.Body.WriteTo(w) // the client may be gone
	})
}

// BenchmarkRun_twentyPullRequests opens twenty pull requests on a fake GitHub that responds
// after the time of a usual request: without a pause between writes, and with the one that
// GitHub asks for. It reports the seconds that the API and Git took.
func BenchmarkRun_twentyPullRequests(b *testing.B) {
	for _, way := range []struct {
		name string
		pace time.Duration
	}{{"NoPause", -1}, {"WriteEachSecond", github.WritePace}} {
		b.Run(way.name, func(b *testing.B) {
			var spent timeOfRequests
			for range b.N {
				b.StopTimer()
				s := newMany(b)
				file := filepath.Join(s.dir, "server.yaml")
				paced, err := connect.Connect(serverfile.Options{WritePace: way.pace, Config: file, Env: environ("TOKEN", s.token), Now: s.clock.Now})
				if err != nil {
					b.Fatal(err)
				}
				s.server = paced
				s.forge.Traffic.Wrap(spent.measure)
				b.StartTimer()
				s.run()
				b.StopTimer()
				s.forge.Traffic.Wrap(nil)
			}
			for kind, d := range map[string]*atomic.Int64{"api": &spent.api, "git": &spent.git} {
				b.ReportMetric(time.Duration(d.Load()).Seconds()/float64(b.N), "s-"+kind+"/op")
			}
		})
	}
}

// latency is how long a request to the API takes at least, as on GitHub.
const latency = 150 * time.Millisecond

// timeOfRequests sums up how long a forge takes for requests.
type timeOfRequests struct{ api, git atomic.Int64 }

func (s *timeOfRequests) measure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, sum := time.Now(), &s.api
		if strings.Contains(r.URL.Path, ".git/") {
			sum = &s.git
		}
		timer := time.NewTimer(latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
		next.ServeHTTP(w, r)
		sum.Add(int64(time.Since(began)))
	})
}
