package image

import "time"

// Pin says what a file holds of a version: its tag, its digest, or both.
type Pin string

// The ways to pin.
const (
	PinKeep      Pin = "keep"       // as the file has it now
	PinTag       Pin = "tag"        // the tag alone
	PinDigest    Pin = "digest"     // the digest alone
	PinTagDigest Pin = "tag+digest" // both
)

// Version is one release of a component.
type Version struct {
	Tag       string
	Digest    string    // algorithm:hex; empty: unknown
	Version   string    // what people call it: the part of the tag that the policy compares
	Created   time.Time // as the publisher says; zero: unknown
	Revision  string    // commit of the source; empty: unknown
	Source    string    // URL of the source repository; empty: unknown
	Platforms []string  // os/arch, of an index; empty: unknown or one
}

// firstCreated is the year from which on a created time is believed. Builders
// that want the same bits from the same source (ko, Jib, Bazel, buildpacks)
// stamp 1970 or 1980.
const firstCreated = 1990

// KnownCreated says whether a created time tells anything.
func KnownCreated(t time.Time) bool { return t.UTC().Year() >= firstCreated }
