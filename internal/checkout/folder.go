package checkout

import (
	"context"
	"errors"
	"fmt"
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

// folderFiles yields the files below a folder, without .git folders. They come in
// no order, because several goroutines list folders at the same time: on a warm
// cache, listing costs as much as reading.
func folderFiles(ctx context.Context, root string) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		w := &walk{
			root:    root,
			reader:  newReader(),
			done:    ctx.Done(),
			batches: make(chan batch, maxBatches),
			slots:   make(chan struct{}, runtime.GOMAXPROCS(0)),
		}
		w.start("", func() {})
		go func() {
			w.running.Wait()
			close(w.batches)
		}()
		defer func() { // wait for the goroutines, also if the caller stopped early
			for range w.batches { // discard them
			}
		}()
		defer cancel()
		for found := range w.batches {
			for _, file := range found.files {
				if !yield(file, nil) {
					return
				}
			}
			if found.err != nil && !yield(updater.File{}, found.err) {
				return
			}
		}
	}
}

// walk lists the files below a folder.
type walk struct {
	root    string
	reader  *reader
	done    <-chan struct{}
	batches chan batch
	slots   chan struct{} // one for each goroutine
	running sync.WaitGroup
}

// batch is a part of the files. Passing small files one by one would cost more
// than listing them.
type batch struct {
	files []updater.File
	err   error
}

const (
	batchSize  = 64 // files
	maxBatches = 16 // that wait for the caller
)

// start lists a folder and those below it in a new goroutine.
func (w *walk) start(dir string, done func()) {
	w.running.Go(func() {
		defer done()
		var found batch
		w.list(dir, &found)
		w.send(&found)
	})
}

// list adds the files of a folder and those below it to the batch.
func (w *walk) list(dir string, found *batch) {
	entries, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(dir)))
	if dir != "" && errors.Is(err, fs.ErrNotExist) {
		return // removed since the parent was listed
	}
	if err != nil {
		found.err = errors.Join(found.err, fmt.Errorf("list the folder: %w", err))
		return
	}
	for _, entry := range entries {
		select {
		case <-w.done:
			return
		default:
		}
		name := path.Join(dir, entry.Name())
		if !entry.IsDir() {
			if file, ok := w.file(name, entry); ok {
				found.files = append(found.files, file)
			}
			if len(found.files) == batchSize {
				w.send(found)
			}
			continue
		}
		if entry.Name() == ".git" {
			continue
		}
		select {
		case w.slots <- struct{}{}:
			w.start(name, func() { <-w.slots })
		default:
			w.list(name, found)
		}
	}
}

// send passes the batch to the caller and empties it.
func (w *walk) send(found *batch) {
	select {
	case w.batches <- *found:
	case <-w.done:
	}
	*found = batch{}
}

// file returns an entry as a file, without its size, which would be another system
// call. Devices, pipes, and sockets are not files of a repository, and opening one
// could block forever.
func (w *walk) file(name string, entry fs.DirEntry) (updater.File, bool) {
	file := updater.File{Path: name}
	full := filepath.Join(w.root, filepath.FromSlash(name))
	read := func() ([]byte, error) { return w.reader.read(full, scan.ReadLimit) }
	switch entry.Type() {
	case 0:
		file.Read = read
	case fs.ModeSymlink:
		file.Mode = updater.Symlink
		if pointsToFile(w.root, name) {
			file.Read = read
		}
	default:
		return file, false
	}
	return file, true
}

// pointsToFile reports whether a symbolic link points to a regular file within the
// folder. Files outside do not belong to the repository.
func pointsToFile(dir, name string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	info, err := root.Stat(filepath.FromSlash(name))
	return errors.Join(err, root.Close()) == nil && info.Mode().IsRegular()
}
