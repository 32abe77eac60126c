package app_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/githubapp"
	"promoter/internal/serverfile"
)

// making is a CreateApp under way.
type making struct {
	*story
	browser
	options githubapp.Options
	opened  chan string
	failed  chan error
	stop    context.CancelFunc
	ended   chan error
	made    githubapp.Created
}

// newMaking prepares a CreateApp against the forge of a story.
func newMaking(t *testing.T) *making {
	t.Helper()
	m := &making{
		story: newStory(t, "github", reviewed), browser: browser{t: t},
		opened: make(chan string, 1), failed: make(chan error, 1), ended: make(chan error, 1),
	}
	file := m.serverFile("create.yaml", fmt.Sprintf(`github: {kind: github, url: "%s", insecure: true, token: "env:NONE"}
  backup: {kind: git, url: "https://git.example.com"}`, m.forge.URL()), "")
	m.options = githubapp.Options{
		Config: file, Organization: "acme", URL: "https://promoter.example.com/", Folder: filepath.Join(m.dir, "made", "app"),
		Env: environ(), Now: m.clock.Now, Log: slog.New(slog.DiscardHandler),
		Opened: func(address string) { m.opened <- address }, Failed: func(err error) { m.failed <- err },
	}
	return m
}

// start begins, and returns the address for the browser.
func (m *making) start() string {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	m.stop = cancel
	m.t.Cleanup(cancel)
	go func() {
		made, err := githubapp.Create(ctx, m.options)
		m.made = made
		m.ended <- err
	}()
	select {
	case address := <-m.opened:
		return address
	case err := <-m.ended:
		m.ended <- err
	}
	select {
	case address := <-m.opened: // before any request
		return address
	default:
		m.t.Fatalf("it ended before anybody could open a page: %v", <-m.ended)
		return ""
	}
}

// nothing checks that there is no file of an App.
func (m *making) nothing() {
	m.t.Helper()
	if left, err := os.ReadDir(m.options.Folder); !errors.Is(err, os.ErrNotExist) {
		m.t.Errorf("the folder holds %v, %v", left, err)
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s has the mode %v, %v", file, info.Mode(), err)
	}
	return string(data)
}

// The whole story: a click creates the App, its files are private, and a service uses
// them, accepts a webhook that the App signs, and reconciles the repositories on which
// it is installed.
func TestCreateApp_thenServed(t *testing.T) {
	t.Parallel()
	m := newMaking(t)
	to := m.press(m.start())
	status, page := m.get(to)
	if err := <-m.ended; err != nil || status != http.StatusOK {
		t.Fatalf("%v, %d\n%s", err, status, page)
	}
	made, of := m.made, m.forge.Apps()[0]
	if !strings.Contains(page, made.App.Install) || !strings.Contains(page, "promoter-acme was created") || strings.Contains(page, "PRIVATE KEY") {
		t.Errorf("the page is\n%s", page)
	}
	want := githubapp.Created{
		App: serverfile.StoredApp{
			Schema: 1, ID: of.ID(), Slug: "promoter-acme", Owner: "acme", ClientID: made.App.ClientID, Page: m.forge.URL() + "/apps/promoter-acme",
			Install:  m.forge.URL() + "/apps/promoter-acme/installations/new",
			Settings: m.forge.URL() + "/organizations/acme/settings/apps/promoter-acme", Hook: "https://promoter.example.com/webhooks/github",
		},
		Forge: "github", URL: m.forge.URL(), Folder: m.options.Folder, Key: filepath.Join(m.options.Folder, "private-key.pem"),
		ClientSecret: filepath.Join(m.options.Folder, "client-secret"), WebhookSecret: filepath.Join(m.options.Folder, "webhook-secret"),
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if content(t, made.Key) != of.Key() || content(t, made.WebhookSecret) != of.Hook().Secret || content(t, made.ClientSecret) == "" {
		t.Error("the files are not what GitHub gave")
	}
	if described := content(t, filepath.Join(made.Folder, "app.json")); strings.Contains(described, of.Hook().Secret) {
		t.Error("app.json has a secret")
	}
	if info, err := os.Stat(made.Folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has the mode %v, %v", info.Mode(), err)
	}
	of.Install("acme", m.repo)
	w := m.serveApp(fmt.Sprintf(`app: {id: %d, key: "file:%s"}`, made.App.ID, made.Key), fmt.Sprintf(`secret: "file:%s"`, made.WebhookSecret))
	w.until("reconciled")
	w.signedBy(of.Hook().Secret, http.StatusAccepted)
	w.signedBy("another", http.StatusUnauthorized)
	w.until("reconciled")
	w.stop()
}

// An error that can be known before is reported before there is an App or a page.
func TestCreateApp_refusedBefore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*making)
		words  string
	}{
		"a key is there":        {func(m *making) { m.write("made/app/private-key.pem", "a user's") }, "private-key.pem is there already, and is never written over"},
		"an App is there":       {func(m *making) { m.write("made/app/app.json", "a user's") }, "app.json is there already"},
		"the folder is a file":  {func(m *making) { m.write("made/app", "a user's") }, "folder of the App"},
		"below a file":          {func(m *making) { m.write("made", "a user's") }, "folder of the App"},
		"no name of a forge":    {func(m *making) { m.options.Forge = "../GitHub" }, `--forge "../GitHub": write small letters`},
		"another kind of forge": {func(m *making) { m.options.Forge = "backup" }, "--forge backup: it is of kind git"},
		"no organization":       {func(m *making) { m.options.Organization = "acme/gitops" }, `"acme/gitops" is not the name of an organization`},
		"an unknown permission": {func(m *making) { m.options.With = []string{"secrets"} }, "write administration or deployments or checks or workflows"},
		"no GitHub":             {func(m *making) { m.options.GitHub = "github.com" }, "the URL of GitHub"},
		"a URL of nowhere":      {func(m *making) { m.options.URL = "promoter.example.com" }, "--url: write https://HOST"},
		"a URL of this machine": {func(m *making) { m.options.URL = "http://localhost:8080" }, "GitHub does not reach this machine"},
		"networks twice":        {func(m *making) { m.options.Networks = []string{"10.0.0.0/8"} }, "write networks in"},
		"no file":               {func(m *making) { m.options.Config += "x" }, "read the server file"},
		"a long name":           {func(m *making) { m.options.Name = strings.Repeat("x", 35) }, "longer than 34 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMaking(t)
			test.change(m)
			_, err := githubapp.Create(t.Context(), m.options)
			if err == nil || !strings.Contains(err.Error(), test.words) {
				t.Errorf("got %v, want %q", err, test.words)
			}
			if len(m.opened) > 0 || len(m.forge.Apps()) > 0 {
				t.Error("somebody was asked")
			}
		})
	}
}

// Requests of others, and users who go back, change nothing: the page stays until
// Ctrl-C.
func TestCreateApp_browser(t *testing.T) {
	t.Parallel()
	m := newMaking(t)
	address := m.start()
	back := address[:strings.LastIndex(address, "/")]
	for what, at := range map[string]string{"an invented state": back + "?state=x&code=y", "no state": back + "?code=y", "a wrong secret": back + "/x"} {
		if status, page := m.get(at); status != http.StatusUnauthorized || !strings.Contains(page, "Nothing can be set up at this address") {
			t.Errorf("%s: %d\n%s", what, status, page)
		}
	}
	_, page := m.get(address)
	action, err := url.Parse(formAction.FindStringSubmatch(page)[1])
	if err != nil {
		t.Fatal(err)
	}
	if status, page := m.get(back + "?" + action.RawQuery); status != http.StatusBadRequest || !strings.Contains(page, "no App was created") {
		t.Errorf("who turned back: %d\n%s", status, page)
	}
	m.stop()
	if err := <-m.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("after Ctrl-C: %v", err)
	}
	m.nothing()
}

// No browser comes.
func TestCreateApp_timeout(t *testing.T) {
	t.Parallel()
	m := newMaking(t)
	m.options.Timeout = time.Second // until then the page must exist
	m.start()
	if err := <-m.ended; err == nil || !strings.Contains(err.Error(), "nothing was created in the browser within the time: nothing was written") {
		t.Errorf("got %v", err)
	}
	m.nothing()
}

// GitHub is down for a moment: the same page is reloaded. A code that it does not know
// is an error.
func TestCreateApp_conversion(t *testing.T) {
	t.Parallel()
	const route = "POST /app-manifests"
	m := newMaking(t)
	to := m.press(m.start())
	m.forge.Fail(route, http.StatusBadGateway, "canary of the answer")
	if status, _ := m.get(to); status != http.StatusServiceUnavailable {
		t.Errorf("while GitHub is away: %d", status)
	}
	if err := <-m.failed; fault.KindOf(err) != fault.Temporary {
		t.Errorf("%v", err)
	}
	if status, page := m.get(to); status != http.StatusOK {
		t.Errorf("when it is back: %d\n%s", status, page)
	}
	if err := <-m.ended; err != nil || m.made.App.ID == 0 {
		t.Errorf("%+v, %v", m.made, err)
	}

	m = newMaking(t)
	to = m.press(m.start())
	m.forge.Traffic.Lose(route)
	if status, _ := m.get(to); status != http.StatusServiceUnavailable {
		t.Errorf("the answer was lost: %d", status)
	}
	if err := <-m.failed; fault.KindOf(err) != fault.Temporary {
		t.Errorf("%v", err)
	}
	if status, page := m.get(to); status != http.StatusNotFound || !strings.Contains(page, "was used before") {
		t.Errorf("the code was used: %d\n%s", status, page)
	}
	if err := <-m.ended; fault.KindOf(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
	m.nothing()
}

// The folder is deleted before the key arrives: the error contains that, and which App
// to delete.
func TestCreateApp_folderIsGone(t *testing.T) {
	t.Parallel()
	m := newMaking(t)
	to := m.press(m.start())
	m.write("made/app/webhook-secret", "a user's")
	status, page := m.get(to)
	err := <-m.ended
	if status != http.StatusConflict || err == nil || !strings.Contains(err.Error(), "GitHub created an App whose credentials cannot be stored, so delete it there") {
		t.Errorf("%d, %v\n%s", status, err, page)
	}
	if n := m.forge.Traffic.Requests()["POST /app-manifests/{code}/conversions"]; n != 0 {
		t.Errorf("the code was used %d times", n)
	}
}

// Without an address for webhooks the App has none, and there is no file for its
// secret; the user chooses the name.
func TestCreateApp_withoutWebhook(t *testing.T) {
	t.Parallel()
	m := newMaking(t)
	m.options.URL, m.options.Organization, m.options.Name, m.options.Public = "", "", "robot", true
	m.get(m.press(m.start()))
	if err := <-m.ended; err != nil {
		t.Fatal(err)
	}
	if m.made.WebhookSecret != "" || m.made.App.Slug != "robot" || m.made.App.Owner != "app-owner" || m.forge.Apps()[0].Hook() != nil {
		t.Errorf("got %+v", m.made)
	}
	left, err := os.ReadDir(m.made.Folder)
	if err != nil || len(left) != 3 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}
