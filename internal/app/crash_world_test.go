package app_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/database/databasetest"
	"promoter/internal/identity"
)

// mortal is a story that is served by one process after the other, each of which may be
// killed. Forge, registry, and database survive.
type mortal struct {
	*story
	*ledger
	poll    string // of the server file
	orders  orders
	process *process
	starts  int
	// event is called with each request and log line, and with its route if it is a
	// write to the forge. It returns the process that was killed for it, if any.
	event func(write string) *process

	mu       sync.Mutex
	events   int             // events of the forge
	accepted map[string]bool // deliveries with a successful response
}

// mortalLease is long enough for a busy machine. When a process is dead, the test skips
// that time.
const mortalLease = 5 * time.Second

func newMortal(t testing.TB, kind databasetest.Kind, config, poll string) *mortal {
	t.Helper()
	s := newStory(t, "github", config)
	s.clock.set(time.Now())
	m := &mortal{
		story: s, ledger: newLedger(t, kind, filepath.Join(s.dir, "data")),
		poll: poll, event: func(string) *process { return nil }, accepted: map[string]bool{},
	}
	m.orders = orders{File: m.processFile("data"), Lease: mortalLease, FirstCrash: 100 * time.Millisecond, Driver: m.driver, Source: m.source}
	s.forge.Traffic.Watch(m.watch)
	s.registry.Wrap(m.listening)
	return m
}

// processFile writes the server file of a process with its data folder.
func (m *mortal) processFile(data string) string {
	m.t.Helper()
	address := ""
	if m.options.Path == "" {
		address = `database: {url: "env:DATABASE"}`
	}
	return m.story.write(data+".yaml", fmt.Sprintf(`version: 1
listen: 127.0.0.1:0
data: %q
poll: %s
%s
forges:
  forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}
repositories:
  - {forge: forge, name: acme/gitops}
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
  forge: {kind: github, secret: "env:HOOK"}
networks: [127.0.0.0/8]
retention: {deliveriesSize: 1MiB}
%s`, filepath.Join(m.dir, data), m.poll, address, m.forge.URL(), insecureRegistry))
}

// listening wraps the registry.
func (m *mortal) listening(registry http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Test") == "" {
			m.event("").waitDead()
		}
		registry.ServeHTTP(w, r)
	})
}

// watch observes every request to the forge before it is done.
func (m *mortal) watch(route string) {
	m.atMostOne()
	write := ""
	if changes(route) {
		write = route
	}
	m.event(write).waitDead()
}

// atMostOne checks that each environment has at most one open pull request.
func (m *mortal) atMostOne() {
	open := map[string]int{}
	for _, pull := range m.repo.Pulls.All() {
		environment, _, _ := strings.Cut(strings.TrimPrefix(pull.Head, "promoter/"), "/")
		if pull.Open {
			open[environment]++
		}
		if open[environment] > 1 {
			m.t.Errorf("%s has a second open pull request: %d", environment, pull.Number)
		}
	}
}

// start starts the next process. Until then, present returns the current one.
func (m *mortal) start(o orders) {
	m.t.Helper()
	m.starts++
	if m.process != nil && !m.process.answers() {
		m.endLeases(m.t)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.process = m.begin(o)
}

func (m *mortal) begin(o orders) *process {
	m.t.Helper()
	return begin(m.t, o, func(string) { m.event("") }, "DATABASE="+m.options.URL.Reveal(), "TOKEN="+m.token, "HOOK="+serveSecret)
}

// present is the current process.
func (m *mortal) present() *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process
}

// settle waits until all work is done, even if processes are killed, and returns it.
func (m *mortal) settle() []entry {
	m.t.Helper()
	return m.until(m.rest)
}

// until waits until the work meets a condition. A process that was killed has a
// successor.
func (m *mortal) until(so func([]entry) bool) []entry {
	m.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
		if m.process.answers() {
			if work := m.work(m.t); so(work) {
				return work
			}
		}
		select {
		case <-m.process.dead:
			m.killed()
			m.start(m.orders)
		case <-tick.C:
		case <-deadline:
			m.t.Fatalf("it does not come to rest: %+v\n%s", m.work(m.t), m.process.log())
		}
	}
}

// killed checks that the process did not exit by itself.
func (m *mortal) killed() {
	m.t.Helper()
	if err := m.process.err; err == nil || err.Error() != "signal: killed" {
		m.t.Fatalf("the process ended by itself: %v\n%s", err, m.process.log())
	}
}

// rest reports whether all work is done. A reconciliation with a partial failure is
// retried after half a minute: rest triggers it earlier.
func (m *mortal) rest(work []entry) bool {
	for _, e := range work {
		if !e.rests() {
			return false
		}
		if e.again() {
			m.post(m.happened("push"))
			return false
		}
	}
	return true
}

// delivery is a webhook to be sent.
type delivery struct{ receiver, id, event, body string }

// pushedImages is a notification of the registry, and happened an event of the forge.
func (m *mortal) pushedImages(tag, id string, components ...string) delivery {
	var images []string
	for _, component := range components {
		images = append(images, fmt.Sprintf("%q", m.host+"/acme/"+component+":"+tag))
	}
	return delivery{receiver: "images", id: id, body: fmt.Sprintf(`{"images": [%s], "id": %q}`, strings.Join(images, ", "), id)}
}

func (m *mortal) happened(event string) delivery {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events++
	return delivery{
		receiver: "forge", id: fmt.Sprintf("event-%d", m.events), event: event,
		body: fmt.Sprintf(`{"repository": {"id": %d, "full_name": "acme/gitops", "html_url": "%s/acme/gitops"}}`, m.repo.ID(), m.forge.URL()),
	}
}

// post sends a webhook to the current process, and reports whether the response was a
// success.
func (m *mortal) post(d delivery) bool { return m.postTo(m.process, d) }

func (m *mortal) postTo(p *process, d delivery) bool {
	if !d.post(m.t.Context(), p.url) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.accepted[d.receiver+"/"+d.id] = true
	return true
}

// post sends it; a process that was killed does not respond.
func (d delivery) post(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/webhooks/"+d.receiver, strings.NewReader(d.body))
	if err != nil {
		return false
	}
	signature := signatureOf(d.body)
	for name, value := range map[string]string{
		"X-Signature": signature, "X-Hub-Signature-256": signature, "X-GitHub-Event": d.event, "X-GitHub-Delivery": d.id,
	} {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.Body.Close() == nil && err == nil && response.StatusCode == http.StatusAccepted
}

// keptAll checks that no accepted webhook is lost.
func (m *mortal) keptAll() {
	m.t.Helper()
	kept := m.deliveries(m.t)
	for id := range m.accepted {
		if !kept[id] {
			m.t.Errorf("the delivery %s was accepted and is lost", id)
		}
	}
}

// key is the key of the repository.
func (m *mortal) key() string {
	key, err := identity.ForgeKey(m.forge.Host(), identity.NumericID(m.repo.ID()))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(key)
}
