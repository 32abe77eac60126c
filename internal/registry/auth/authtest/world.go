// Package cloudtest is a machine in a cloud for tests: its environment, its files,
// its clock, and the services that it may ask. A request to anybody else fails the
// test.
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

// World is such a machine. Set the maps before the first question.
type World struct {
	// Env and Files are what the process finds.
	Env, Files map[string]string
	// Vendor are the services that are asked over https, Local those of the
	// machine that are asked in plain http; by host.
	Vendor, Local map[string]http.Handler

	t     testing.TB
	mutex sync.Mutex
	at    time.Time
	asked []string
}

// New makes an empty machine.
func New(t testing.TB) *World {
	t.Helper()
	return &World{
		Env: map[string]string{}, Files: map[string]string{},
		Vendor: map[string]http.Handler{}, Local: map[string]http.Handler{},
		t: t, at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

// Now is the clock.
func (w *World) Now() time.Time {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.at
}

// Forward sets the clock forward.
func (w *World) Forward(d time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.at = w.at.Add(d)
}

// Asked returns METHOD HOST PATH of each request so far, and forgets them.
func (w *World) Asked() []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	asked := w.asked
	w.asked = nil
	return asked
}

// Machine is what the code under test gets.
func (w *World) Machine() auth.Machine {
	return auth.Machine{
		Vendor: way{w, "https", w.Vendor}, Metadata: way{w, "http", w.Local}, Now: w.Now,
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

// Serve puts the services of other machines into this one.
func (w *World) Serve(vendor, local map[string]http.Handler) {
	maps.Copy(w.Vendor, vendor)
	maps.Copy(w.Local, local)
}

// way is one way out.
type way struct {
	world  *World
	scheme string
	hosts  map[string]http.Handler
}

// RoundTrip lets the service of the host answer.
func (w way) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	service, ok := w.hosts[req.URL.Host]
	if !ok || req.URL.Scheme != w.scheme {
		w.world.t.Errorf("nobody may be asked at %s://%s", req.URL.Scheme, req.URL.Host)
		return nil, &unknownError{req.URL.Host}
	}
	w.world.mutex.Lock()
	w.world.asked = append(w.world.asked, req.Method+" "+req.URL.Host+" "+req.URL.Path)
	w.world.mutex.Unlock()
	sent := req.Clone(req.Context())
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

// unknownError is a host that is not there.
type unknownError struct{ host string }

// Error names the host.
func (u *unknownError) Error() string { return "there is no host " + u.host }
