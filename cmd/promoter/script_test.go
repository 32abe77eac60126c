package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/rogpeppe/go-internal/testscript"

	"promoter/internal/scm/github/githubtest"
	"promoter/internal/signature/signaturetest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"promoter": main})
}

// TestScript drives the command as a person would: testdata/script holds a file
// for each behavior, with the files, the commands and what they print.
func TestScript(t *testing.T) {
	t.Parallel()
	keys, forges := &signingKeys{all: map[string]signaturetest.Key{}}, &forges{all: map[string]*githubtest.Repository{}}
	running := &services{stop: map[string]func(){}}
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUpScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"registry":  startRegistry,
			"gitserver": startGit,
			"push":      push,
			"newkey":    keys.make,
			"sign":      keys.sign,
			"expand":    expand,
			"bytes":     writeBytes,
			"serve":     running.start,
			"stop":      running.end,
			"report":    report,
			"await":     await,
			"github":    forges.start,
			"pr":        forges.act,
		},
	})
}

// setUpScript keeps the person's own settings out.
func setUpScript(env *testscript.Env) error {
	env.Setenv("DOCKER_CONFIG", env.WorkDir+"/no-docker-config")
	env.Setenv("GIT_CONFIG_GLOBAL", env.WorkDir+"/no-git-config")
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Values[testKey{}] = env.T()
	return nil
}

// startRegistry starts a registry on loopback; $REGISTRY is its host.
func startRegistry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: registry")
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	ts.Defer(server.Close)
	ts.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
}

// startGit serves the bare repositories of the script's folder over HTTP, by Git's
// own server side; $GITSERVER is its host. Password pushes, the user name is ann.
func startGit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: gitserver")
	}
	git, err := exec.LookPath("git")
	ts.Check(err)
	backend := &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: ts.Getenv("WORK"),
		Env:    []string{"GIT_PROJECT_ROOT=" + ts.Getenv("WORK"), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=ann"},
		Stderr: io.Discard,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ann" || password != "gate-7" {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv("GITSERVER", strings.TrimPrefix(server.URL, "http://"))
}

// push pushes an image under a tag: push REPOSITORY:TAG SEED [VARIABLE]. The same
// seed gives the same digest, which VARIABLE takes.
func push(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: push REPOSITORY:TAG SEED [VARIABLE]")
	}
	digest, err := pushImage(args[0], args[1])
	ts.Check(err)
	if len(args) == 3 {
		ts.Setenv(args[2], digest)
	}
}

// pushImage pushes an image, or a chart where the name of the repository has the folder charts.
func pushImage(reference, seed string) (string, error) {
	tag, err := name.NewTag(reference)
	if err != nil {
		return "", err
	}
	image, err := mutate.Config(empty.Image, v1.Config{Labels: map[string]string{"seed": seed}})
	if err != nil {
		return "", err
	}
	if strings.Contains(reference, "/charts/") {
		image = mutate.ConfigMediaType(image, "application/vnd.cncf.helm.config.v1+json")
	}
	digest, err := image.Digest()
	if err != nil {
		return "", err
	}
	return digest.String(), remote.Write(tag, image)
}

// signingKeys are the keys with which scripts sign images, by the file that names them.
type signingKeys struct {
	mu  sync.Mutex
	all map[string]signaturetest.Key
}

// make makes a key, and writes its public part to FILE.pub.
func (k *signingKeys) make(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: newkey FILE")
	}
	key, err := signaturetest.NewKey()
	ts.Check(err)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[ts.MkAbs(args[0])] = key
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o755))
	writeFile(ts, args[0]+".pub", key.Public)
}

// sign signs an image in a registry as cosign does.
func (k *signingKeys) sign(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sign FILE REPOSITORY:TAG")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key, ok := k.all[ts.MkAbs(args[0])]
	if !ok {
		ts.Fatalf("there is no key %s", args[0])
	}
	ts.Check(key.Sign(args[1]))
}

// expand replaces $VARIABLE in files by its value, for the hosts and digests that
// only the run knows.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: expand FILE...")
	}
	for _, file := range args {
		text := ts.ReadFile(file)
		for _, variable := range []string{"REGISTRY", "GITSERVER", "GITHUB", "SERVICE", "WORK", "D1", "D2", "D3", "D4", "D5"} {
			text = strings.ReplaceAll(text, "$"+variable, ts.Getenv(variable))
		}
		writeFile(ts, file, text)
	}
}

// writeBytes writes a file with the escapes of Go strings: bytes FILE TEXT.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes FILE TEXT")
	}
	var text string
	_, err := fmt.Sscanf(`"`+args[1]+`"`, "%q", &text)
	ts.Check(err)
	writeFile(ts, args[0], text)
}

func writeFile(ts *testscript.TestScript, file, text string) {
	ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o644))
}
