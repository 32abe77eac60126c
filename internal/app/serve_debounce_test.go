package app_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/store"
)

// registryHook is a receiver of the notifications of a registry.
const registryHook = `  registry: {kind: distribution, secret: "env:HOOK", header: X-Registry}`

// notified is what a registry posts for a push: one event for each digest, the last one
// with the tag.
func (s *story) notified(component, tag string, digests ...string) string {
	var events []string
	for i, digest := range digests {
		name := ""
		if i == len(digests)-1 {
			name = fmt.Sprintf(`"tag": %q, `, tag)
		}
		events = append(events, fmt.Sprintf(
			`{"id": "%s-%s-%d", "action": "push", "target": {"mediaType": "application/vnd.oci.image.manifest.v1+json", %s"digest": %q, "repository": "acme/%s"}, "request": {"host": %q}}`,
			component, tag, i, name, digest, component, s.host))
	}
	return `{"events": [` + strings.Join(events, ",") + `]}`
}

// A hundred webhooks about one image, from several senders, repeated, out of order, and
// one event for each platform: after the debounce there is one reconciliation, which
// reads the registry once. A redelivery is stored once.
func TestServe_mergesManyWebhooks(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serveAs(t, s, serving{quiet: time.Hour, poll: "30d", receivers: registryHook})
	first, second := s.release("web", "1.1.0"), s.release("web", "1.2.0")
	other := "sha256:" + strings.Repeat("ab", 32)
	webhooks := []func(){
		func() { w.notify("web:1.2.0") },
		func() { w.notify("web:1.1.0") },
		func() {
			w.send("registry", s.notified("web", "1.2.0", other, second), "X-Registry", "Bearer "+serveSecret)
		},
		func() {
			w.send("registry", s.notified("web", "1.1.0", other, first), "X-Registry", "Bearer "+serveSecret)
		},
	}
	w.registry.Forget()
	for i := range 100 {
		webhooks[i%len(webhooks)]()
	}
	if n := w.reconciliations(); n != 0 || s.registry.RequestsFor("acme/web") != 0 {
		t.Errorf("%d reconciliations and %d requests during the debounce", n, s.registry.RequestsFor("acme/web"))
	}
	w.wait(61 * time.Minute)
	w.until("opened")
	w.until("reconciled")
	s.holds("dev", "1.2.0 1.0.0")
	s.pulls(stagingHead + " open")
	if n := s.listed("acme/web"); n != 1 {
		t.Errorf("the tags were read %d times", n)
	}
	w.notify("web:1.2.0")
	if n := w.rests(); n != 0 {
		t.Errorf("%d reconciliations more than one", n)
	}
	s.wait(61 * time.Minute)
	w.until("reconciled")
	if n := w.rests(); n != 0 {
		t.Errorf("%d reconciliations more", n)
	}
	w.stop()
	want := map[string]int{"images push": 51, "registry push": 50}
	if got := w.kept(); !maps.Equal(got, want) {
		t.Errorf("deliveries %v, want %v", got, want)
	}
	s.calm()
}

// reconciliations counts the reconciliations that the test did not wait for.
func (w *served) reconciliations() (n int) {
	for {
		select {
		case line := <-w.lines:
			if strings.Contains(line, `"msg":"reconciled"`) {
				n++
			}
		default:
			return n
		}
	}
}

// listed is how often the tags of a repository were requested.
func (w *world) listed(repository string) (n int) {
	for _, asked := range w.registry.Requests() {
		if asked == "GET /v2/"+repository+"/tags/list" {
			n++
		}
	}
	return n
}

// kept counts the deliveries by receiver and event, in the database of the service that
// stopped. No delivery is stored twice.
func (w *served) kept() map[string]int {
	w.t.Helper()
	db, err := database.Open(w.t.Context(), database.Options{Path: filepath.Join(w.dir, "data", "promoter.db"), Now: w.clock.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	all, err := store.New(db).Deliveries.Newest(w.t.Context(), 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	times := map[string]int{}
	for _, d := range all {
		times[d.Receiver+" "+d.EventType] += d.Times
	}
	if len(all) != 4 {
		w.t.Errorf("%d deliveries are stored, want 4", len(all))
	}
	return times
}

// A webhook about a tag that the registry does not have: there is a reconciliation, and
// nothing is proposed.
func TestServe_unknownTag(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serve(t, s)
	s.forge.Traffic.ResetRequests()
	nowhere := "sha256:" + strings.Repeat("0", 64)
	for _, body := range []string{
		`{"image": "$R/acme/web:9.9.9"}`, `{"image": "$R/acme/web@` + nowhere + `"}`, `{"image": "$R/acme/web:1.0.0@` + nowhere + `"}`,
		`{"registry": "$R", "repository": "acme/web", "tag": "9.9.9", "digest": "` + nowhere + `"}`,
	} {
		w.send("images", s.expand(body))
		w.reconciles()
	}
	for _, environment := range []string{"dev", "staging", "prod"} {
		s.holds(environment, "1.0.0 1.0.0")
	}
	s.pulls()
	onlyReads(t, s.forge.Traffic.Requests())
	w.stop()
	s.calm()
}
