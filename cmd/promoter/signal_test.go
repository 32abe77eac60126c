//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"promoter/internal/cli/console"
	"promoter/internal/database/databasetest"
	"promoter/internal/rendered"
	"promoter/internal/scm/github/githubtest"
)

// promise is how long a process may take to end after SIGTERM: docs/commands.md.
const promise = 20 * time.Second

// host is a Git server and a registry. A request that stalls gets no response until the end of the test.
type host struct {
	t        *testing.T
	folder   string
	git, reg *httptest.Server
	over     chan struct{}

	mu     sync.Mutex
	stalls func(r *http.Request) bool
	seen   chan struct{} // closed by the first request that stalls
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, folder: t.TempDir(), over: make(chan struct{}), seen: make(chan struct{})}
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	backend := &cgi.Handler{
		Path: program, Args: []string{"http-backend"}, Dir: h.folder, Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + h.folder, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=ann"},
	}
	h.git = httptest.NewServer(h.stalling(backend))
	h.reg = httptest.NewServer(h.stalling(registry.New(registry.Logger(log.New(io.Discard, "", 0)))))
	t.Cleanup(h.git.Close)
	t.Cleanup(h.reg.Close)
	t.Cleanup(func() { close(h.over) })
	return h
}

func (h *host) stalling(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		stalled := h.stalls != nil && h.stalls(r)
		if stalled {
			select {
			case <-h.seen:
			default:
				close(h.seen)
			}
		}
		h.mu.Unlock()
		if stalled {
			<-h.over
			return
		}
		next.ServeHTTP(w, r)
	})
}

// stall lets requests stall from now on.
func (h *host) stall(which func(r *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stalls = which
}

func (h *host) registry() string { return strings.TrimPrefix(h.reg.URL, "http://") }

// repository makes the repository acme/one. $R is the registry.
func (h *host) repository(files map[string]string) {
	h.t.Helper()
	work := h.t.TempDir()
	for name, text := range files {
		file := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			h.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "$R", h.registry())), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
	for _, arguments := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=ann", "-c", "user.email=ann@example.com", "commit", "-qm", "begin"},
		{"clone", "-q", "--bare", work, filepath.Join(h.folder, "acme", "one.git")},
		{"-C", filepath.Join(h.folder, "acme", "one.git"), "config", "http.receivepack", "true"},
	} {
		command := exec.CommandContext(h.t.Context(), "git", arguments...)
		command.Dir = work
		if out, err := command.CombinedOutput(); err != nil {
			h.t.Fatalf("git %q: %v\n%s", arguments, err, out)
		}
	}
}

// push pushes versions of web.
func (h *host) push(tags ...string) {
	h.t.Helper()
	for _, tag := range tags {
		if _, err := pushImage(h.registry()+"/acme/web:"+tag, tag); err != nil {
			h.t.Fatal(err)
		}
	}
}

// serverFile is that of the repository.
func (h *host) serverFile() string {
	return "forges:\n  local: {kind: git, url: \"" + h.git.URL + "\", insecure: true}\n" +
		"repositories: [{forge: local, name: acme/one}]\nregistries: [{host: \"" + h.registry() + "\", insecure: true}]\n"
}

// program is a process of the built program.
type program struct {
	t       *testing.T
	command *exec.Cmd
	out     bytes.Buffer
}

// start starts a command with a server file.
func start(t *testing.T, serverFile string, environment []string, arguments ...string) *program {
	t.Helper()
	return startWith(t, nil, serverFile, environment, arguments...)
}

// startWith starts a command whose messages go to a file; nil: they are logged.
func startWith(t *testing.T, messages *os.File, serverFile string, environment []string, arguments ...string) *program {
	t.Helper()
	binary, err := exec.LookPath("promoter")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "server.yaml")
	serverFile = "version: 1\nlisten: 127.0.0.1:0\nnetworks: [127.0.0.0/8]\n" + serverFile
	if err := os.WriteFile(file, []byte(serverFile), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, command: exec.CommandContext(context.WithoutCancel(t.Context()), binary, append(arguments, "--config", file)...)}
	p.command.Dir, p.command.Stdout, p.command.Stderr = folder, &p.out, &p.out
	if messages != nil {
		p.command.Stderr = messages
	}
	p.command.Env = append(os.Environ(), append(environment, "DOCKER_CONFIG="+folder, "TMPDIR="+folder)...)
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// terminate ends a process when something is seen, and returns its exit code.
func (p *program) terminate(seen <-chan struct{}) int {
	p.t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.command.Wait() // its exit code is compared
	}()
	defer func() {
		_ = p.command.Process.Kill()
		<-ended
		p.t.Logf("%.3000s", p.out.String())
	}()
	select {
	case <-seen:
	case <-ended:
		p.t.Fatal("it ended before the signal")
	case <-time.After(3 * time.Minute):
		p.t.Fatal("it does not come to that")
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(promise):
		p.t.Errorf("it does not end within %s", promise)
		return -1
	}
	return p.command.ProcessState.ExitCode()
}

const webConfig = "version: 1\ncomponents:\n  web: {image: $R/acme/web, select: {semver: \">=1\"}}\nenvironments:\n  dev: {paths: [dev], land: push}\n"

func web() map[string]string {
	return map[string]string{".promoter.yaml": webConfig, "dev/app.yaml": "image: $R/acme/web:1.4.0\n"}
}

// slowFiles are dense with references, and take long to parse.
func slowFiles() map[string]string {
	files := web()
	for i := range 60 {
		files[fmt.Sprintf("dev/more%d.yaml", i)] = "a:\n" + strings.Repeat("- {image: $R/acme/web:1.4.0}\n", 16_000)
	}
	return files
}

// slowPlan has as many environments as a config may have, each after many others.
func slowPlan() map[string]string {
	files := web()
	var text strings.Builder
	text.WriteString("version: 1\ncomponents:\n  web: {image: $R/acme/web, select: {semver: \">=1\"}}\nenvironments:\n")
	for i := range 100 {
		fmt.Fprintf(&text, "  e%d: {paths: [\"e%d/{application}.yaml\"], land: push", i, i)
		var after []string
		for j := max(0, i-45); j < i; j++ {
			after = append(after, fmt.Sprintf("e%d", j))
		}
		if i > 0 {
			fmt.Fprintf(&text, ", after: [%s]", strings.Join(after, ", "))
		}
		text.WriteString("}\n")
		for _, name := range []string{"a", "b", "c", "d"} {
			files[fmt.Sprintf("e%d/%s.yaml", i, name)] = "image: $R/acme/web:1.4.0\n"
		}
	}
	files[".promoter.yaml"] = text.String()
	return files
}

// A process ends within the documented time after SIGTERM, whatever runs.
func TestSignal_endsRunAndServeWhateverRuns(t *testing.T) {
	t.Parallel()
	post := func(suffix string) func(r *http.Request) bool {
		return func(r *http.Request) bool {
			return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, suffix)
		}
	}
	for name, test := range map[string]struct {
		files map[string]string
		stall func(r *http.Request) bool
		goOn  bool // the request gets its response: what follows it runs at the signal
	}{
		"a list of branches that stalls": {web(), func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/info/refs") }, false},
		"a fetch that stalls":            {web(), post("/git-upload-pack"), false},
		"a push that stalls":             {web(), post("/git-receive-pack"), false},
		"a registry that stalls":         {web(), func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v2/acme/") }, false},
		"files that take long":           {slowFiles(), post("/git-upload-pack"), true},
		"a plan that takes long": {slowPlan(), func(r *http.Request) bool {
			return strings.HasPrefix(r.URL.Path, "/v2/acme/web/manifests/")
		}, true},
	} {
		for _, command := range []string{"run", "serve"} {
			t.Run(name+", "+command, func(t *testing.T) {
				t.Parallel()
				if testing.Short() && !test.goOn && command == "serve" && !strings.HasPrefix(name, "a push") {
					t.Skip("it waits for the end of the drain, as a push that stalls does")
				}
				h := newHost(t)
				h.repository(test.files)
				h.push("1.4.0", "1.5.0")
				if test.goOn {
					h.stall(func(r *http.Request) bool {
						if test.stall(r) {
							select {
							case <-h.seen:
							default:
								close(h.seen)
							}
						}
						return false
					})
				} else {
					h.stall(test.stall)
				}
				want := map[string]int{"run": console.ExitSignal, "serve": console.ExitDone}[command]
				if code := start(t, h.serverFile(), nil, command).terminate(h.seen); code != want {
					t.Errorf("exit code %d, want %d", code, want)
				}
			})
		}
	}
}

// A chart that renders for minutes.
func TestSignal_endsWhileManifestsAreRendered(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"run", "serve"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.push("1.4.0", "1.5.0")
			server := githubtest.New(t, githubtest.Options{})
			files := map[string]string{
				".promoter.yaml":             strings.ReplaceAll(webConfig, "land: push", "land: pr, pullRequest: {rendered: true}"),
				"dev/chart/Chart.yaml":       "apiVersion: v2\nname: shop\nversion: 0.1.0\n",
				"dev/chart/values.yaml":      "image: {repository: $R/acme/web, tag: 1.4.0}\n",
				"dev/chart/templates/a.yaml": "{{ range until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}",
			}
			for name, text := range files {
				files[name] = strings.ReplaceAll(text, "$R", h.registry())
			}
			repository := server.NewRepository("acme/one", files)
			repository.Settings.Permit(githubtest.Self, "write")
			serverFile := "forges:\n  hub: {kind: github, url: \"http://" + server.Host() + "\", insecure: true, token: \"env:TOKEN\"}\n" +
				"repositories: [{forge: hub, name: acme/one}]\nregistries: [{host: \"" + h.registry() + "\", insecure: true}]\n" +
				"rendering: {repositories: [\"**\"]}\n"
			p := start(t, serverFile, []string{"TOKEN=" + server.Token(githubtest.Self, "repo", "read:org")}, command)
			want := map[string]int{"run": console.ExitSignal, "serve": console.ExitDone}[command]
			if code := p.terminate(p.rendering()); code != want {
				t.Errorf("exit code %d, want %d", code, want)
			}
		})
	}
}

// rendering is closed when the process has a child that renders.
func (p *program) rendering() <-chan struct{} {
	seen := make(chan struct{})
	ctx := p.t.Context()
	go func() {
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for {
			select {
			case <-again.C:
			case <-ctx.Done():
				return
			}
			folders, err := filepath.Glob("/proc/[0-9]*")
			if err != nil {
				continue
			}
			for _, folder := range folders {
				arguments, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
				status, _ := os.ReadFile(filepath.Join(folder, "stat"))
				_, after, _ := strings.Cut(string(status), ") ") // the state, and the parent
				fields := strings.Fields(after)
				if bytes.Contains(arguments, []byte(rendered.Command)) && len(fields) > 1 && fields[1] == strconv.Itoa(p.command.Process.Pid) {
					close(seen)
					return
				}
			}
		}
	}()
	return seen
}

// A database that does not answer: at the start, and later.
func TestSignal_endsWithADatabaseThatStalls(t *testing.T) { //nolint:paralleltest // it starts a database
	databasetest.Start(t)
	for name, after := range map[string]int64{"at the start": 0, "later": 1} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			h.repository(web())
			h.push("1.4.0", "1.5.0")
			var url string
			for _, kind := range databasetest.Kinds() {
				if o := kind.New(t); !o.URL.IsZero() {
					url = o.URL.Reveal()
				}
			}
			proxied, freeze := freezable(t, url)
			if after == 0 {
				freeze()
			} else { // while a reconciliation waits for the registry
				h.stall(func(r *http.Request) bool {
					stalls := strings.HasPrefix(r.URL.Path, "/v2/acme/")
					if stalls {
						freeze()
					}
					return stalls
				})
			}
			p := start(t, h.serverFile()+"database: {url: \"env:DATABASE\"}\n", []string{"DATABASE=" + proxied.url}, "serve")
			seen := h.seen
			if after == 0 {
				seen = proxied.used
			}
			if code := p.terminate(seen); code == -1 {
				t.Error("it was killed")
			}
		})
	}
}

// frozen is an address of a database that stalls.
type frozen struct {
	url  string
	used chan struct{} // closed at the first connection
}

// freezable returns an address of a database, and a function that lets it stall.
func freezable(t *testing.T, url string) (proxied frozen, freeze func()) {
	t.Helper()
	begin := strings.LastIndex(url, "@") + 1
	address, _, _ := strings.Cut(url[begin:], "/")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	stopped := make(chan struct{})
	over := t.Context()
	proxied = frozen{url: strings.Replace(url, address, listener.Addr().String(), 1), used: make(chan struct{})}
	once := sync.OnceFunc(func() { close(proxied.used) })
	pass := func(to io.WriteCloser, from io.Reader) {
		buffer := make([]byte, 32<<10)
		for {
			n, err := from.Read(buffer)
			select {
			case <-stopped:
				<-over.Done()
			default:
			}
			if err != nil {
				_ = to.Close()
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			once()
			server, err := new(net.Dialer).DialContext(over, "tcp", address)
			if err != nil {
				_ = client.Close()
				continue
			}
			go pass(server, client)
			go pass(client, server)
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
	return proxied, func() {
		mu.Lock()
		defer mu.Unlock()
		select {
		case <-stopped:
		default:
			close(stopped)
		}
	}
}

// Messages that are not read stop the process itself: it ends without the end of its work.
func TestSignal_endsWhileItsMessagesAreNotRead(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.repository(web())
	h.push("1.4.0", "1.5.0")
	h.stall(func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v2/acme/") })
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	defer func() { _ = write.Close() }()
	for err == nil { // until the pipe is full
		if err = write.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err == nil {
			_, err = write.Write(make([]byte, 4096))
		}
	}
	if code := startWith(t, write, h.serverFile(), nil, "run").terminate(h.seen); code != console.ExitLate {
		t.Errorf("exit code %d, want %d", code, console.ExitLate)
	}
}
