package git

import (
	"promoter/internal/git/object"
	"promoter/internal/git/wire"
)

// The types of the packages below, until all callers import those.
type (
	Commit     = object.Commit
	Credential = wire.Credential
	Draft      = object.Draft
	Entry      = object.Entry
	ID         = object.ID
	Mode       = object.Mode
	Remote     = wire.Remote
	Signature  = object.Signature
	Trailer    = object.Trailer
	Trailers   = object.Trailers
	Tree       = object.Tree
)

// The kinds of files.
const (
	Regular   = object.Regular
	Symlink   = object.Symlink
	Submodule = object.Submodule
)

// ParseID is object.ParseID.
func ParseID(text string) (ID, error) { return object.ParseID(text) }

// ParseTrailers is object.ParseTrailers.
func ParseTrailers(message string) Trailers { return object.ParseTrailers(message) }
