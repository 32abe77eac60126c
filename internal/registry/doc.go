// Package registry asks OCI registries what versions of an artifact there are:
// tags, digests, and what an image says about itself.
//
// It never believes anything but a registry, never answers from a list that may
// be incomplete, and never asks with a credential that the asking repository may
// not use. What cannot change (the facts of a digest) is asked once ever; what
// can (tags) is asked once per Pass, or counts until a moment that whoever asks
// gives out. Every answer is kept under the credential it was got with, so that no
// credential gets another's answer.
//
// It does not decide whether a version may go anywhere.
package registry
