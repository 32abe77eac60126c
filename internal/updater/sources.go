package updater

import (
	"iter"
	"strings"
)

// sourceKey identifies a cluster object that objects in other files refer to,
// such as a HelmRepository.
type sourceKey struct{ kind, namespace, name string }

// declaration is a source that a file declares, for references in other files.
type declaration struct{ Kind, Namespace, Name, URL string }

// sourceURL is the URL of the sources with one name in a folder and its
// subfolders.
type sourceURL struct {
	url       string
	ambiguous bool // they have different URLs
}

// sources is the set of sources declared in all files of a branch, by their folder; each
// entry includes the subfolders. A file that needs a source is scanned again when all are
// known.
type sources map[sourceKey]map[string]sourceURL

// declare records that the file declares a source with the URL.
func (s sources) declare(file string, key sourceKey, url string) {
	folders := s[key]
	if folders == nil {
		folders = map[string]sourceURL{}
		s[key] = folders
	}
	for folder := range foldersOf(file) {
		known, found := folders[folder]
		switch {
		case !found:
			folders[folder] = sourceURL{url: url}
		case known.url != url:
			folders[folder] = sourceURL{url: known.url, ambiguous: true}
		}
	}
}

// url returns the URL of a source for a file that refers to it. If several files
// declare different URLs, the nearest one applies; if equally near ones differ,
// the URL is unknown.
func (s sources) url(file string, key sourceKey) (url string, found bool) {
	folders := s[key]
	for folder := range foldersOf(file) {
		if nearest, found := folders[folder]; found {
			return nearest.url, !nearest.ambiguous
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
