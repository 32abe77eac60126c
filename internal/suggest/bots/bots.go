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

// IsSettings reports whether a file is the settings of a bot by its name, so that it must
// be read although it is no manifest.
func IsSettings(file string) bool { return isRenovate(file) || isDependabot(file) }

// marks are texts of which every manifest with settings of a bot contains one.
var marks = [][]byte{[]byte("image.toolkit.fluxcd.io/"), []byte(imageUpdaterGroup + "/"), []byte(keelPolicy), []byte(fluxMark)}

// MayConfigure reports whether a file may configure a bot. Most files do not.
func MayConfigure(file string, content []byte) bool {
	marked := func(mark []byte) bool { return bytes.Contains(content, mark) }
	return IsSettings(file) || IsManifest(file) && slices.ContainsFunc(marks, marked)
}

// IsManifest reports whether a file has manifests by its name.
func IsManifest(file string) bool {
	extension := path.Ext(file)
	return extension == ".yaml" || extension == ".yml"
}

// Read returns what those of some files that may configure bots configure, by their paths.
func Read(files map[string][]byte) Setup {
	var f flux
	var s Setup
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if MayConfigure(file, files[file]) {
			s.read(&f, file, files[file])
		}
	}
	rules, writers := f.setup() // those of one image may be in several files
	s.Rules = append(rules, s.Rules...)
	s.Writers = append(writers, s.Writers...)
	return s
}

func (s *Setup) read(f *flux, file string, content []byte) {
	switch {
	case isRenovate(file):
		rules, writers, unread := renovate(file, content)
		s.add(rules, writers, unread)
		return
	case isDependabot(file):
		rules, writers, unread := dependabot(file, content)
		s.add(rules, writers, unread)
		return
	}
	f.readMarks(file, content)
	documents, err := parse(content)
	if err != nil {
		s.add(nil, nil, unreadManifest(file, content))
	}
	for _, document := range documents {
		f.read(file, document)
		if isImageUpdater(document) && !slices.Contains(s.Resources, file) {
			s.Resources = append(s.Resources, file)
		}
		rules, writers := imageUpdater(file, document)
		s.add(rules, writers, "")
		rules, writers = keel(file, document)
		s.add(rules, writers, "")
	}
}

func (s *Setup) add(rules []Rule, writers []Writer, unread string) {
	s.Rules = append(s.Rules, rules...)
	s.Writers = append(s.Writers, writers...)
	if unread != "" {
		s.Unread = append(s.Unread, unread)
	}
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
