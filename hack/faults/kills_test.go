package faults

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"promoter/hack/process"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

const (
	// killsOfARound is how often a process is killed before everything must settle, and
	// longestLife how many requests one does at most until then.
	killsOfARound, longestLife = 4, 90
	// idle is how long a process lives that has nothing to do.
	idle = 3 * time.Second
)

// killsSeedVariable is the seed of BenchmarkKills, to repeat it.
const killsSeedVariable = "PROMOTER_FAULTS_SEED"

// BenchmarkKills kills the service at random requests to forges, of which half are executed, while versions are released, land
// by pull requests, and are held and resumed in comments. After the last kill, everything must be settled within a minute, at the pace of
// a real service: its leases and delays are not shortened.
func BenchmarkKills(b *testing.B) {
	program := process.Build(b)
	seed := rand.Uint64N(1e9)
	if text := os.Getenv(killsSeedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%s=%d", killsSeedVariable, seed)
	for i, kind := range databasetest.Kinds() {
		if testing.Short() && i > 0 {
			continue
		}
		b.Run(kind.Name, func(b *testing.B) {
			m := newMassacre(b, program, kind.New(b), seed)
			settled := map[string]time.Duration{}
			for b.Loop() {
				for name, took := range m.round() {
					settled[name] = max(settled[name], took)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(settled)) {
				b.ReportMetric(settled[name].Seconds(), "s:"+name)
			}
			b.ReportMetric(float64(m.kills), "kills")
			b.ReportMetric(0, "ns/op")
			m.process.Stop(b)
		})
	}
}

// massacre is a service whose processes are killed, one after the other.
type massacre struct {
	campaign
	tenants []*tenant
	options process.Options
	random  *rand.Rand
	kills   int

	mutex sync.Mutex
	life  int           // requests until the next kill; 0: it lives
	lost  bool          // the last request of the process is executed
	dead  chan struct{} // closed when it was killed
}

func newMassacre(b *testing.B, program string, o database.Options, seed uint64) *massacre {
	b.Helper()
	m := &massacre{campaign: campaign{b: b}, random: rand.New(rand.NewPCG(seed, 0))}
	for _, on := range []string{"gitea", "gitea", "github", "gitlab"} {
		w := newTenant(b, fault{name: fmt.Sprintf("kills-%s-%d", on, len(m.tenants)+1), on: on})
		w.forge.settings.Permit(user, "admin")
		w.forge.traffic.Wrap(m.between)
		m.tenants = append(m.tenants, w)
	}
	address := ""
	if o.Path == "" {
		address = `database: {url: "env:DATABASE"}`
	}
	m.options = process.Options{
		Program: program, Config: serverFile(b.TempDir(), address, m.tenants),
		Environment: append(tokens(m.tenants), "DATABASE="+o.URL.Reveal()),
	}
	m.process = process.Start(b, m.options)
	for _, w := range m.tenants {
		w.release(b)
		w.notify(b, m.process)
	}
	m.settle(m.tenants)
	return m
}

// user decides in comments.
const user = "ada"

// round holds or resumes staging, and kills processes while versions are released.
func (m *massacre) round() map[string]time.Duration {
	m.b.Helper()
	for _, w := range m.tenants {
		w.decide()
	}
	for range killsOfARound {
		for _, w := range m.tenants {
			w.release(m.b)
			w.notify(m.b, m.process)
		}
		m.kill()
		m.process = process.Start(m.b, m.options)
	}
	settled := m.settle(m.tenants)
	for _, w := range m.tenants {
		w.sound(m.b)
		w.answeredOnce(m.b)
	}
	return settled
}

// decide holds staging, or resumes it, in its open pull request.
func (w *tenant) decide() {
	w.held = !w.held
	verb := "/promoter resume it is over"
	if w.held {
		verb = "/promoter hold it is slow"
	}
	for _, pull := range w.forge.pulls.All() {
		if pull.Open {
			w.comments = append(w.comments, w.forge.pulls.Comment(user, pull.Number, verb))
		}
	}
}

// kill kills the process at one of its next requests, or while it is idle.
func (m *massacre) kill() {
	m.b.Helper()
	dead := make(chan struct{})
	m.mutex.Lock()
	m.life, m.lost, m.dead = 1+m.random.IntN(longestLife), m.random.IntN(2) == 0, dead
	m.mutex.Unlock()
	select {
	case <-dead:
	case <-time.After(idle):
		m.mutex.Lock()
		defer m.mutex.Unlock()
		m.process.Kill()
		m.life = 0
	}
	m.kills++
}

// between is in front of the forges.
func (m *massacre) between(server http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if !m.last() {
			server.ServeHTTP(out, r)
			return
		}
		if body, err := io.ReadAll(r.Body); m.lost && err == nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
			server.ServeHTTP(httptest.NewRecorder(), r)
		}
		m.process.Kill()
		close(m.dead)
		panic(http.ErrAbortHandler)
	})
}

// last reports whether a request is the last one of the process.
func (m *massacre) last() bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.life == 0 {
		return false
	}
	m.life--
	return m.life == 0
}

// answeredOnce checks that each decision has one reaction.
func (w *tenant) answeredOnce(t testing.TB) {
	t.Helper()
	for _, comment := range w.comments {
		if reactions := w.forge.pulls.Reactions(comment); len(reactions) != 1 {
			t.Errorf("%s: the reactions to a command: %q", w.fault.name, reactions)
		}
	}
}
