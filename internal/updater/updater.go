package updater

import (
	"runtime"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// DefaultMaxFileSize is the size in bytes over which a file is not parsed,
// unless the options say otherwise.
const DefaultMaxFileSize = 1 << 20

// Followed is a component as it is followed at one place: what it is called, what
// it holds and how it is written.
type Followed struct {
	Component  string
	Artifact   image.Artifact
	Repository image.Repository
	Pin        image.Pin // empty: keep
	Moving     bool      // the tag may point elsewhere, so a digest is always written
	TagStays   bool      // a wanted version without a tag is another build of the tag in the file
	Source     string    // URL of the source repository; empty: unknown
	// Numeric says that the tags are plain numbers. Of an image without one,
	// redis:6379 is an address and stays, except under a key that says image.
	Numeric bool
}

// Follower says which repositories are followed where.
type Follower interface {
	// Follow returns the component that stands for the repository in the file.
	Follow(file string, repository image.Repository) (Followed, bool)
	// Named returns the component of that name, as markers give it.
	Named(file, component string) (Followed, bool)
	// Literals returns texts of which every file that can hold a reference has
	// at least one, such as the last segments of repositories. None: every file
	// may hold one.
	Literals() []string
}

// Mode says what an entry of a tree is.
type Mode string

// The modes of entries.
const (
	Regular   Mode = ""
	Symlink   Mode = "symbolic link"
	Submodule Mode = "submodule"
)

// File is one entry of a branch.
type File struct {
	Path string // slash separated, relative to the root of the branch
	Mode Mode
	Size int64 // in bytes
	// Read returns the content, for a symbolic link that of the file it leads
	// to. Nil: it cannot be read, as with a submodule.
	Read func() ([]byte, error)
}

// Options limit the work. The zero value means the defaults.
type Options struct {
	MaxFileSize int64 // bytes; 0: DefaultMaxFileSize
	Workers     int   // files looked at side by side; 0: as many as processors
	// Writes returns the configured places of a file; nil: there are none.
	Writes func(file string) []Write
}

// Note is something about a file that a person should know and that stops
// nothing, such as an alias that changes along with its anchor.
type Note struct {
	edit.Position
	Text string
}

// Updater scans branches for the references that its follower follows.
type Updater struct {
	follower Follower
	options  Options
	shapes   *shapeSet
	kinds    kindTable
	may      prefilter
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
	return &Updater{
		follower: follower, options: options, shapes: shapes, kinds: newKindTable(),
		may: newPrefilter(follower.Literals(), shapes),
	}
}
