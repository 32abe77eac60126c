package object

import (
	"bytes"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/fault"
)

// signatureHeader is the header of a commit that has its signature, GPG or SSH.
// https://git-scm.com/docs/gitformat-signature
const signatureHeader = "gpgsig "

// Sign stores a commit again with the signature of its encoded form, and returns its ID.
func (s *Store) Sign(id ID, sign func(payload []byte) (string, error)) (ID, error) {
	payload, err := s.encoded.read(plumbing.CommitObject, id, MaxSize)
	if err != nil {
		return ID{}, err
	}
	signature, err := sign(payload)
	if err != nil {
		return ID{}, err
	}
	signed, ok := withSignature(payload, strings.TrimRight(signature, "\n"))
	if !ok {
		return ID{}, fault.New(fault.Invalid, "the commit %s cannot be signed", id)
	}
	return s.encoded.write(plumbing.CommitObject, signed)
}

// WriteSigned stores a commit that a server signed: what was signed, and the signature. It
// fails with Invalid if they are not the commit with the ID.
func (s *Store) WriteSigned(id ID, payload, signature string) error {
	trimmed := strings.TrimRight(signature, "\n")
	for _, form := range []string{trimmed, trimmed + "\n"} { // Git's own, and GitHub's, which ends with an empty line
		signed, ok := withSignature([]byte(payload), form)
		if ok && ID(plumbing.ComputeHash(plumbing.CommitObject, signed)) == id {
			_, err := s.encoded.write(plumbing.CommitObject, signed)
			return err
		}
	}
	return fault.New(fault.Invalid, "the commit %s is not what was signed", id)
}

// withSignature adds the header to an encoded commit, after all others.
func withSignature(payload []byte, signature string) ([]byte, bool) {
	header, message, found := bytes.Cut(payload, []byte("\n\n"))
	if !found || bytes.Contains(header, []byte("\n"+signatureHeader)) || signature == "" {
		return nil, false
	}
	var signed bytes.Buffer
	signed.Write(header)
	signed.WriteString("\n" + signatureHeader + strings.ReplaceAll(signature, "\n", "\n ") + "\n\n")
	signed.Write(message)
	return signed.Bytes(), true
}
