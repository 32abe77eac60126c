package app

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"promoter/internal/updater"
)

// memories are what scans of one repository found before. What a file holds rests
// on the config too, and on the environments of its branch, so each has its own.
type memories struct {
	dir   string // in the mirror's folder
	build string // the version of promoter; empty: nothing is kept on disk
	mutex sync.Mutex
	open  map[string]*updater.Memory
}

func newMemories(mirror string) *memories {
	return &memories{dir: filepath.Join(mirror, "found"), build: build(), open: map[string]*updater.Memory{}}
}

// build names the source of this binary, because another one may find other
// things in the same file. A binary of changed source has no name.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision := ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			return ""
		}
	}
	return revision
}

// of returns the memory for a config, by its fingerprint, and environments.
func (m *memories) of(config string, environments []string) *updater.Memory {
	sum := sha256.Sum256([]byte(m.build + "\n" + config + "\n" + strings.Join(environments, "\n")))
	name := hex.EncodeToString(sum[:16])
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if known, ok := m.open[name]; ok {
		return known
	}
	m.open[name] = m.read(name)
	return m.open[name]
}

func (m *memories) read(name string) *updater.Memory {
	if m.build == "" {
		return updater.NewMemory()
	}
	content, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		return updater.NewMemory() // not there, or as good as
	}
	return updater.ReadMemory(bytes.NewReader(content))
}

// save keeps what was used, and nothing else: other memories are of configs that
// are gone.
func (m *memories) save() error {
	if m.build == "" {
		return nil
	}
	if err := errors.Join(os.RemoveAll(m.dir), os.MkdirAll(m.dir, 0o700)); err != nil {
		return fmt.Errorf("keep what was found in files: %w", err)
	}
	for name, memory := range m.open {
		var content bytes.Buffer
		_, err := memory.WriteTo(&content)
		if err = cmp.Or(err, os.WriteFile(filepath.Join(m.dir, name), content.Bytes(), 0o600)); err != nil {
			return fmt.Errorf("keep what was found in files: %w", err)
		}
	}
	return nil
}
