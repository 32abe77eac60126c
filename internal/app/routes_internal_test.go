package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/server"
	"promoter/internal/serverfile"
)

const routesToken = "canary-token-of-the-api-0123456789abcdef"

// routesFile has everything that adds a route.
const routesFile = `version: 1
data: %q
url: https://promoter.example.com
networks: [127.0.0.0/8]
forges: {github: {kind: github, app: {setup: "env:SETUP"}}}
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
  tests: {kind: evidence, secret: "env:HOOK"}
api:
  token: "env:API"
  badges: {readme: {token: "env:BADGE", repositories: ["**"]}}
  oidc: {issuer: "http://127.0.0.1:1", insecure: true, clientID: promoter, roles: [{claim: groups, values: [ops]}]}
`

// answering is the service that answers requests, without the work on repositories.
type answering struct {
	t       *testing.T
	address string
	routes  []server.Route
	cookie  string // of a session
}

func request(t *testing.T) *answering {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "server.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, routesFile, filepath.Join(dir, "data")), 0o600); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{
		"SETUP": strings.Repeat("s", 40), "HOOK": strings.Repeat("h", 40), "API": routesToken, "BADGE": strings.Repeat("b", 40),
	}
	env := func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
	opened, err := serverfile.OpenService(serverfile.Options{Config: file, Env: env, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(opened.File.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	db, err := openDatabase(ctx, opened, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &answering{t: t, address: listener.Addr().String()}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		options := ServeOptions{Log: slog.New(slog.DiscardHandler)}
		ended <- assemble(ctx, opened, db, options, func(ctx context.Context, parts assembled) error {
			a.routes = parts.web.Routes()
			close(ready)
			return parts.web.Listen(ctx, listener, time.Second)
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, db.Close()); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	a.signIn()
	return a
}

func (a *answering) signIn() {
	a.t.Helper()
	form := url.Values{"token": {routesToken}, "next": {"/"}}.Encode()
	response := a.send(a.t, fmt.Sprintf("POST /sign-in HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(form), form))
	for _, cookie := range response.Cookies() {
		a.cookie = cookie.Name + "=" + cookie.Value
	}
	if a.cookie == "" {
		a.t.Fatalf("not signed in: %s", response.Status)
	}
}

// dial connects to the service. Everything on the connection ends within the patience of the test.
func (a *answering) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", a.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// send sends the bytes of a request, and returns the header of the response.
func (a *answering) send(t *testing.T, text string) *http.Response {
	t.Helper()
	conn := a.dial(t)
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// target returns a path of a route: the parameters are names that exist.
func target(route server.Route) string {
	return strings.NewReplacer(
		":receiver", "images", ":secret", strings.Repeat("s", 40), ":forge", "github", ":token", strings.Repeat("b", 40),
		":application", "shop", ":repository", "github.com%2Facme%2Fgitops", ":environment", "dev", ":snapshot", "s1", ":file", "app.css",
	).Replace(route.Path)
}

// attacked is a route, as a client that has a credential or not requests it.
type attacked struct {
	head  string // of the request, without its end
	reads bool   // whether a handler reads the body
}

// eachRoute runs a test for each route of the router and some others, without a credential and
// with one.
func (a *answering) eachRoute(t *testing.T, do func(t *testing.T, route attacked)) {
	t.Helper()
	if len(a.routes) < 40 {
		t.Fatalf("the router has %d routes", len(a.routes))
	}
	credentials := map[string]string{
		"before authentication": "",
		"authenticated":         "Authorization: Bearer " + routesToken + "\r\nCookie: " + a.cookie + "\r\n",
	}
	for _, route := range append(a.routes, server.Route{Method: http.MethodPost, Path: "/nothing"}, server.Route{Method: http.MethodGet, Path: "/nothing"}) {
		if route.Method == "echo_route_not_found" {
			continue
		}
		for by, header := range credentials {
			head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\n%s", route.Method, target(route), header)
			t.Run(route.Method+" "+route.Path+" "+by, func(t *testing.T) { do(t, attacked{head, route.Method == http.MethodPost}) })
		}
	}
}

// memory returns what the process uses, in bytes, without garbage.
func memory() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse + stats.StackInuse
}

// No route receives a body without an end: each answers, or ends the connection, and takes no more
// of it than its limit, twice over: with the buffers of the kernel.
func TestRoutes_surviveAnEndlessBody(t *testing.T) {
	t.Parallel()
	a := request(t)
	t.Run("all", func(t *testing.T) {
		a.eachRoute(t, func(t *testing.T, route attacked) {
			t.Parallel()
			a.endless(t, route)
		})
	})
}

func (a *answering) endless(t *testing.T, route attacked) {
	t.Helper()
	const most = 16 << 20
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 32<<10, strings.Repeat("x", 32<<10))
	conn := a.dial(t)
	defer func() { _ = conn.Close() }()
	sent, begin := make(chan int, 1), time.Now()
	go func() {
		n, _ := io.WriteString(conn, route.head+"Transfer-Encoding: chunked\r\n\r\n")
		for n < most {
			more, err := io.WriteString(conn, chunk)
			if n += more; err != nil {
				break
			}
		}
		sent <- n
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil && response.StatusCode >= http.StatusInternalServerError && !strings.Contains(route.head, "/sign-in/oidc") {
		t.Error(response.Status)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("answered after %v", took)
	}
	if err == nil && response.Header.Get("Content-Type") == "text/event-stream" {
		_ = conn.Close() // otherwise it stays open
	}
	if n := <-sent; n >= most {
		t.Errorf("the service received %d bytes", n)
	}
}

// A body that never begins delays the response only where a handler reads it, and there it makes
// room for others.
func TestRoutes_surviveABodyThatNeverBegins(t *testing.T) {
	t.Parallel()
	a := request(t)
	for _, length := range []string{"Content-Length: 1000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n", "Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n"} {
		t.Run(strings.Fields(length)[0], func(t *testing.T) {
			a.eachRoute(t, func(t *testing.T, route attacked) {
				t.Parallel()
				if route.reads {
					return // TestRoutes_surviveSlowSenders
				}
				begin := time.Now()
				if response := a.send(t, route.head+length); response.StatusCode < http.StatusOK {
					t.Error(response.Status)
				}
				if took := time.Since(begin); took > 3*time.Second {
					t.Errorf("answered after %v", took)
				}
			})
		})
	}
}

// More slow senders than one address may have, at each route: other requests of the same address
// are answered meanwhile, and the memory stays flat. No other test runs meanwhile, whose memory would
// count.
func TestRoutes_surviveSlowSenders(t *testing.T) { //nolint:paralleltest // see above
	a := request(t)
	const senders = 300
	before := memory()
	a.eachRoute(t, func(t *testing.T, route attacked) {
		begin := route.head + "Content-Length: 1000\r\n\r\n{"
		if !route.reads {
			begin = strings.TrimSuffix(route.head, "\r\n") // the header does not end
		}
		conns := make([]net.Conn, senders)
		var group sync.WaitGroup
		for worker := range 8 {
			group.Go(func() {
				for i := worker; i < senders; i += 8 {
					conns[i] = a.dial(t)
					_, _ = io.WriteString(conns[i], begin) // the service may have ended it
				}
			})
		}
		group.Wait()
		asked := time.Now()
		form := "token=wrong"
		other := a.send(t, fmt.Sprintf("POST /sign-in HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(form), form))
		if took := time.Since(asked); other.StatusCode != http.StatusUnauthorized || took > 5*time.Second {
			t.Errorf("another request: %s after %v", other.Status, took)
		}
		if during := memory(); during > before+48<<20 {
			t.Errorf("the memory grew from %d to %d MiB", before>>20, during>>20)
		}
		for _, conn := range conns {
			_ = conn.Close()
		}
	})
}
