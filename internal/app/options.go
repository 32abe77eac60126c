package app

import "time"

// Options say what plan and apply look at.
type Options struct {
	Environments []string // by name; none: all of them
	Paths        []string // globs that narrow the files; none: all of them
	Given        Given    // versions taken as they are; none: the registries are asked
	Versions     Versions // the registries, with the rights of this checkout
	MaxFileSize  int64    // bytes over which a file is not parsed; 0: the updater's default
	Now          func() time.Time
	Progress     func(Progress) // nil: nobody watches
}

// Progress says how far long work has come.
type Progress struct {
	Doing string // "asking registries", "reading files"
	Done  int
	Total int // 0: not known
}

func (o Options) progress(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}
