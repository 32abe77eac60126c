package registry

import (
	"errors"
	"net/http"

	ggcr "github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// ask asks a question of a target, and once more where it may be that only the
// login ran out.
func ask[V any](v *View, t *access, noun string, question func() (V, error)) (V, error) {
	reused, number := t.session.used(), 0
	if t.grant.refresher != nil {
		number = t.grant.refresher.number()
	}
	found, err := question()
	if t.ranOut(err, reused, number) {
		v.batch.client.reopen(t)
		found, err = question()
	}
	return found, v.settle(t, noun, err)
}

// ranOut says that an answer is one that a registry gives to a login that ran
// out, and that a new one can be had. Amazon's registry says 403 then, and its
// public one 400 without saying how to log in
// (https://github.com/aws/containers-roadmap/issues/2835).
func (t *access) ranOut(err error, reused bool, number int) bool {
	answer, ok := errors.AsType[*ggcr.Error](err)
	if !ok {
		return false
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return t.grant.refresher != nil && t.grant.refresher.refused(number)
	case http.StatusBadRequest:
		return reused
	}
	return false
}
