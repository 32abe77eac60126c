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

// Survey is what the files of one commit hold, file by file, so that what another
// commit holds is found from the files that differ; the others are not read. A
// survey does not change, and those of two commits share what they have in common.
type Survey struct {
	updater *Updater
	sources *sources // of all files
	files   map[string]*surveyed
}

// surveyed is what one file holds. A file that holds nothing has none.
type surveyed struct {
	References []edit.Reference
	Refusals   []edit.Refusal
	Declared   []declaration
	Waits      bool // what it refers to rests on sources in other files
	Unread     bool // it could not be read, which may work another time
}

// declaration is a source that a file declares, for references in other files.
type declaration struct{ Kind, Namespace, Name, URL string }

// Survey returns the survey of a commit without files.
func (u *Updater) Survey() *Survey {
	s := &Survey{updater: u, files: map[string]*surveyed{}}
	s.sources = sourcesOf(s)
	return s
}

// Difference is how the files of a commit differ from those of a survey.
type Difference struct {
	Files []File   // new ones, and those with another content or mode
	Gone  []string // paths
	// Open finds a file that is the same, where it has to be looked at again
	// because a source that it refers to is another one.
	Open func(path string) (File, error)
}

// Next returns the survey of the commit that differs like that, and the paths of
// the files in which other things may be found than before.
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

// declaresOther says whether any of the files declares other sources than before.
func (s *Survey) declaresOther(before *Survey, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return !slices.Equal(s.at(path).Declared, before.at(path).Declared)
	})
}

// waiting returns all files that wait for sources.
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

// look notes what the files hold, side by side.
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

// survey looks at one file. What waits is looked at again when the sources are
// known.
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

// at returns what a file holds.
func (s *Survey) at(path string) *surveyed {
	if found := s.files[path]; found != nil {
		return found
	}
	return &surveyed{}
}

// Unread returns the files that could not be read: they belong to the difference
// of whatever comes next.
func (s *Survey) Unread() []string {
	var paths []string
	for path, found := range s.files {
		if found.Unread {
			paths = append(paths, path)
		}
	}
	return paths
}

// Inventory returns what some of the files hold, without notes.
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

// maxSurvey bounds a survey that is read back, in bytes.
const maxSurvey = 256 << 20

// Encode writes the survey down. It must not be read for another follower or other
// options, or by a build that finds other things in the same files.
func (s *Survey) Encode(w io.Writer) error {
	encoder := gob.NewEncoder(w)
	err := encoder.Encode(len(s.files))
	for path, found := range s.files { // one by one: all at once would be in memory twice
		err = cmp.Or(err, encoder.Encode(path), encoder.Encode(found))
	}
	if err != nil {
		return fmt.Errorf("write what was found: %w", err)
	}
	return nil
}

// ReadSurvey reads what Encode wrote.
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
