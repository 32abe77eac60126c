package github_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/secret"
	"promoter/internal/secret/secrettest"
)

// appWorld is a strict GitHub server with one App.
type appWorld struct {
	*githubtest.Server
	of    *githubtest.App
	clock *clock
	app   *github.App
}

func newAppWorld(t *testing.T) *appWorld {
	t.Helper()
	w := &appWorld{clock: newClock()}
	w.Server = githubtest.New(t, githubtest.Options{Now: w.clock.now})
	w.of = w.NewApp("promoter", granted())
	options := optionsOf(w)
	options.Sleep = func(ctx context.Context, wait time.Duration) error { w.clock.pass(wait); return ctx.Err() }
	app, err := github.NewApp(options)
	if err != nil {
		t.Fatal(err)
	}
	w.app = app
	return w
}

func optionsOf(w *appWorld) github.AppOptions {
	return github.AppOptions{
		URL: w.URL(), ID: fmt.Sprint(w.of.ID()), Key: secret.New(w.of.Key()), HTTP: w.Client(), Now: w.clock.now,
	}
}

func TestApp_self(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	for range 2 {
		self, err := w.app.Self(t.Context())
		if err != nil || self.Login != "promoter[bot]" || self.Host != w.Host() || !self.Bot {
			t.Fatalf("got %+v, %v", self, err)
		}
	}
	if n := w.Traffic.Requests()["GET /app"]; n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// GitHub refuses the key of a file that was replaced: the App goes on with the new one. A file that
// has no key keeps the one before.
func TestApp_readsARefusedKeyAgain(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	mount := secrettest.NewMount(t, map[string]string{"key": encoded(t, "PRIVATE KEY", other)})
	options := optionsOf(w)
	if options.Key, err = secret.Checked(mount.Secret("key"), "forge github", github.CheckKey); err != nil {
		t.Fatal(err)
	}
	app, err := github.NewApp(options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.Installations(t.Context()); fault.KindOf(err) != fault.Unauthorized {
		t.Fatalf("with a deleted key: %v", err)
	}
	mount.Swap(map[string]string{"key": w.of.Key()}) // within the second in which the file is not read again
	if _, err := app.Installations(t.Context()); err != nil {
		t.Error(err)
	}
	mount.Swap(map[string]string{"key": "no key"})
	mount.Later()
	if _, err := app.Installations(t.Context()); err != nil {
		t.Error(err)
	}
	if problems := mount.Files.Problems(); len(problems) == 0 || !strings.Contains(problems[0].Reason, "no PEM") {
		t.Errorf("%v", problems)
	}
}

func TestNewApp_keys(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	block, _ := pem.Decode([]byte(w.of.Key()))
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	options := optionsOf(w)
	options.Key = secret.New("words before\n" + encoded(t, "PRIVATE KEY", key))
	app, err := github.NewApp(options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.Self(t.Context()); err != nil {
		t.Errorf("with PKCS#8: %v", err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for text, words := range map[string]string{
		"":                               "is empty",
		"canary-77":                      "is no PEM",
		encoded(t, "PRIVATE KEY", curve): "is no RSA key",
		strings.ReplaceAll(w.of.Key(), "RSA PRIVATE", "PUBLIC"):                                                  "holds no private key",
		strings.ReplaceAll(w.of.Key(), "RSA PRIVATE", "ENCRYPTED PRIVATE"):                                       "decrypt it",
		strings.Replace(w.of.Key(), "KEY-----\n", "KEY-----\nDEK-Info: AES-256-CBC,00\n\n", 1):                   "decrypt it",
		string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: block.Bytes[:len(block.Bytes)/2]})): "damaged",
		encoded(t, "PRIVATE KEY", small(t)):                                                                      "shorter than 2048",
	} {
		options.Key = secret.New(text)
		_, err := github.NewApp(options)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%.40q: %v, want %q", text, err, words)
		}
	}
}

func encoded(t *testing.T, kind string, key any) string {
	t.Helper()
	data, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}))
}

func small(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// No text given as a key causes a panic or appears in an error.
func FuzzNewApp_key(f *testing.F) {
	f.Add([]byte("-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\n"))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\n\n-----END PRIVATE KEY-----\n"))
	f.Add([]byte("no key"))
	f.Fuzz(func(t *testing.T, text []byte) {
		const canary = "canary-5a1c"
		key := secret.New(canary + "\n" + string(text) + "\n" + canary)
		_, err := github.NewApp(github.AppOptions{ID: "1", Key: key, HTTP: http.DefaultClient, Now: time.Now})
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("the error shows the key: %v", err)
		}
	})
}

// GitHub's errors for an App that does not match the config.
func TestApp_refused(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	other := w.NewApp("other", granted())
	for name, test := range map[string]struct {
		change func(*github.AppOptions)
		words  string
	}{
		"a key of another App": {func(o *github.AppOptions) { o.Key = secret.New(other.Key()) }, "check that app.key is a private key of the App"},
		"an id of no App":      {func(o *github.AppOptions) { o.ID = "7" }, "there is no App with this id: check app.id"},
	} {
		options := optionsOf(w)
		test.change(&options)
		app, err := github.NewApp(options)
		if err != nil {
			t.Fatal(err)
		}
		_, err = app.Installations(t.Context())
		if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v, want %q", name, err, test.words)
		}
	}
}

// Clock skew is detected once, compensated, and reported.
func TestApp_skew(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{-time.Hour, -20 * time.Minute, -5 * time.Second, 0, 5 * time.Second, 5 * time.Minute, 3 * time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			w := newAppWorld(t)
			options := optionsOf(w)
			options.Now = func() time.Time { return w.clock.now().Add(ahead) }
			app, err := github.NewApp(options)
			if err != nil {
				t.Fatal(err)
			}
			installed := w.of.Install("acme")
			forge := use(t, app, installed)
			if _, err := forge.Token(t.Context()); err != nil {
				t.Fatal(err)
			}
			wanted := -ahead
			if ahead.Abs() < time.Minute {
				wanted = 0
			}
			if got := app.Skew(); got != wanted {
				t.Errorf("skew %s, want %s", got, wanted)
			}
			w.clock.pass(40 * time.Minute)
			if _, err := forge.Token(t.Context()); err != nil {
				t.Error(err)
			}
			if n := w.Traffic.Requests()["POST /app/installations/{id}/access_tokens"]; n != 1 {
				t.Errorf("%d tokens were asked for", n)
			}
		})
	}
}

// Clock skew of days is not compensated.
func TestApp_skewOfDays(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	options := optionsOf(w)
	options.Now = func() time.Time { return w.clock.now().Add(48 * time.Hour) }
	app, err := github.NewApp(options)
	if err != nil {
		t.Fatal(err)
	}
	_, err = app.Self(t.Context())
	if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "too far in the future: the clock of this machine differs from GitHub's: set it") {
		t.Errorf("got %v", err)
	}
}
