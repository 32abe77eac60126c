package updater

import (
	"iter"
	"strings"
	"sync"
)

// sourceKey names an object of a cluster that objects in other files refer to,
// such as a HelmRepository.
type sourceKey struct{ kind, namespace, name string }

// pointing is where the sources of one name point that stand in a folder or
// below it.
type pointing struct {
	url     string
	several bool // not all to the same URL
}

// sources is what all files of a branch declare. It is filled by a first scan;
// files that asked before it was complete are scanned again.
type sources struct {
	mu       sync.Mutex
	byKey    map[sourceKey]map[string]pointing // by folder; each holds what its own folders hold
	complete bool
}

func newSources() *sources { return &sources{byKey: map[sourceKey]map[string]pointing{}} }

// sourcesOf returns what the files of a survey declare.
func sourcesOf(s *Survey) *sources {
	all := newSources()
	for path, found := range s.files {
		for _, d := range found.Declared {
			all.declare(path, sourceKey{d.Kind, d.Namespace, d.Name}, d.URL)
		}
	}
	all.complete = true
	return all
}

// declare says that the file holds the source and where it points. Nothing is
// added once the sources are complete.
func (f *finder) declare(key sourceKey, url string) {
	f.declared = append(f.declared, declaration{key.kind, key.namespace, key.name, url})
	f.sources.declare(f.path, key, url)
}

func (s *sources) declare(file string, key sourceKey, url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.complete {
		return
	}
	folders := s.byKey[key]
	if folders == nil {
		folders = map[string]pointing{}
		s.byKey[key] = folders
	}
	for folder := range foldersOf(file) {
		known, found := folders[folder]
		switch {
		case !found:
			folders[folder] = pointing{url: url}
		case known.url != url:
			folders[folder] = pointing{url: known.url, several: true}
		}
	}
}

// source returns where a source points. During the first scan it is unknown, and
// the file is scanned again later. Where several files declare it differently,
// the nearest one counts; equally near ones that differ make it unknown.
func (f *finder) source(key sourceKey) (url string, found bool) {
	s := f.sources
	s.mu.Lock()
	defer s.mu.Unlock()
	f.asks = true
	if !s.complete {
		return "", false
	}
	folders := s.byKey[key]
	for folder := range foldersOf(f.path) {
		if nearest, found := folders[folder]; found {
			return nearest.url, !nearest.several
		}
	}
	return "", false
}

// foldersOf yields the folders of a path, from its own to the root, which is "".
func foldersOf(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			at := strings.LastIndexByte(file, '/')
			if at < 0 {
				yield("")
				return
			}
			file = file[:at]
			if !yield(file) {
				return
			}
		}
	}
}
