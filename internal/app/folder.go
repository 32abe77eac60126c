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

	"promoter/internal/scan"
	"promoter/internal/updater"
)

// folder is a directory tree on disk, read as one branch.
type folder struct {
	root    string
	buffers *buffers
}

func newFolder(root string) folder { return folder{root: root, buffers: newBuffers()} }

// files yields the files of the tree in no order, because several goroutines
// list directories at once: on a warm cache listing costs as much as reading.
func (f folder) files(ctx context.Context) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		walk := newWalk(ctx, f)
		defer walk.wait()
		defer cancel()
		for batch := range walk.found {
			for _, file := range batch.files {
				if !yield(file, nil) {
					return
				}
			}
			if batch.err != nil && !yield(updater.File{}, batch.err) {
				return
			}
		}
	}
}

// walk lists one tree.
type walk struct {
	folder
	done  <-chan struct{}
	found chan batch
	slots chan struct{} // free goroutines
	busy  sync.WaitGroup
}

// batch is what one goroutine found. Handing over single small files would cost
// more than finding them.
type batch struct {
	files []updater.File
	err   error
}

const (
	batchSize  = 64 // files
	foundAhead = 16 // batches that may wait for the reader
)

func newWalk(ctx context.Context, f folder) *walk {
	w := &walk{
		folder: f,
		done:   ctx.Done(),
		found:  make(chan batch, foundAhead),
		slots:  make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	w.start("", func() {})
	go func() {
		w.busy.Wait()
		close(w.found)
	}()
	return w
}

// wait lets the goroutines end after the reader has gone.
func (w *walk) wait() {
	for range w.found { // draining is the work
	}
}

// start lists a folder in a goroutine of its own.
func (w *walk) start(dir string, done func()) {
	w.busy.Go(func() {
		l := &lister{walk: w}
		l.list(dir)
		l.flush()
		done()
	})
}

// lister is one goroutine of a walk.
type lister struct {
	*walk
	batch batch
}

func (l *lister) list(dir string) {
	entries, err := os.ReadDir(filepath.Join(l.root, filepath.FromSlash(dir)))
	if dir != "" && errors.Is(err, fs.ErrNotExist) {
		return // removed since the folder around it was listed
	}
	if err != nil {
		l.batch.err = errors.Join(l.batch.err, fmt.Errorf("list the folder: %w", err))
		return
	}
	for _, entry := range entries {
		if l.stopped() {
			return
		}
		if name := path.Join(dir, entry.Name()); entry.IsDir() {
			l.enter(name)
		} else {
			l.add(name, entry)
		}
	}
}

// enter lists a folder beside the present one where a goroutine is free.
func (l *lister) enter(dir string) {
	if path.Base(dir) == ".git" {
		return
	}
	select {
	case l.slots <- struct{}{}:
		l.start(dir, func() { <-l.slots })
	default:
		l.list(dir)
	}
}

func (l *lister) add(name string, entry fs.DirEntry) {
	file, readable := l.file(name, entry)
	if !readable {
		return
	}
	l.batch.files = append(l.batch.files, file)
	if len(l.batch.files) == batchSize {
		l.flush()
	}
}

// flush hands over what was found, unless the reader has gone.
func (l *lister) flush() {
	select {
	case l.found <- l.batch:
	case <-l.done:
	}
	l.batch = batch{}
}

func (w *walk) stopped() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// file describes one entry without asking for its size: reading tells. Devices,
// pipes and sockets are no files of a repository; opening one could wait forever.
func (f folder) file(name string, entry fs.DirEntry) (updater.File, bool) {
	file := updater.File{Path: name}
	full := filepath.Join(f.root, filepath.FromSlash(name))
	read := func() ([]byte, error) { return f.buffers.read(full, scan.ReadLimit) }
	switch entry.Type() {
	case 0:
		file.Read = read
	case fs.ModeSymlink:
		file.Mode = updater.Symlink
		if leadsToFile(f.root, name) {
			file.Read = read
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

// readFile reads a file of at most limit bytes, and one more byte of a larger
// one, by which the caller sees that it is too large.
func readFile(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return readAll(file, limit)
}

// readAll reads and closes the file.
func readAll(file *os.File, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	return content, errors.Join(err, file.Close())
}
