package updater

import (
	"cmp"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"promoter/internal/edit"
	"promoter/internal/fault"
)

// Survey is the content of the files of one commit, file by file. The survey of
// another commit is derived from the files that differ, without reading the
// others. A survey is immutable, and the surveys of two commits share their
// common parts.
type Survey struct {
	updater *Updater
	sources *sources // of all files
	files   map[string]*surveyed
}

// surveyed is the content of one file. A file without content of interest has
// none.
type surveyed struct {
	References []edit.Reference
	Refusals   []edit.Refusal
	Declared   []declaration
	Waits      bool // its references depend on sources in other files
	Unread     bool // it could not be read; reading it may succeed later
}

// declaration is a source that a file declares, for references in other files.
type declaration struct{ Kind, Namespace, Name, URL string }

// Survey returns the survey of a commit without files.
func (u *Updater) Survey() *Survey {
	s := &Survey{updater: u, files: map[string]*surveyed{}}
	s.sources = sourcesOf(s)
	return s
}

// Difference describes how the files of a commit differ from those of a survey.
type Difference struct {
	Files []File   // added files, and files with changed content or mode
	Gone  []string // removed paths
	// Open opens an unchanged file that must be scanned again because a source
	// that it refers to has changed.
	Open func(path string) (File, error)
}

// Next returns the survey of the commit with that difference, and the paths of
// the files whose findings may have changed.
func (s *Survey) Next(ctx context.Context, d Difference) (*Survey, []string, error) {
	next := &Survey{updater: s.updater, sources: s.sources, files: maps.Clone(s.files)}
	for _, path := range d.Gone {
		delete(next.files, path)
	}
	if err := next.look(ctx, d.Files, newSources()); err != nil {
		return nil, nil, err
	}
	touched := slices.Clone(d.Gone)
	for _, file := range d.Files {
		touched = append(touched, file.Path)
	}
	waiting := slices.DeleteFunc(slices.Clone(d.Files), func(file File) bool { return !next.at(file.Path).Waits })
	if next.declaresOther(s, touched) {
		next.sources = sourcesOf(next)
		var err error
		if waiting, err = next.waiting(d); err != nil {
			return nil, nil, err
		}
		for _, file := range waiting {
			touched = append(touched, file.Path)
		}
	}
	if err := next.look(ctx, waiting, next.sources); err != nil {
		return nil, nil, err
	}
	slices.Sort(touched)
	return next, slices.Compact(touched), nil
}

// declaresOther reports whether any of the files declares different sources
// than before.
func (s *Survey) declaresOther(before *Survey, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return !slices.Equal(s.at(path).Declared, before.at(path).Declared)
	})
}

// waiting returns all files that depend on sources in other files.
func (s *Survey) waiting(d Difference) ([]File, error) {
	given := make(map[string]File, len(d.Files))
	for _, file := range d.Files {
		given[file.Path] = file
	}
	var waiting []File
	for path, found := range s.files {
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

// look surveys the files in parallel.
func (s *Survey) look(ctx context.Context, files []File, from *sources) error {
	inventory := &Inventory{updater: s.updater, sources: from}
	var mutex sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.updater.options.Workers)
	for batch := range slices.Chunk(files, batchSize) {
		group.Go(func() (err error) {
			defer fault.Survive(&err)
			for _, file := range batch {
				found := inventory.survey(file)
				mutex.Lock()
				s.note(file.Path, found)
				mutex.Unlock()
			}
			return context.Cause(ctx)
		})
	}
	return group.Wait() //nolint:wrapcheck // the cause of the context, or a defect
}

func (s *Survey) note(path string, found *surveyed) {
	if found.empty() {
		delete(s.files, path)
	} else {
		s.files[path] = found
	}
}

func (f *surveyed) empty() bool {
	return len(f.References)+len(f.Refusals)+len(f.Declared) == 0 && !f.Waits && !f.Unread
}

// survey scans one file. A file that depends on sources in other files is
// scanned again when the sources are known.
func (i *Inventory) survey(file File) *surveyed {
	found := &surveyed{}
	if read := file.Read; read != nil {
		file.Read = func() ([]byte, error) {
			content, err := read()
			found.Unread = err != nil
			return content, err
		}
	}
	a := i.analyze(file)
	found.Refusals, found.Declared, found.Waits = a.refusals, a.declared, a.asks
	for _, site := range a.sites {
		found.References = append(found.References, site.reference(file.Path))
	}
	return found
}

// at returns the content of a file.
func (s *Survey) at(path string) *surveyed {
	if found := s.files[path]; found != nil {
		return found
	}
	return &surveyed{}
}

// Unread returns the files that could not be read. They must be part of the
// next difference.
func (s *Survey) Unread() []string {
	var paths []string
	for path, found := range s.files {
		if found.Unread {
			paths = append(paths, path)
		}
	}
	return paths
}

// Inventory returns the inventory of some of the files, without notes.
func (s *Survey) Inventory(paths ...string) *Inventory {
	inventory := &Inventory{updater: s.updater, sources: s.sources}
	for _, path := range paths {
		found := s.at(path)
		inventory.References = append(inventory.References, found.References...)
		inventory.Refusals = append(inventory.Refusals, found.Refusals...)
	}
	inventory.sort()
	return inventory
}

// maxSurvey limits the size in bytes of an encoded survey that is read.
const maxSurvey = 256 << 20

// Encode writes the survey. It must not be read with another follower or other
// options, or by a build that finds different content in the same files.
func (s *Survey) Encode(w io.Writer) error {
	encoder := gob.NewEncoder(w)
	err := encoder.Encode(len(s.files))
	for path, found := range s.files { // one by one: all at once would double the memory
		err = cmp.Or(err, encoder.Encode(path), encoder.Encode(found))
	}
	if err != nil {
		return fmt.Errorf("write what was found: %w", err)
	}
	return nil
}

// ReadSurvey reads a survey that Encode wrote.
func (u *Updater) ReadSurvey(r io.Reader) (*Survey, error) {
	s, files := u.Survey(), 0
	decoder := gob.NewDecoder(io.LimitReader(r, maxSurvey))
	err := decoder.Decode(&files)
	for range files {
		var path string
		found := &surveyed{}
		if err = cmp.Or(err, decoder.Decode(&path), decoder.Decode(found)); err != nil {
			break
		}
		s.files[path] = found
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, fmt.Errorf("read what was found: %w", err))
	}
	s.sources = sourcesOf(s)
	return s, nil
}
