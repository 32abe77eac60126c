package local

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
)

// canary is a password that must be seen nowhere but by its registry, and token
// what its token service makes of it.
const (
	canary = "canary-5e7d0c-password"
	token  = "canary-91ab44-token"
)

// hostile is a registry that answers each repository in its own wrong way, and
// repeats the credential wherever an error could carry it on.
type hostile struct {
	bearer    bool
	host      string                             // its own
	elsewhere string                             // another
	cancel    atomic.Pointer[context.CancelFunc] // called by a repository that never answers
	sawCanary atomic.Bool
}

func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent := r.Header.Get("Authorization")
	if name, password, ok := r.BasicAuth(); ok && name == "robot" && password == canary {
		h.sawCanary.Store(true)
	}
	switch {
	case r.URL.Path == "/token":
		h.token(w, r, sent)
	case sent == "":
		challenge := `Basic realm="x"`
		if h.bearer {
			challenge = fmt.Sprintf(`Bearer realm="http://%s/token",service="x"`, r.Host)
		}
		w.Header().Set("WWW-Authenticate", challenge)
		h.fail(w, http.StatusUnauthorized, sent)
	case r.URL.Path == "/v2/":
		w.WriteHeader(http.StatusOK)
	default:
		h.answer(w, r, strings.Split(r.URL.Path, "/")[3], sent)
	}
}

func (h *hostile) token(w http.ResponseWriter, r *http.Request, sent string) {
	if name, ok := strings.CutPrefix(r.URL.Query().Get("scope"), "repository:acme/token-"); ok {
		h.answer(w, r, strings.Split(name, ":")[0], sent)
		return
	}
	_, _ = fmt.Fprintf(w, `{"token": %q}`, token)
}

func (h *hostile) answer(w http.ResponseWriter, r *http.Request, way, sent string) {
	echo := sent + " " + canary + " " + token
	switch way {
	case "unauthorized":
		w.Header().Set("WWW-Authenticate", `Basic realm="`+echo+`"`)
		h.fail(w, http.StatusUnauthorized, sent)
	case "forbidden":
		h.fail(w, http.StatusForbidden, sent)
	case "missing":
		h.fail(w, http.StatusNotFound, sent)
	case "failing":
		h.fail(w, http.StatusInternalServerError, sent)
	case "limited":
		w.Header().Set("Retry-After", "3600")
		h.fail(w, http.StatusTooManyRequests, sent)
	case "redirect":
		http.Redirect(w, r, "http://"+h.elsewhere+"/?token="+token, http.StatusTemporaryRedirect)
	case "login": // only what the registry itself gives away may go to its own address
		http.Redirect(w, r, "http://robot:"+canary+"@"+r.Host+"/v2/acme/redirect/tags/list", http.StatusTemporaryRedirect)
	case "loop":
		http.Redirect(w, r, r.URL.Path+"?token="+token, http.StatusTemporaryRedirect)
	case "garbage":
		_, _ = w.Write([]byte(`{"tags": ["` + token))
	case "closing":
		panic(http.ErrAbortHandler)
	case "slow":
		(*h.cancel.Load())()
		<-r.Context().Done()
	}
}

func (h *hostile) fail(w http.ResponseWriter, code int, sent string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"errors":[{"code":"UNAUTHORIZED","message":"not with authorization: %s","detail":%q}]}`, sent, sent)
}

func hostOf(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(new(strings.Builder), "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// leaked returns the secrets that a text contains, in any of their forms.
func leaked(text string) []string {
	var found []string
	for _, secret := range []string{canary, token, base64.StdEncoding.EncodeToString([]byte("robot:" + canary)), "canary-"} {
		if strings.Contains(text, secret) {
			found = append(found, secret)
		}
	}
	return found
}

// A password of the user's Docker or Podman configuration goes to its registry and shows
// up nowhere: in no output, in no error, in no file of the cache, at no other
// host.
func TestCanary_noCredentialInAnyOutput(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Value
	other := hostOf(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.Contains(fmt.Sprint(r.Header), "canary-") || r.Header.Get("Authorization") != "" {
			elsewhere.Store(fmt.Sprint(r.Header))
		}
	}))
	ways := []string{"unauthorized", "forbidden", "missing", "failing", "limited", "redirect", "login", "loop", "garbage", "closing", "slow"}
	registries, logins := map[string]*hostile{}, map[string]map[string]string{}
	for _, way := range ways {
		for _, name := range []string{"basic " + way, "bearer " + way, "bearer token-" + way} {
			h := &hostile{bearer: strings.HasPrefix(name, "bearer"), elsewhere: other}
			h.host = hostOf(t, h)
			registries[name] = h
			logins[h.host] = map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("robot:" + canary))}
		}
	}
	config, err := json.Marshal(map[string]any{"auths": logins})
	if err != nil {
		t.Fatal(err)
	}
	docker := "DOCKER_CONFIG=" + consoletest.Folder(t, map[string]string{"config.json": string(config)})
	podman := "REGISTRY_AUTH_FILE=" + filepath.Join(consoletest.Folder(t, map[string]string{"auth.json": string(config)}), "auth.json")
	t.Run("ways", func(t *testing.T) {
		for name, h := range registries {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				_, repository, _ := strings.Cut(name, " ")
				for _, setting := range []string{docker, podman} {
					h.sawCanary.Store(false)
					tryCanary(t, h, setting, h.host+"/acme/"+repository, strings.HasSuffix(name, "slow"))
				}
			})
		}
	})
	if got := elsewhere.Load(); got != nil {
		t.Errorf("another host got %v", got)
	}
}

// tryCanary plans with one repository in every form of output.
func tryCanary(t *testing.T, h *hostile, setting, repository string, slow bool) {
	t.Helper()
	dir, cache := consoletest.Folder(t, map[string]string{
		".promoter.yaml": "version: 1\ncomponents:\n  web: {image: " + repository + ", select: {semver: \">=1\"}}\nenvironments:\n  dev: {}\n",
		"app.yaml":       "image: " + repository + ":1.0.0\n",
	}), t.TempDir()
	for form, command := range map[string]func(console.System) *cobra.Command{"text": NewPlan, "json": NewApply} {
		ctx, cancel := context.WithCancel(t.Context())
		want := console.ExitFailed
		if slow {
			want = console.ExitSignal
			h.cancel.Store(&cancel)
		}
		c := consoletest.New(setting)
		c.System.ErrTerminal = true
		code := c.Run(ctx, command, "-o", form, "--dir", dir, "--cache", cache)
		cancel()
		output := c.Out.String() + c.Err.String()
		if code != want {
			t.Errorf("-o %s: exit %d\n%s", form, code, output)
		}
		if !h.sawCanary.Load() {
			t.Errorf("-o %s: the credential was never sent, so nothing was tried", form)
		}
		if found := leaked(output); len(found) > 0 {
			t.Errorf("-o %s: %q in the output:\n%s", form, found, output)
		}
	}
	err := filepath.WalkDir(cache, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if found := leaked(name + string(content)); len(found) > 0 {
			t.Errorf("%q in the cache file %s", found, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
