package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"

	"promoter/internal/updater"
)

// folder is a directory tree on disk, read as one branch.
type folder struct {
	root string
}

// files yields the files of the tree in no order, because several goroutines
// list directories at once: on a warm cache listing costs as much as reading.
func (f folder) files(ctx context.Context) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		walk := newWalk(ctx, f)
		defer walk.wait()
		defer cancel()
		for found := range walk.found {
			if !yield(found.file, found.err) {
				return
			}
		}
	}
}

// walk lists one tree.
type walk struct {
	folder
	ctx   context.Context //nolint:containedctx // a walk is one call; its goroutines share the call's context
	found chan foundFile
	slots chan struct{} // free goroutines
	busy  sync.WaitGroup
}

type foundFile struct {
	file updater.File
	err  error
}

// foundAhead is how many files may wait for the reader.
const foundAhead = 256

func newWalk(ctx context.Context, f folder) *walk {
	w := &walk{
		folder: f,
		ctx:    ctx,
		found:  make(chan foundFile, foundAhead),
		slots:  make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	w.busy.Go(func() { w.list("") })
	go func() {
		w.busy.Wait()
		close(w.found)
	}()
	return w
}

// wait lets the goroutines end after the reader has gone.
func (w *walk) wait() {
	for range w.found { //nolint:revive // draining is the work
	}
}

func (w *walk) list(dir string) {
	entries, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(dir)))
	if err != nil {
		w.send(foundFile{err: fmt.Errorf("list the folder: %w", err)})
		return
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if entry.IsDir() {
			w.enter(name)
			continue
		}
		file, readable := w.file(name, entry)
		if readable && !w.send(foundFile{file: file}) {
			return
		}
	}
}

// enter lists a folder beside the present one where a goroutine is free.
func (w *walk) enter(dir string) {
	if path.Base(dir) == ".git" || w.ctx.Err() != nil {
		return
	}
	select {
	case w.slots <- struct{}{}:
		w.busy.Go(func() {
			w.list(dir)
			<-w.slots
		})
	default:
		w.list(dir)
	}
}

func (w *walk) send(found foundFile) bool {
	select {
	case w.found <- found:
		return true
	case <-w.ctx.Done():
		return false
	}
}

// file describes one entry without asking for its size: reading tells. Devices,
// pipes and sockets are no files of a repository; opening one could wait forever.
func (w *walk) file(name string, entry fs.DirEntry) (updater.File, bool) {
	file := updater.File{Path: name}
	full := filepath.Join(w.root, filepath.FromSlash(name))
	switch entry.Type() {
	case 0:
		file.Read = func() ([]byte, error) { return readFile(full, searchedLimit) }
	case fs.ModeSymlink:
		file.Mode = updater.Symlink
		if leadsToFile(w.root, name) {
			file.Read = func() ([]byte, error) { return readFile(full, searchedLimit) }
		}
	default:
		return file, false
	}
	return file, true
}

// leadsToFile says whether a symbolic link leads to a regular file inside the
// folder. What lies outside is none of the repository's.
func leadsToFile(dir, name string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	info, err := root.Stat(filepath.FromSlash(name))
	return errors.Join(err, root.Close()) == nil && info.Mode().IsRegular()
}

// searchedLimit is how much of a file is read, in bytes. It is more than what is
// parsed: a large file that names nothing that is followed stops nobody.
const searchedLimit = 32 << 20

// readFile reads a file of at most limit bytes, and one more byte of a larger
// one, by which the caller sees that it is too large.
func readFile(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	return content, errors.Join(err, file.Close())
}
