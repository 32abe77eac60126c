package git

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/fault"
)

// A mirror never shrinks: each fetch and each push adds a pack. So its packs have a limit,
// and so have all mirrors together.

// room returns how many more bytes the packs and their indexes may need.
func (p *packStorage) room(limit int64) (int64, error) {
	used, err := folderSize(filepath.Join(p.dir, "objects", "pack"))
	if err != nil {
		return 0, fmt.Errorf("measure the packs of a mirror: %w", err)
	}
	return limit - used, nil
}

// packTooLarge returns the error of a fetch whose pack was larger than a limit: that of a
// pack, or of what is left of the mirror's.
func packTooLarge(step fetchStep, room int64, limits Options) error {
	branches := slices.Sorted(maps.Keys(step.heads))
	what := strings.Join(branches[:min(len(branches), 3)], ", ")
	if more := len(branches) - 3; more > 0 {
		what += fmt.Sprintf(" and %d more branches", more)
	}
	if room >= limits.PackLimit {
		return fault.New(fault.Invalid, "the commits of %s need more than %s, the limit of one fetch (sizes.pack in the server file)",
			what, size(limits.PackLimit))
	}
	used := size(limits.DiskLimit - room)
	return fault.New(fault.Invalid,
		"with the commits of %s, the repository needs more than %s of disk (sizes.mirror in the server file); %s are in use",
		what, size(limits.DiskLimit), used)
}

// size formats a number of bytes.
func size(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.3g GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.3g MiB", float64(bytes)/(1<<20))
	default:
		return fmt.Sprintf("%d KiB", (max(bytes, 0)+1023)/1024)
	}
}

// Grown returns the size of the packs that were added since the mirror was opened, in bytes.
func (m *Mirror) Grown() int64 { return m.packs.grown }

// Disk limits what the mirrors of one directory need together. Its zero value is ready for use,
// and safe for many goroutines. It measures them now and then: with thousands of mirrors, to
// read all folders takes longer than a reconciliation.
type Disk struct {
	mu   sync.Mutex
	room int64 // by which the mirrors may grow before they are measured again
}

// measuredParts is after which part of the limit the mirrors are measured again, because not all
// that is stored beside the packs is counted.
const measuredParts = 50

// Grow counts what was added to a mirror below a directory, and empties others if all of them
// together may need more than a number of bytes: see Trim.
func (d *Disk) Grow(dir string, grown, limit int64, forget func(dir string) error) ([]Emptied, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room -= grown; d.room > 0 {
		return nil, nil
	}
	emptied, left, err := Trim(dir, limit, forget)
	d.room = min(limit-left, limit/measuredParts)
	return emptied, err
}

// Emptied is a mirror that Trim emptied.
type Emptied struct {
	URL  string // of its remote
	Size int64  // in bytes
}

// Trim empties mirrors below a directory until all of them together need no more than a
// number of bytes: first those that were not opened for the longest time. It leaves those
// that are open, and the one that was opened last. What is kept beside the objects stays,
// except for what a function removes, which may be nil. It returns how many bytes are left.
func Trim(dir string, limit int64, forget func(dir string) error) (emptied []Emptied, total int64, err error) {
	if !locks {
		return nil, 0, nil // which ones are open is not known
	}
	type stored struct {
		dir    string
		opened time.Time
		size   int64
	}
	var mirrors []stored
	locks, err := filepath.Glob(filepath.Join(dir, "*", lockFile))
	if err != nil {
		return nil, 0, fmt.Errorf("list the mirrors: %w", err)
	}
	for _, lock := range locks {
		mirror := stored{dir: filepath.Dir(lock)}
		info, err := os.Stat(lock)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed just now
		}
		if err == nil {
			mirror.opened = info.ModTime()
			mirror.size, err = folderSize(mirror.dir)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("measure the mirrors: %w", err)
		}
		mirrors, total = append(mirrors, mirror), total+mirror.size
	}
	slices.SortFunc(mirrors, func(a, b stored) int { return cmp.Or(a.opened.Compare(b.opened), cmp.Compare(a.dir, b.dir)) })
	for _, mirror := range mirrors[:max(len(mirrors)-1, 0)] {
		if total <= limit {
			break
		}
		url, done, err := empty(mirror.dir, forget)
		if err != nil {
			return emptied, total, err
		}
		if done {
			total -= mirror.size
			emptied = append(emptied, Emptied{URL: url, Size: mirror.size})
		}
	}
	return emptied, total, nil
}

// empty removes the objects of a mirror, unless it is open.
func empty(dir string, forget func(dir string) error) (url string, done bool, err error) {
	lock, err := openLock(dir)
	if err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if locked, err := tryLock(lock); !locked || err != nil {
		return "", false, err
	}
	state, err := readState(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil // it is empty
	}
	for _, name := range []string{stateFile, "objects"} { // without its state, it is replaced
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return state.URL, false, fmt.Errorf("empty a mirror: %w", err)
		}
	}
	if forget == nil {
		return state.URL, true, nil
	}
	return state.URL, true, forget(dir)
}

// folderSize returns the size of all files below a directory. Files that disappear meanwhile
// have none.
func folderSize(dir string) (int64, error) {
	total := int64(0)
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				total += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return total, err
}
