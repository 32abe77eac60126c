package state

import (
	"time"

	"promoter/internal/identity"
)

// Branch is the branch that holds the state.
const Branch = "promoter/_state"

// Schema is the version of the files that this package writes.
const Schema = 1

// All stands for every environment or application in a Place. No environment or
// application can have this name.
const All = "_all"

// Target is what a record is about: an application in an environment, an
// environment (Application is All), or the repository (both are All).
type Target struct {
	Environment string
	Application string
}

// Record is what is known about one place: one file.
type Record struct {
	Schema     int         `json:"schema"`
	Hold       *Act        `json:"hold,omitempty"`   // until resumed: nothing is proposed and nothing lands
	Freeze     *Frozen     `json:"freeze,omitempty"` // the same, for an environment or the repository
	Resumed    *Act        `json:"resumed,omitempty"`
	Request    *Request    `json:"request,omitempty"`
	Rollback   *RolledBack `json:"rollback,omitempty"`
	Rejections []Rejection `json:"rejections,omitempty"`
	Closings   []Closing   `json:"closings,omitempty"`
	Reopened   *Reopened   `json:"reopened,omitempty"`
	Seen       []Seen      `json:"seen,omitempty"`
	Versions   []Version   `json:"versions,omitempty"`
	// HeardFrom and Heard are in the record of the repository alone. HeardFrom is the
	// time before which no comment is heard any more.
	HeardFrom *time.Time         `json:"heardFrom,omitempty"`
	Heard     []ProcessedComment `json:"heard,omitempty"`

	source []byte // of the file that it was read from; nil: none
}

// Act is who decided, when and why.
type Act struct {
	By  identity.User `json:"by"`
	At  time.Time     `json:"at"` // UTC
	Why string        `json:"why,omitempty"`
}

// Frozen is a hold of an environment or of the repository that may end by itself.
type Frozen struct {
	Act
	Until *time.Time `json:"until,omitempty"`
}

// Request asks for a promotion that waits for somebody to ask.
type Request struct {
	Act
	// With names versions, REPOSITORY[:TAG][@DIGEST], that go in instead of those
	// of the environments before. The registry is asked what they are.
	With []string `json:"with,omitempty"`
	// Snapshot is the id of the snapshot that the request was taken for. Empty
	// until then; afterwards it counts for no other.
	Snapshot string `json:"snapshot,omitempty"`
}

// RolledBack asks for the versions that a place held before.
type RolledBack struct {
	Act
	Images map[string]string `json:"images"` // component: repository:tag@digest
}

// Rejection says that versions are not to be proposed in the place again. In the
// record of the repository it holds everywhere.
type Rejection struct {
	Act
	Images map[string]string `json:"images"`           // component: repository:tag@digest
	Number int               `json:"number,omitempty"` // of the pull request that was closed
}

// Closing is a pull request that promoter closed by itself. It is written before
// the close, so that no crash makes it look like a person's answer.
type Closing struct {
	Number int       `json:"number"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// Reopened remembers that a deleted head branch was pushed again once.
type Reopened struct {
	Number int       `json:"number"` // of the pull request whose branch was deleted
	At     time.Time `json:"at"`
}

// Seen is when a snapshot was first seen in the place: the beginning of its soak
// where no forge tells the time of a merge.
type Seen struct {
	Snapshot string    `json:"snapshot"` // its id
	At       time.Time `json:"at"`
}

// Version is when a version of a component was first offered to the place.
type Version struct {
	Component string    `json:"component"`
	Tag       string    `json:"tag,omitempty"`
	Digest    string    `json:"digest"`
	At        time.Time `json:"at"`
}
