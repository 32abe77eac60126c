// Package bots reads from the files of a repository which other bots update its images,
// and which versions they select: Flux image automation, Argo CD Image Updater, Renovate,
// Dependabot, and Keel.
//
// A rule that has no equivalent in a selection of promoter has a problem instead, so that
// the caller can select less. It never gets a selection that accepts more tags than the
// bot does.
package bots

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"promoter/internal/image"
)

// Rule is what a bot selects of some repositories.
type Rule struct {
	Source    string // the bot, and where it is configured: "Renovate (renovate.json)"
	Applies   func(image.Repository) bool
	Selection image.Selection // all that the bot selects; zero: the rest limits another selection
	Range     string          // of semantic versions; empty: any
	Filter    string          // regular expression of tags; empty: any
	Exclude   []string        // regular expressions of tags
	NoMinor   bool            // versions keep their major and minor number
	Problem   string          // what has no equivalent; empty: nothing
}

// Writer is a bot that changes images, in the files or in the cluster.
type Writer struct {
	Bot     string
	File    string // where it is configured
	Updates func(file string, r image.Repository) bool
	Off     func(images []image.Repository) string // what to switch off, without a period
}

// Setup is what the files of a repository configure, in a fixed order.
type Setup struct {
	Rules   []Rule
	Writers []Writer
	Unread  []string // settings that cannot be read, as sources
	// Resources are files of a bot in which the images have constraints and not versions.
	Resources []string
}

// Reader collects the settings of bots. It is safe for concurrent use.
type Reader struct {
	mutex sync.Mutex
	flux  flux
	found map[string]found // by file; a file may be read more than once
}

// found are the settings of one file.
type found struct {
	rules      []Rule
	writers    []Writer
	unread     string
	isResource bool
}

// IsSettings reports whether a file is the settings of a bot by its name, so that it must
// be read although it is no manifest.
func IsSettings(file string) bool { return isRenovate(file) || isDependabot(file) }

// marks are texts of which every manifest with settings of a bot contains one.
var marks = [][]byte{[]byte("image.toolkit.fluxcd.io/"), []byte(imageUpdaterGroup + "/"), []byte(keelPolicy), []byte(fluxMark)}

// maxSize is the size in bytes of the largest file with settings.
const maxSize = 1 << 20

// Read reads a file. Most files contain no settings.
func (r *Reader) Read(file string, content []byte) {
	extension := path.Ext(file)
	isManifest := (extension == ".yaml" || extension == ".yml") &&
		slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(content, mark) })
	if len(content) > maxSize || !isManifest && !IsSettings(file) {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, known := r.found[file]; known {
		return
	}
	if r.found == nil {
		r.found = map[string]found{}
	}
	r.found[file] = r.read(file, content)
}

func (r *Reader) read(file string, content []byte) (one found) {
	switch {
	case isRenovate(file):
		one.rules, one.writers, one.unread = renovate(file, content)
		return one
	case isDependabot(file):
		one.rules, one.writers, one.unread = dependabot(file, content)
		return one
	}
	r.flux.readMarks(file, content)
	documents, err := parse(content)
	if err != nil {
		one.unread = unreadManifest(file, content)
	}
	for _, document := range documents {
		r.flux.read(file, document)
		one.isResource = one.isResource || isImageUpdater(document)
		rules, writers := imageUpdater(file, document)
		keelRules, keelWriters := keel(file, document)
		one.rules = slices.Concat(one.rules, rules, keelRules)
		one.writers = slices.Concat(one.writers, writers, keelWriters)
	}
	return one
}

// unreadManifest names the bot that a manifest with templates configures.
func unreadManifest(file string, content []byte) string {
	switch {
	case bytes.Contains(content, []byte(imageUpdaterGroup+"/")):
		return source("Argo CD Image Updater", file)
	case bytes.Contains(content, []byte(keelPolicy)):
		return source("Keel", file)
	case bytes.Contains(content, []byte("kind: ImagePolicy")), bytes.Contains(content, []byte("kind: ImageUpdateAutomation")):
		return source("Flux", file)
	}
	return ""
}

// Setup returns what was read.
func (r *Reader) Setup() Setup {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var s Setup
	s.Rules, s.Writers = r.flux.setup()
	for _, file := range slices.Sorted(maps.Keys(r.found)) {
		one := r.found[file]
		s.Rules = append(s.Rules, one.rules...)
		s.Writers = append(s.Writers, one.writers...)
		if one.unread != "" {
			s.Unread = append(s.Unread, one.unread)
		}
		if one.isResource {
			s.Resources = append(s.Resources, file)
		}
	}
	return s
}

// source describes where something is configured.
func source(what, file string) string { return what + " (" + file + ")" }

// only returns a condition for one repository.
func only(wanted image.Repository) func(image.Repository) bool {
	return func(r image.Repository) bool { return r == wanted }
}

// list lists the first repositories in some form, separated by commas.
func list(images []image.Repository, form func(image.Repository) string) string {
	var texts []string
	for _, r := range images[:min(len(images), maxNames)] {
		texts = append(texts, form(r))
	}
	if len(images) > maxNames {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}

// maxNames is how many repositories an advice lists.
const maxNames = 4
