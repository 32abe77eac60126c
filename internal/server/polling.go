package server

import "time"

// Schedule is when repositories are looked at by themselves. Times that are not known
// are left out.
type Schedule struct {
	Schedule     string    `json:"schedule"`         // poll, or times in words
	Repositories int       `json:"repositories"`     // that have something read then
	Last         time.Time `json:"last,omitzero"`    // when it came last
	Next         time.Time `json:"next,omitzero"`    // when it comes next
	Failing      string    `json:"failing,omitzero"` // why the last time is tried again
}

// Backoff is a host that the answering process sends nothing until a time, or nothing
// with one credential.
type Backoff struct {
	To         string    `json:"to"` // forge, registry, git or machine
	Host       string    `json:"host"`
	Credential string    `json:"credential,omitempty"` // of a forge, in words; empty: the host is left alone by all
	Until      time.Time `json:"until"`
	Reason     string    `json:"reason"`
}
