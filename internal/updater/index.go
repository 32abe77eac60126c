package updater

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"promoter/internal/budget"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/updater/shapes"
)

// Index lists the references in the files of one commit, file by file. The index
// of another commit is derived from the files that differ, without reading the
// others. An index is immutable, and the indexes of two commits share their
// common parts.
type Index struct {
	updater *Updater
	sources shapes.Sources // of all files
	files   map[string]*indexed
	found   int // references and refusals of all files
	unread  int // how many of the files could not be read
}

// indexed is what one file contains. A file without content of interest has no
// entry.
type indexed struct {
	References []edit.Reference
	Refusals   []edit.Refusal
	Declared   []shapes.Declaration
	Held       []edit.Hold
	Others     []edit.Reference
	Mentions   edit.Mentions
	Waits      bool // its references depend on sources in other files
	Unread     bool // it could not be read; reading it may succeed later

	notes []edit.Note // not encoded: only a scan of all files has them
}

// NewIndex returns the index of a commit without files.
func (u *Updater) NewIndex() *Index {
	return &Index{updater: u, files: map[string]*indexed{}}
}

// declaredSources returns the sources that the files declare.
func (x *Index) declaredSources() shapes.Sources {
	all := shapes.Sources{}
	for path, found := range x.files {
		for _, d := range found.Declared {
			all.Declare(path, d)
		}
	}
	return all
}

// Difference describes how the files of a commit differ from those of an index.
type Difference struct {
	Files []File   // added files, and files with changed content or mode
	Gone  []string // removed paths
	// Open opens an unchanged file that must be scanned again because a source
	// that it refers to has changed.
	Open func(path string) (File, error)
}

// Next returns the index of the commit with that difference, and the paths of
// the files whose findings may have changed.
func (x *Index) Next(ctx context.Context, d Difference) (*Index, []string, error) {
	next := &Index{updater: x.updater, sources: x.sources, files: maps.Clone(x.files), found: x.found, unread: x.unread}
	for _, path := range d.Gone {
		next.set(path, &indexed{})
	}
	if err := next.scan(ctx, d.Files, nil); err != nil {
		return nil, nil, err
	}
	touched := slices.Clone(d.Gone)
	for _, file := range d.Files {
		touched = append(touched, file.Path)
	}
	waiting := slices.DeleteFunc(slices.Clone(d.Files), func(file File) bool { return !next.at(file.Path).Waits })
	declaresOther := func(path string) bool { return !slices.Equal(next.at(path).Declared, x.at(path).Declared) }
	if slices.ContainsFunc(touched, declaresOther) {
		next.sources = next.declaredSources()
		var err error
		waiting, err = next.waiting(d)
		if err != nil {
			return nil, nil, err
		}
		for _, file := range waiting {
			touched = append(touched, file.Path)
		}
	}
	if err := next.scan(ctx, waiting, next.sources); err != nil {
		return nil, nil, err
	}
	slices.Sort(touched)
	return next, slices.Compact(touched), nil
}

// waiting returns all files that depend on sources in other files.
func (x *Index) waiting(d Difference) ([]File, error) {
	given := make(map[string]File, len(d.Files))
	for _, file := range d.Files {
		given[file.Path] = file
	}
	var waiting []File
	for path, found := range x.files {
		if !found.Waits {
			continue
		}
		file, ok := given[path]
		if !ok {
			var err error
			if file, err = d.Open(path); err != nil {
				return nil, err
			}
		}
		waiting = append(waiting, file)
	}
	return waiting, nil
}

// scan adds the files to the index, in parallel.
func (x *Index) scan(ctx context.Context, files []File, known shapes.Sources) error {
	var mutex sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(x.updater.options.Workers)
	for batch := range slices.Chunk(files, batchSize) {
		group.Go(func() (err error) {
			defer fault.Survive(&err)
			for _, file := range batch {
				found, err := x.updater.index(ctx, file, known)
				if err != nil {
					return err
				}
				mutex.Lock()
				x.set(file.Path, found)
				over := x.found > maxFound
				mutex.Unlock()
				if over {
					return errTooMany
				}
			}
			return nil
		})
	}
	err := group.Wait()
	if errors.Is(err, errTooMany) {
		sizes := map[string]int{}
		for path, found := range x.files {
			sizes[path] = found.size()
		}
		return fault.New(fault.Invalid, "%w: more than %d in the files of the branch, for example in %s",
			errTooMany, maxFound, budget.Largest(sizes))
	}
	return err //nolint:wrapcheck // the cause of the context, a defect, or an exceeded budget
}

func (x *Index) set(path string, found *indexed) {
	before := x.at(path)
	x.found += found.size() - before.size()
	if before.Unread {
		x.unread--
	}
	if found.Unread {
		x.unread++
	}
	kept := found.size() + len(found.Declared) + len(found.Others) + len(found.notes) + len(found.Mentions.Listed)
	if kept > 0 || found.Waits || found.Unread {
		x.files[path] = found
	} else {
		delete(x.files, path)
	}
}

// size is what the file counts against maxFound.
func (f *indexed) size() int { return len(f.References) + len(f.Refusals) + len(f.Held) }

// batchSize is the number of files given to a worker at once. Giving small
// files one by one would cost more than scanning them.
const batchSize = 32

// index scans one file. A file that depends on sources in other files is
// scanned again when the sources are known.
func (u *Updater) index(ctx context.Context, file File, known shapes.Sources) (*indexed, error) {
	var last struct {
		content []byte // nil: it was not read
		failed  bool
	}
	if read := file.Read; read != nil {
		file.Read = func() ([]byte, error) {
			content, err := read()
			last.content, last.failed = content, err != nil
			return content, err
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	a := u.analyze(file, known)
	if err := budget.Spend(ctx, budget.Parsed, file.Path, int64(a.parsed)); err != nil {
		return nil, err
	}
	mentions := u.mentionsIn(file, last.content, a)
	return &indexed{
		Mentions:   mentions,
		References: a.references(file.Path),
		Refusals:   a.found.Refusals,
		Declared:   a.found.Declared,
		Held:       a.held,
		Others:     a.found.Others,
		Waits:      a.found.NeedsSources,
		Unread:     last.failed,
		notes:      a.found.Notes,
	}, nil
}

// at returns the content of a file.
func (x *Index) at(path string) *indexed {
	if found := x.files[path]; found != nil {
		return found
	}
	return &indexed{}
}

// Unread returns the files that could not be read. They must be part of the
// next difference.
func (x *Index) Unread() []string {
	if x.unread == 0 {
		return nil
	}
	var paths []string
	for path, found := range x.files {
		if found.Unread {
			paths = append(paths, path)
		}
	}
	return paths
}

// Inventory returns the inventory of some of the files, without notes and Others.
func (x *Index) Inventory(paths ...string) *Inventory {
	inventory := &Inventory{updater: x.updater, sources: x.sources}
	for _, path := range paths {
		found := x.at(path)
		inventory.References = append(inventory.References, found.References...)
		inventory.Refusals = append(inventory.Refusals, found.Refusals...)
		inventory.Held = append(inventory.Held, found.Held...)
		if len(found.Mentions.Listed) > 0 {
			inventory.Mentions = append(inventory.Mentions, found.Mentions)
		}
	}
	inventory.sort()
	return inventory
}

// Others returns the references that no component follows, of all files that may also have
// followed ones.
func (x *Index) Others() []edit.Reference {
	var others []edit.Reference
	for _, found := range x.files {
		others = append(others, found.Others...)
	}
	slices.SortFunc(others, func(a, b edit.Reference) int { return a.Position.Compare(b.Position) })
	return others
}

// OthersDiffer reports whether Others may differ from those of an earlier index, from which this one
// differs in some paths.
func (x *Index) OthersDiffer(before *Index, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return len(x.at(path).Others)+len(before.at(path).Others) > 0
	})
}

// maxIndex limits the size in bytes of an encoded index that is read.
const maxIndex = 256 << 20

// savedFile is one file of an encoded index.
type savedFile struct {
	Path  string
	Found indexed
}

// Encode writes the index file by file: all at once would double the memory. It must not be read
// with another follower or other options, or by a build that finds different content in the same
// files.
func (x *Index) Encode(w io.Writer) error {
	encoder := gob.NewEncoder(w)
	err := encoder.Encode(len(x.files))
	for path, found := range x.files {
		if err == nil {
			err = encoder.Encode(savedFile{path, *found})
		}
	}
	if err != nil {
		return fmt.Errorf("write the index of references: %w", err)
	}
	return nil
}

// ReadIndex reads an index that Encode wrote.
func (u *Updater) ReadIndex(r io.Reader) (*Index, error) {
	x := u.NewIndex()
	decoder := gob.NewDecoder(io.LimitReader(r, maxIndex))
	var files int
	err := decoder.Decode(&files)
	for i := 0; i < files && err == nil; i++ {
		var saved savedFile
		err = decoder.Decode(&saved)
		x.set(saved.Path, &saved.Found)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, fmt.Errorf("read the index of references: %w", err))
	}
	x.sources = x.declaredSources()
	return x, nil
}

// maxFound limits the references and refusals of one branch, because all of them are kept
// in memory and decided about: four times those of the largest measured repository.
const maxFound = 200_000

var errTooMany = errors.New("too many references")
