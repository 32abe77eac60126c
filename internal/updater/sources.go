package updater

import (
	"iter"
	"strings"
	"sync"
)

// sourceKey identifies a cluster object that objects in other files refer to,
// such as a HelmRepository.
type sourceKey struct{ kind, namespace, name string }

// pointing is the URL of the sources with one name in a folder and its
// subfolders.
type pointing struct {
	url     string
	several bool // they have different URLs
}

// sources is the set of sources declared in all files of a branch. The first
// scan fills it; files that need a source before it is complete are scanned
// again.
type sources struct {
	mu       sync.Mutex
	byKey    map[sourceKey]map[string]pointing // by folder; each entry includes the subfolders
	complete bool
}

func newSources() *sources { return &sources{byKey: map[sourceKey]map[string]pointing{}} }

// sourcesOf returns the sources declared in the files of a survey.
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

// declare records that the file declares a source with the URL. It adds nothing
// once the sources are complete.
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

// source returns the URL of a source. During the first scan it is unknown, and
// the file is scanned again later. If several files declare different URLs, the
// nearest one applies; if equally near ones differ, the URL is unknown.
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

// foldersOf yields the folders of a path, from its own to the root, which is
// "".
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
