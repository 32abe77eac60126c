package state

import (
	"time"

	"promoter/internal/identity"
)

// Branch is the branch that contains the state.
const Branch = "promoter/_state"

// Schema is the version of the files that this package writes.
const Schema = 1

// All selects every environment or application in a Target. No environment or
// application can have this name.
const All = "_all"

// Target identifies the subject of a record: an application in an environment,
// an environment (Application is All), or the repository (both are All).
type Target struct {
	Environment string
	Application string
}

// Record is the state of one target, stored in one file.
type Record struct {
	Schema     int         `json:"schema"`
	Hold       *Act        `json:"hold,omitempty"`   // until resumed: nothing is proposed or merged
	Freeze     *Frozen     `json:"freeze,omitempty"` // the same, for an environment or the repository
	Resumed    *Act        `json:"resumed,omitempty"`
	Request    *Request    `json:"request,omitempty"`
	Rollback   *RolledBack `json:"rollback,omitempty"`
	Rejections []Rejection `json:"rejections,omitempty"`
	Closings   []Closing   `json:"closings,omitempty"`
	Reopened   *Reopened   `json:"reopened,omitempty"`
	Seen       []Seen      `json:"seen,omitempty"`
	Versions   []Version   `json:"versions,omitempty"`
	// HeardFrom and Heard are only in the record of the repository. Comments
	// written before HeardFrom are not processed.
	HeardFrom *time.Time         `json:"heardFrom,omitempty"`
	Heard     []ProcessedComment `json:"heard,omitempty"`

	source []byte // of the file that it was read from; nil if none
}

// Act is a user decision: by whom, when and why.
type Act struct {
	By  identity.User `json:"by"`
	At  time.Time     `json:"at"` // UTC
	Why string        `json:"why,omitempty"`
}

// Frozen is a hold of an environment or of the repository that may expire.
type Frozen struct {
	Act
	Until *time.Time `json:"until,omitempty"`
}

// Request is a request for a promotion that requires one.
type Request struct {
	Act
	// With lists explicit versions, REPOSITORY[:TAG][@DIGEST], to use instead
	// of those of the upstream environments. They are resolved in the registry.
	With []string `json:"with,omitempty"`
	// Snapshot is the ID of the snapshot to which the request is bound. It is
	// empty at first; once set, the request applies to no other snapshot.
	Snapshot string `json:"snapshot,omitempty"`
}

// RolledBack is a request to restore the previous versions of a target.
type RolledBack struct {
	Act
	Images map[string]string `json:"images"` // component: repository:tag@digest
}

// Rejection prevents versions from being proposed again in the target. In the
// record of the repository it applies everywhere.
type Rejection struct {
	Act
	Images map[string]string `json:"images"`           // component: repository:tag@digest
	Number int               `json:"number,omitempty"` // of the pull request that was closed
}

// Closing is a pull request that promoter closed by itself. It is written
// before the close, so that after a crash it is not mistaken for a user
// decision.
type Closing struct {
	Number int       `json:"number"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// Reopened records that a deleted head branch was pushed again once.
type Reopened struct {
	Number int       `json:"number"` // of the pull request whose branch was deleted
	At     time.Time `json:"at"`
}

// Seen records when a snapshot was first seen in the target, which starts its
// soak if no forge reports the merge time.
type Seen struct {
	Snapshot string    `json:"snapshot"` // its ID
	At       time.Time `json:"at"`
}

// Version records when a version of a component first became available to the
// target.
type Version struct {
	Component string    `json:"component"`
	Tag       string    `json:"tag,omitempty"`
	Digest    string    `json:"digest"`
	At        time.Time `json:"at"`
}
