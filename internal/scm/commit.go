package scm

import "context"

// Committing is implemented by repositories whose forge makes commits for the credential and
// signs them.
type Committing interface {
	// Commit makes a commit and moves no branch: the caller pushes it. A forge that makes
	// another tree, or does not sign, is an Invalid fault.
	Commit(ctx context.Context, commit NewCommit) (SignedCommit, error)
}

// NewCommit is a commit to make.
type NewCommit struct {
	Message string
	Parents []string
	Tree    string // that the commit must have
	Base    string // the tree that Files change; empty: none
	Files   []NewFile
}

// NewFile is a file that a commit writes or deletes.
type NewFile struct {
	Path    string
	Mode    string // as Git writes it; empty: the file is deleted
	Content []byte
}

// SignedCommit is a commit that a forge made: what it signed, and the signature.
type SignedCommit struct{ ID, Payload, Signature string }
