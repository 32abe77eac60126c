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
// Each shape, a form in which files contain references, has its own file and one
// row in the table in shapes.go. Package span determines and proves the bytes of
// an edit, package node reads values from parsed YAML, and package prefilter
// excludes files before they are parsed.
package updater

import (
	"runtime"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/prefilter"
)

// DefaultMaxFileSize is the size in bytes above which a file is not parsed,
// unless the options set another limit.
const DefaultMaxFileSize = 1 << 20

// Followed is a component as followed in one file: its name, its artifact, and
// how its version is written.
type Followed struct {
	Component  string
	Artifact   image.Artifact
	Repository image.Repository
	Pin        image.Pin // empty: keep
	Moving     bool      // the tag may move, so a digest is always written
	TagStays   bool      // a wanted version without a tag is another build of the tag in the file
	Source     string    // URL of the source repository; empty if unknown
	// Numeric reports that the tags are plain numbers. If it is false,
	// redis:6379 is an address and is not changed, except under a key that
	// contains "image".
	Numeric bool
	// AnyWord reports that a pattern without a registry selected the repository.
	// A word such as system:masters is then no reference unless its key, its
	// registry, or its digest shows that it is an image.
	AnyWord bool
}

// Follower defines which repositories are followed in which files.
type Follower interface {
	// Follow returns the component for the repository in the file.
	Follow(file string, repository image.Repository) (Followed, bool)
	// Named returns the component with the name used in a marker.
	Named(file, component string) (Followed, bool)
	// Literals returns texts of which every file with a reference contains at
	// least one, such as the last segments of repositories. If it returns none,
	// any file may contain a reference.
	Literals() []string
}

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
	Writes func(file string) []Write
	// Holds returns the values that keep a file from being written. Nil if there are none.
	// The literals of the follower must include the last segment of each key.
	Holds func(file string) []Hold
}

// Note is information about a file that does not prevent an update, such as an
// alias that changes along with its anchor.
type Note struct {
	edit.Position
	Text string
}

// Updater scans branches for references to the artifacts that its follower
// follows.
type Updater struct {
	follower Follower
	options  Options
	shapes   *shapeSet
	filter   *prefilter.Filter
}

// New returns an updater.
func New(follower Follower, options Options) *Updater {
	if options.MaxFileSize <= 0 {
		options.MaxFileSize = DefaultMaxFileSize
	}
	if options.Workers <= 0 {
		options.Workers = runtime.GOMAXPROCS(0)
	}
	shapes := newShapeSet(knownShapes())
	literals := follower.Literals()
	if len(literals) > 0 {
		literals = append([]string{markOwn, markFlux}, literals...)
		for _, shape := range shapes.all {
			literals = append(literals, shape.literals...)
		}
	}
	return &Updater{follower: follower, options: options, shapes: shapes, filter: prefilter.New(literals)}
}
