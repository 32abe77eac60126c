// Package secrettest replaces the files of secrets as the kubelet does.
package secrettest

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/secret"
)

// Mount is a mounted Secret whose files are followed.
type Mount struct {
	Dir   string
	Files *secret.Files

	t       testing.TB
	version int
	log     *strings.Builder

	mu  sync.Mutex
	now time.Time
}

// NewMount mounts files with their content.
func NewMount(t testing.TB, content map[string]string) *Mount {
	t.Helper()
	m := &Mount{t: t, Dir: t.TempDir(), now: time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC), log: &strings.Builder{}}
	m.Files = secret.NewFiles(m.clock)
	m.Files.LogTo(slog.New(slog.NewTextHandler(m.log, nil)))
	m.Swap(content)
	return m
}

func (m *Mount) clock() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Later lets the time pass after which files are read again.
func (m *Mount) Later() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(time.Second)
}

// Swap replaces all files at once.
func (m *Mount) Swap(content map[string]string) {
	m.t.Helper()
	m.version++
	Swap(m.t, m.Dir, fmt.Sprintf("..2026_%d", m.version), content)
}

// Secret returns the secret of a file. An empty file cannot be used.
func (m *Mount) Secret(name string) secret.String {
	m.t.Helper()
	s, err := m.Files.Secret(name, func() (string, error) {
		text, err := os.ReadFile(filepath.Join(m.Dir, name))
		if err == nil && len(text) == 0 {
			err = errors.New("empty")
		}
		return string(text), err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// Log returns what was logged since the last call.
func (m *Mount) Log() string {
	defer m.log.Reset()
	return m.log.String()
}

// Swap replaces all files of a folder at once, as the kubelet does: it writes each version into a
// folder of its own, swaps the link ..data, to whose files the links of the volume point, and removes
// the version before.
// https://github.com/kubernetes/kubernetes/blob/master/pkg/volume/util/atomic_writer.go
func Swap(t testing.TB, dir, version string, content map[string]string) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	data, next := filepath.Join(dir, "..data"), filepath.Join(dir, "..data_tmp")
	before, _ := os.Readlink(data) // empty: this is the first version
	check(os.MkdirAll(filepath.Join(dir, version), 0o700))
	for name, text := range content {
		check(os.WriteFile(filepath.Join(dir, version, name), []byte(text), 0o600))
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			check(os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)))
		}
	}
	check(os.Symlink(version, next))
	check(os.Rename(next, data))
	if before != "" && before != version {
		check(os.RemoveAll(filepath.Join(dir, before)))
	}
}
