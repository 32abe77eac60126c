package image

import (
	"cmp"
	"time"
)

// Pin is what a file contains of a version: its tag, its digest, or both.
type Pin string

// The ways to pin.
const (
	PinKeep      Pin = "keep"       // as the file has it
	PinTag       Pin = "tag"        // the tag only
	PinDigest    Pin = "digest"     // the digest only
	PinTagDigest Pin = "tag+digest" // both
)

// Version is one release of a component.
type Version struct {
	Tag       string
	Digest    string    // algorithm:hex; empty: unknown
	Version   string    // for display: the part of the tag that the policy compares
	Created   time.Time // as the publisher says; zero: unknown
	Revision  string    // commit of the source; empty: unknown
	Source    string    // URL of the source repository; empty: unknown
	Platforms []string  // os/arch, of an index; empty: unknown or one
	Signature Signature // as it was verified; zero: it was not
}

// With returns the version with what an earlier answer said about the same digest, where this
// one says nothing: not every question asks for everything.
func (v Version) With(earlier Version) Version {
	if v.Digest != earlier.Digest {
		return v
	}
	v.Signature = cmp.Or(v.Signature, earlier.Signature)
	if v.Created.IsZero() {
		earlier.Tag, earlier.Signature = v.Tag, v.Signature
		return earlier
	}
	return v
}

// Signature is who signed an image, or why that is not proven.
type Signature struct {
	By      string // who signed it; empty: not verified
	Problem string // why it is not verified; empty: it is, or it was not asked for
	Wrong   bool   // there are signatures, and none is by whom the config names
}

// Description is what an image says about itself, for users. Its publisher wrote it. Empty
// fields are unknown.
type Description struct {
	Created   time.Time
	Revision  string // commit of the source
	Source    string // repository of the source, as its publisher writes it
	Version   string
	URL       string
	Platforms []string // os/arch, all of an index
	Platform  string   // of the image that Created and Size are of
	Size      int64    // bytes of its layers, as they are transferred
}

// firstCreated is the first year of a plausible created time. Reproducible builds (ko,
// Jib, Bazel, buildpacks) use a fixed time in 1970 or 1980.
const firstCreated = 1990

// KnownCreated reports whether a created time is plausible.
func KnownCreated(t time.Time) bool { return t.UTC().Year() >= firstCreated }
