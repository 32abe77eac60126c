package updater

import (
	"slices"
	"strings"
	"sync"
)

// sourceKey names an object of a cluster that objects in other files refer to,
// such as a HelmRepository.
type sourceKey struct{ kind, namespace, name string }

// declared is one file's word about a source.
type declared struct{ file, url string }

// sources is what all files of a branch declare. It is filled by a first scan;
// files that asked before it was complete are scanned again.
type sources struct {
	mu       sync.Mutex
	byKey    map[sourceKey][]declared
	complete bool
}

func newSources() *sources { return &sources{byKey: map[sourceKey][]declared{}} }

// declare says that the file holds the source and where it points. Nothing is
// added once the sources are complete.
func (f *finder) declare(key sourceKey, url string) {
	s := f.sources
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.complete {
		return
	}
	word := declared{f.path, url}
	if !slices.Contains(s.byKey[key], word) {
		s.byKey[key] = append(s.byKey[key], word)
	}
}

// source returns where a source points. During the first scan it is unknown, and
// the file is scanned again later. Where several files declare it differently,
// the nearest one counts; equally near ones that differ make it unknown.
func (f *finder) source(key sourceKey) (url string, found bool) {
	s := f.sources
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.complete {
		f.waiting = true
		return "", false
	}
	nearest := -1
	for _, word := range s.byKey[key] {
		switch near := sharedFolders(word.file, f.path); {
		case near > nearest:
			nearest, url, found = near, word.url, true
		case near == nearest && word.url != url:
			found = false
		}
	}
	return url, found
}

// sharedFolders counts the leading folders that two paths share.
func sharedFolders(a, b string) (count int) {
	for {
		headA, restA, moreA := strings.Cut(a, "/")
		headB, restB, moreB := strings.Cut(b, "/")
		if !moreA || !moreB || headA != headB {
			return count
		}
		a, b = restA, restB
		count++
	}
}
