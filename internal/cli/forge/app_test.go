package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	serverconfig "promoter/internal/config/server"

	"promoter/internal/cli/console"
	"promoter/internal/scm/github/githubtest"
)

// lookout is a standard error from which a test reads the address.
type lookout struct {
	text    strings.Builder
	address chan string
}

var shownAddress = regexp.MustCompile(`(?m)^  (http://127\.0\.0\.1:\d+/setup/\S+)$`)

func (l *lookout) Write(p []byte) (int, error) {
	if found := shownAddress.FindSubmatch(p); found != nil {
		l.address <- string(found[1])
	}
	return l.text.Write(p)
}

func (l *lookout) String() string { return l.text.String() }

// creation is an 'app create' under way.
type creation struct {
	out   bytes.Buffer
	err   *lookout
	ended chan int
	stop  context.CancelFunc
}

func create(t *testing.T, args ...string) *creation {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	c := &creation{err: &lookout{address: make(chan string, 1)}, ended: make(chan int, 1), stop: cancel}
	none := func(string) (string, bool) { return "", false }
	go func() {
		system := console.System{In: strings.NewReader(""), Out: &c.out, Err: c.err, Env: none}
		c.ended <- console.Run(ctx, NewApp(system), append([]string{"create"}, args...), system)
	}()
	return c
}

// press opens a page, presses its button and GitHub's, and comes back.
func press(t *testing.T, address string) {
	t.Helper()
	page := ask(t, http.MethodGet, address, nil)
	action := regexp.MustCompile(`action="([^"]+)"`).FindStringSubmatch(page)
	manifest := regexp.MustCompile(`value="([^"]+)"`).FindStringSubmatch(page)
	if action == nil || manifest == nil {
		t.Fatalf("no button in\n%s", page)
	}
	page = ask(t, http.MethodPost, html.UnescapeString(action[1]), url.Values{"manifest": {html.UnescapeString(manifest[1])}})
	if !strings.Contains(page, "was created") {
		t.Errorf("the last page is\n%s", page)
	}
}

func ask(t *testing.T, method, address string, form url.Values) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// fileFor is a server file that knows the GitHub of a test.
func fileFor(t *testing.T, s *githubtest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "server.yaml")
	text := fmt.Sprintf("version: 1\nforges:\n  hub: {kind: github, url: %q, insecure: true, token: \"env:NONE\"}\nnetworks: [127.0.0.0/8]\n", s.URL())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Standard output has the lines for the server file, and nothing else.
func TestAppCreate_text(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, githubtest.Options{})
	folder := filepath.Join(t.TempDir(), "an app")
	c := create(t, "--config", fileFor(t, s), "--forge", "hub", "--org", "acme", "--url", "https://promoter.example.com", "--out", folder)
	press(t, <-c.err.address)
	if code := <-c.ended; code != 0 {
		t.Fatalf("exit %d: %s", code, c.err)
	}
	text := "version: 1\nnetworks: [127.0.0.0/8]\n" + strings.Replace(c.out.String(), "kind: github, url", "kind: github, insecure: true, url", 1)
	loaded, problems := serverconfig.Load("server.yaml", []byte(text), func(string) (string, bool) { return "", false })
	if len(problems) > 0 {
		t.Fatalf("%v in\n%s", problems, text)
	}
	of := s.Apps()[0]
	forge, receiver := loaded.Forges[0], loaded.Receivers[0]
	if forge.Name != "hub" || forge.App.ID != of.ID() || forge.URL != s.URL() || forge.App.Key.String() != "file:"+filepath.Join(folder, "private-key.pem") ||
		receiver.Name != "hub" || receiver.Secret.String() != "file:"+filepath.Join(folder, "webhook-secret") {
		t.Errorf("got\n%s", c.out.String())
	}
	messages := c.err.String()
	for _, want := range []string{
		"promoter: open this address in a browser", "promoter: promoter-acme was made; its credentials are in " + folder,
		"1. install it: " + s.URL() + "/apps/promoter-acme/installations/new", "3. let GitHub reach https://promoter.example.com/webhooks/hub",
	} {
		if !strings.Contains(messages, want) {
			t.Errorf("no %q in\n%s", want, messages)
		}
	}
	if strings.Contains(messages+c.out.String(), of.Hook().Secret) || strings.Contains(messages+c.out.String(), "PRIVATE") {
		t.Errorf("a secret is shown:\n%s%s", messages, c.out.String())
	}
}

func TestAppCreate_json(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, githubtest.Options{})
	folder := filepath.Join(t.TempDir(), "app")
	c := create(t, "--config", fileFor(t, s), "--forge", "hub", "--name", "robot", "--out", folder, "--with", "workflows", "-o", "json")
	press(t, <-c.err.address)
	if code := <-c.ended; code != 0 {
		t.Fatalf("exit %d: %s", code, c.err)
	}
	var told struct {
		Schema int
		App    struct {
			ID                             int64
			Slug, Owner, ClientID, Install string
		}
		Files     struct{ PrivateKey, ClientSecret, WebhookSecret string }
		Forges    map[string]struct{ App struct{ Key string } }
		Receivers map[string]any
	}
	if err := json.Unmarshal(c.out.Bytes(), &told); err != nil {
		t.Fatalf("%v in\n%s", err, c.out.String())
	}
	of := s.Apps()[0]
	if told.Schema != 1 || told.App.ID != of.ID() || told.App.Slug != "robot" || told.App.ClientID == "" || told.Files.WebhookSecret != "" ||
		told.Forges["hub"].App.Key != "file:"+told.Files.PrivateKey || told.Receivers == nil || len(told.Receivers) > 0 {
		t.Errorf("got\n%s", c.out.String())
	}
	if of.Permissions()["workflows"] != "write" || of.Permissions()["administration"] != "" {
		t.Errorf("the App asks for %v", of.Permissions())
	}
}

// After Ctrl-C, the message is that nothing was written.
func TestAppCreate_interrupted(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, githubtest.Options{})
	c := create(t, "--config", fileFor(t, s), "--forge", "hub", "--out", filepath.Join(t.TempDir(), "app"))
	<-c.err.address
	c.stop()
	if code := <-c.ended; code != 130 || !strings.Contains(c.err.String(), "no credentials were written") || c.out.Len() > 0 {
		t.Errorf("exit %d: %s", code, c.err)
	}
}
