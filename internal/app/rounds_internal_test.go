package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/connect"
	"promoter/internal/engine/enginetest"
	"promoter/internal/fault"
	"promoter/internal/queue"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/workspace"
)

// desk is a service whose work a test does by hand, one thing after another.
type desk struct {
	*service
	t      *testing.T
	github *githubtest.Server
	clock  *enginetest.Clock
	token  atomic.Value
	two    *githubtest.Repository // acme/two, beside acme/one
	// away says that the registry is not there; asked is how often it was asked.
	away  atomic.Bool
	asked atomic.Int64
}

// following are the files of a repository that follows an image.
func following(image string) map[string]string {
	return map[string]string{
		".promoter.yaml": "version: 1\ncomponents: {web: {image: " + image + ", select: {semver: '>=1'}}}\nenvironments: {dev: {paths: [dev], land: push}}\n",
		"dev/app.yaml":   "image: " + image + ":1.0.0\n",
	}
}

// images is a registry that has no tags, or is away.
func (d *desk) images() string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.asked.Add(1)
		if d.away.Load() {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/tags/list") {
			_, _ = io.WriteString(w, `{"name": "acme/web", "tags": []}`)
		}
	}))
	d.t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, clock: enginetest.NewClock(time.Now().Truncate(time.Second))}
	d.github = githubtest.New(t, githubtest.Options{Now: d.clock.Now})
	images := d.images()
	d.github.NewRepository("acme/one", following(images+"/acme/web")).Permit(githubtest.Self, "write")
	d.two = d.github.NewRepository("acme/two", following(images+"/acme/web"))
	d.two.Permit(githubtest.Self, "write")
	d.renew()
	file := filepath.Join(t.TempDir(), "server.yaml")
	text := fmt.Sprintf(`version: 1
data: %q
poll: 5m
forges:
  forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}
repositories:
  - {forge: forge, name: acme/one}
  - {forge: forge, name: acme/two}
registries: [{host: "%s", insecure: true}]
networks: [127.0.0.0/8]
`, t.TempDir(), d.github.URL(), images)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) (string, bool) { return d.token.Load().(string), name == "TOKEN" } //nolint:forcetypeassert // nothing else is stored
	server, err := connect.OpenService(connect.Options{WritePace: -1, Config: file, Env: env, Now: d.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	db, err := openDatabase(t.Context(), server, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.service, err = newService(t.Context(), server, db, ServeOptions{Quiet: -1, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.rounds.close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// renew lets promoter use another token from now on.
func (d *desk) renew() { d.token.Store(d.github.Token(githubtest.Self, "repo", "read:org")) }

// poll is one that must do well. It returns when the next one is to come.
func (d *desk) poll() time.Time {
	d.t.Helper()
	result, err := d.service.poll(d.t.Context(), queue.Item{Kind: kindPoll, Key: everything})
	if err != nil {
		d.t.Fatal(err)
	}
	return result.Next
}

// present returns the round that a look would use.
func (d *desk) present() *round {
	d.t.Helper()
	in, release, err := d.rounds.use(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	release()
	return in
}

func (d *desk) keyOf(name string) string {
	d.t.Helper()
	for key, r := range d.present().byKey {
		if r.Name == name {
			return key
		}
	}
	d.t.Fatalf("%s is not worked on", name)
	return ""
}

func (d *desk) lookAt(key string) (queue.Result, error) {
	return d.look(d.t.Context(), queue.Item{Kind: kindLane, Key: key})
}

// isKept says whether what a lane follows is still known.
func (d *desk) isKept(key string) bool {
	d.t.Helper()
	_, err := d.store.Repository(d.t.Context(), key)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		d.t.Fatal(err)
	}
	return err == nil
}

// Of several replicas one alone polls. What another one read of registries must not
// be the answer for ever.
func TestRounds_areMadeAnewWithoutAPoll(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.present()
	d.clock.Add(5 * time.Minute)
	if d.present() != first {
		t.Error("a round is not shared until the next poll")
	}
	d.clock.Add(2 * time.Minute)
	second := d.present()
	if second == first {
		t.Error("a round is used for ever where nobody polls")
	}
	if d.present() != second {
		t.Error("each look makes a round")
	}
}

// A repository that cannot be opened for now keeps its lane, and what it follows,
// also when a webhook comes.
func TestLook_whatCannotBeOpenedIsNotForgotten(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.poll()
	key := d.keyOf("acme/two")
	if _, err := d.lookAt(key); err != nil {
		t.Fatal(err)
	}
	d.github.Revoke(d.token.Load().(string)) //nolint:forcetypeassert // nothing else is stored
	d.clock.Add(6 * time.Minute)
	d.poll()
	for range 2 {
		if _, err := d.lookAt(key); fault.KindOf(err) != fault.Temporary {
			t.Errorf("a look at what cannot be opened ends with %v", err)
		}
		if !d.isKept(key) {
			t.Fatal("the lane is forgotten")
		}
		d.clock.Add(2 * time.Minute)
	}
	d.renew()
	d.clock.Add(4 * time.Minute)
	d.poll()
	if _, err := d.lookAt(key); err != nil {
		t.Error(err)
	}
	d.two.Remove()
	d.clock.Add(6 * time.Minute)
	d.poll() // which has it looked at once more
	if result, err := d.lookAt(key); err != nil || !result.Forget {
		t.Errorf("a look at what is gone: %+v, %v", result, err)
	}
	if d.isKept(key) {
		t.Error("what is gone is kept")
	}
}

// Somebody makes another repository of the same name. It is not worked on in the
// lane of the one that was there, whose credentials and people it does not have.
func TestLook_anotherRepositoryOfTheName(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.poll()
	before := d.keyOf("acme/two")
	if _, err := d.lookAt(before); err != nil {
		t.Fatal(err)
	}
	d.two.Remove()
	d.github.NewRepository("acme/two", map[string]string{"README": "another"}).Permit(githubtest.Self, "write")
	if result, err := d.lookAt(before); err != nil || !result.Forget || d.isKept(before) {
		t.Errorf("the lane of what was there: %+v, %v", result, err)
	}
	d.clock.Add(6 * time.Minute)
	d.poll()
	if after := d.keyOf("acme/two"); after == before {
		t.Error("the other repository has the same key")
	} else if _, err := d.lookAt(after); err != nil {
		t.Error(err)
	}
}

// However many webhooks say that repositories come and go, all are asked for once in
// a minute at most.
func TestPoll_manyHints(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.present() // of a look that came first
	d.github.ResetRequests()
	d.poll()
	if got := d.github.Requests(); len(got) > 0 {
		t.Errorf("the first poll makes a second round: %v", got)
	}
	for range 5 {
		d.clock.Add(10 * time.Second)
		next := d.poll()
		if got := d.github.Requests(); len(got) > 0 || next.Sub(d.clock.Now()) > time.Minute {
			t.Errorf("the next one is in %v, and asked was %v", next.Sub(d.clock.Now()), got)
		}
	}
	d.clock.Add(10 * time.Second)
	d.poll()
	if got := d.github.Requests(); len(got) == 0 {
		t.Error("after a minute nothing is asked")
	}
}

// A registry is away when the webhook comes. The lane is looked at again soon, and less
// soon each time, and the looks of others do not wait for the registry one by one.
func TestLook_aPartThatFailedIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	one, two := d.keyOf("acme/one"), d.keyOf("acme/two")
	for _, key := range []string{one, two} {
		if _, err := d.lookAt(key); err != nil {
			t.Fatal(err)
		}
	}
	d.away.Store(true)
	d.clock.Add(6 * time.Minute)
	d.poll()
	again := func(key string, least, most time.Duration) {
		t.Helper()
		result, err := d.lookAt(key)
		if wait := result.Next.Sub(d.clock.Now()); err != nil || wait < least || wait > most {
			t.Errorf("looked at again in %v, want %v to %v: %v", wait, least, most, err)
		}
	}
	again(one, 20*time.Second, 30*time.Second)
	asked := d.asked.Load()
	again(two, 20*time.Second, 30*time.Second)
	again(one, 45*time.Second, time.Minute)
	if more := d.asked.Load() - asked; asked == 0 || more > 0 {
		t.Errorf("a registry that is away was asked %d times, and then %d", asked, more)
	}
	d.clock.Add(31 * time.Second)
	again(one, 90*time.Second, 2*time.Minute)
	if d.asked.Load() == asked {
		t.Error("a registry that was away is not asked again")
	}
	d.away.Store(false)
	d.clock.Add(31 * time.Second)
	for _, key := range []string{one, two} {
		if result, err := d.lookAt(key); err != nil || !result.Next.IsZero() {
			t.Errorf("after the registry came back: %v, %v", result.Next, err)
		}
	}
	d.away.Store(true)
	d.clock.Add(6 * time.Minute)
	d.poll()
	again(one, 20*time.Second, 30*time.Second)
}

// A defect in a look lets go of the mirror: the next look would wait for it.
func TestWith_aDefectLetsGo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	in := d.present()
	one := in.byKey[d.keyOf("acme/one")]
	var held *workspace.Workspace // so that nothing else closes what it has open
	defer func() { runtime.KeepAlive(held) }()
	func() {
		defer func() { _ = recover() }()
		_ = workspace.Use(t.Context(), in.session, one, workspace.Options{}, func(l *workspace.Workspace) error {
			held = l
			panic("a defect")
		})
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := workspace.Use(ctx, in.session, one, workspace.Options{}, func(*workspace.Workspace) error { return nil }); err != nil {
		t.Error(err)
	}
}
