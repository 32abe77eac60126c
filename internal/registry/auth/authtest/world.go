// Package authtest is a machine in a cloud for tests: its environment, its files, and
// the services that it may call. A request to any other host fails the test.
package authtest

import (
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/registry/auth"
)

// World is such a machine. Its clock is time.Now, which the vendors' libraries read
// too: run tests that compare times in a synctest bubble. Set the maps before the
// first request.
type World struct {
	// Env and Files are what the process finds.
	Env, Files map[string]string
	// Vendor are the services that are called over HTTPS, Local those of the machine
	// that are called over plain HTTP; by host.
	Vendor, Local map[string]http.Handler

	t     testing.TB
	mutex sync.Mutex
	calls []string
}

// New makes an empty machine.
func New(t testing.TB) *World {
	t.Helper()
	return &World{
		Env: map[string]string{}, Files: map[string]string{},
		Vendor: map[string]http.Handler{}, Local: map[string]http.Handler{}, t: t,
	}
}

// Calls returns METHOD HOST PATH of each request so far, and forgets them.
func (w *World) Calls() []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

// Machine is what the code under test gets.
func (w *World) Machine() auth.Machine {
	return auth.Machine{
		Vendor: transport{w, "https", w.Vendor}, Metadata: transport{w, "http", w.Local}, Now: time.Now, //nolint:forbidigo // the fakes and the code share the clock
		Env: func(name string) (string, bool) { value, ok := w.Env[name]; return value, ok },
		Open: func(path string) (io.ReadCloser, error) {
			text, ok := w.Files[path]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
			}
			return io.NopCloser(strings.NewReader(text)), nil
		},
	}
}

// Serve adds services.
func (w *World) Serve(vendor, local map[string]http.Handler) {
	maps.Copy(w.Vendor, vendor)
	maps.Copy(w.Local, local)
}

type transport struct {
	world  *World
	scheme string
	hosts  map[string]http.Handler
}

// RoundTrip lets the service of the host respond.
func (tr transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	service, ok := tr.hosts[req.URL.Host]
	if !ok || req.URL.Scheme != tr.scheme {
		tr.world.t.Errorf("unexpected request to %s://%s", req.URL.Scheme, req.URL.Host)
		return nil, &unknownHostError{req.URL.Host}
	}
	sent := req.Clone(req.Context())
	if sent.Method == "" {
		sent.Method = http.MethodGet
	}
	tr.world.mutex.Lock()
	tr.world.calls = append(tr.world.calls, sent.Method+" "+req.URL.Host+" "+req.URL.Path)
	tr.world.mutex.Unlock()
	if sent.Body == nil {
		sent.Body = http.NoBody
	}
	if sent.Host == "" {
		sent.Host = req.URL.Host
	}
	recorder := httptest.NewRecorder()
	service.ServeHTTP(recorder, sent)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	resp := recorder.Result()
	resp.Request = req
	return resp, nil
}

type unknownHostError struct{ host string }

// Error names the host.
func (u *unknownHostError) Error() string { return "there is no host " + u.host }
