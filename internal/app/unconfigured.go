package app

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"promoter/internal/atomicfile"
	"promoter/internal/scm/github"
)

// unconfigured remembers which repositories had no config file. Where nothing was
// pushed since there still is none, which saves a request for each in every run.
type unconfigured struct {
	file string // empty: nothing is kept
	now  time.Time

	mutex sync.Mutex
	known map[string]string // what was pushed last, by repository
	seen  map[string]string // the same, of this run
}

// maxUnconfigured bounds the file, in bytes.
const maxUnconfigured = 32 << 20

// settled is how old a push must be, because GitHub tells whole seconds: a second
// push in the same one would not be seen.
const settled = time.Minute

// readUnconfigured reads what an earlier run kept in a folder. What cannot be read
// is asked again.
func readUnconfigured(folder, forge string, now time.Time) *unconfigured {
	u := &unconfigured{now: now, seen: map[string]string{}}
	if folder == "" {
		return u
	}
	u.file = filepath.Join(folder, forge+".json")
	file, err := os.Open(u.file)
	if err != nil {
		return u
	}
	defer func() { _ = file.Close() }() // it was read
	if json.NewDecoder(io.LimitReader(file, maxUnconfigured)).Decode(&u.known) != nil {
		u.known = nil
	}
	return u
}

// fingerprint changes when the answer could.
func fingerprint(r github.Listed) string { return r.Branch + " " + r.Pushed.Format(time.RFC3339) }

// has says that a repository still has no config file.
func (u *unconfigured) has(r github.Listed) bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	known := u.known[r.Name] == fingerprint(r)
	if known {
		u.seen[r.Name] = fingerprint(r)
	}
	return known
}

// add remembers one.
func (u *unconfigured) add(r github.Listed) {
	if !settledAt(r.Pushed, u.now) {
		return
	}
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.seen[r.Name] = fingerprint(r)
}

// save keeps what this run saw.
func (u *unconfigured) save() error {
	if u.file == "" {
		return nil
	}
	data, err := json.Marshal(u.seen)
	if err == nil {
		err = atomicfile.Replace(u.file, data)
	}
	if err != nil {
		return fmt.Errorf("keep which repositories have no config: %w", err)
	}
	return nil
}
