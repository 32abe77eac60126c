package app

import (
	"time"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/scan"
)

// Options say what plan and apply look at.
type Options struct {
	Environments []string                   // by name; none: all of them
	OnlyLook     bool                       // the environments are named to be looked at, and not asked for
	Paths        []string                   // globs that narrow the files; none: all of them
	Given        promotion.ExplicitVersions // versions taken as they are; none: the registries are asked
	Versions     Versions                   // the registries, with the rights of this checkout
	MaxFileSize  int64                      // bytes over which a file is not parsed; 0: the updater's default
	Now          func() time.Time
	Progress     func(Progress) // nil: nobody watches
}

// Progress says how far long work has come.
type Progress struct {
	Doing string // "asking registries", "reading files"
	Done  int
	Total int // 0: not known
}

// check refuses a limit over which files would be read in part.
func (o Options) check() error {
	if o.MaxFileSize < 0 || o.MaxFileSize > scan.ReadLimit {
		return fault.New(fault.Invalid, "--max-file-size %d: want 1 to %d bytes", o.MaxFileSize, scan.ReadLimit)
	}
	return nil
}

func (o Options) progress(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}
