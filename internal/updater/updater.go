// Package updater finds the references to followed artifacts in the files of a
// branch and rewrites them, changing only the bytes of the value.
//
// It never serializes YAML. It parses a file, finds the byte span of each
// scalar that sets the running version, replaces those spans, parses the
// result, and proves that the two streams have the same documents and nodes
// except for the intended scalars. It refuses any change that it cannot prove,
// with file, line and reason. docs/writing.md lists the supported shapes and
// the refusals.
//
// Package shapes finds the references, package site determines their edits for a version,
// package span determines and proves the bytes of an edit, package node reads values from
// parsed YAML, package lex recognizes references in text, package mention finds what names
// a followed repository in any form, and package prefilter excludes files before they are parsed.
package updater

import (
	"runtime"

	"promoter/internal/image"
	"promoter/internal/updater/mention"
	"promoter/internal/updater/prefilter"
	"promoter/internal/updater/shapes"
)

// DefaultMaxFileSize is the size in bytes above which a file is not parsed,
// unless the options set another limit.
const DefaultMaxFileSize = 1 << 20

// Mode is the type of a tree entry.
type Mode string

// The modes of entries.
const (
	Regular   Mode = ""
	Symlink   Mode = "symbolic link"
	Submodule Mode = "submodule"
)

// File is one entry of a branch.
type File struct {
	Path string // slash-separated, relative to the root of the branch
	Mode Mode
	Size int64 // in bytes
	// Read returns the content; for a symbolic link, the content of its target.
	// Nil if the entry cannot be read, as with a submodule.
	Read func() ([]byte, error)
}

// Options limit the work. The zero value selects the defaults.
type Options struct {
	MaxFileSize int64 // bytes; 0: DefaultMaxFileSize
	Workers     int   // number of files scanned in parallel; 0: number of processors
	// Writes returns the configured locations in a file. Nil if there are none.
	Writes func(file string) []shapes.Write
	// Mentions reports whether mentions are searched in a file. Nil: in none.
	Mentions func(file string) bool
	// Names are the repositories that components without a wildcard follow, and their mirrors.
	Names []image.Repository
	// Holds returns the keys whose values keep a file from being written. Nil if there are none.
	// The literals of the follower must include the last segment of each key.
	Holds func(file string) []Hold
}

// Updater scans branches for references to the artifacts that its follower
// follows.
type Updater struct {
	follower shapes.Follower
	options  Options
	finder   *shapes.Finder
	filter   *prefilter.Filter
	mentions *mention.Finder // nil: none are searched
}

// New returns an updater.
func New(follower shapes.Follower, options Options) *Updater {
	if options.MaxFileSize <= 0 {
		options.MaxFileSize = DefaultMaxFileSize
	}
	if options.Workers <= 0 {
		options.Workers = runtime.GOMAXPROCS(0)
	}
	finder := shapes.New(follower)
	u := &Updater{follower: follower, options: options, finder: finder, filter: prefilter.New(finder.Literals())}
	if options.Mentions != nil {
		u.mentions = mention.New(follower.Literals(), options.Names)
	}
	return u
}
