package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	ggcr "github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// send sends a request for a tag, a digest or "tags", and again with a new login where
// the old one may just have expired. It explains the error.
func send[V any](c *Client, a *access, noun string, request func() (V, error)) (V, error) {
	reused, number := a.session.connected(), 0
	used := a.grant.secret.Reveal()
	if a.grant.refresher != nil {
		number = a.grant.refresher.number()
	}
	found, err := request()
	for isUnauthorized(err) && a.session.answer() { // each challenge once
		found, err = request()
	}
	if a.expired(err, reused, number, used) {
		c.renew(a)
		found, err = request()
	}
	err = a.explain(noun, err)
	if fault.KindOf(err) == fault.Unauthorized {
		c.closeSession(a)
	}
	return found, err
}

// isUnauthorized reports whether a registry asked for a login, or for another one.
func isUnauthorized(err error) bool {
	answer, is := errors.AsType[*ggcr.Error](err)
	return is && answer.StatusCode == http.StatusUnauthorized
}

// expired reports whether registries give this answer to an expired login, and a new
// login is available, or another secret in its file. Amazon's registry then answers 403, and its public one 400 without
// a challenge (https://github.com/aws/containers-roadmap/issues/2835).
func (a *access) expired(err error, reused bool, number int, used string) bool {
	answer, ok := errors.AsType[*ggcr.Error](err)
	if !ok {
		return false
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		if a.grant.refresher == nil {
			return a.grant.secret.Renewed(used)
		}
		return a.grant.refresher.refused(number)
	case http.StatusBadRequest:
		return reused
	}
	return false
}

// explain gives an error of the library a kind, what was requested, and advice. Of a
// response it shows only the error codes of the distribution specification: the rest
// may contain a credential.
func (a *access) explain(noun string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return outbound.Redact(err)
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		// The library's text around it contains the whole URL.
		return fmt.Errorf("%s of %s: %w", noun, a.repository, known)
	}
	if answer, ok := errors.AsType[*ggcr.Error](err); ok {
		return a.explainStatus(noun, answer)
	}
	if errors.Is(err, errPlain) {
		return fault.New(fault.Invalid, "%s of %s: %w", noun, a.repository, errPlain)
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.New(fault.Invalid, "%s of %s: the registry's response is larger than %d bytes", noun, a.repository, tooLarge.Limit)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fault.New(fault.Temporary,
			"%s of %s: the response is not JSON, as from a proxy or a login page: %s", noun, a.repository, outbound.Scrub(syntax.Error()))
	}
	kind := fault.Invalid
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, context.DeadlineExceeded) {
		kind = fault.Temporary // a response that was cut off
	}
	return fault.New(kind, "%s of %s: %s", noun, a.repository, outbound.Scrub(err.Error()))
}

// codes are the error codes of the distribution specification and of the distribution
// project.
var codes = []ggcr.ErrorCode{
	ggcr.BlobUnknownErrorCode, ggcr.ManifestUnknownErrorCode, ggcr.ManifestInvalidErrorCode,
	ggcr.NameInvalidErrorCode, ggcr.NameUnknownErrorCode, ggcr.TagInvalidErrorCode,
	ggcr.UnauthorizedErrorCode, ggcr.DeniedErrorCode, ggcr.UnsupportedErrorCode,
	ggcr.TooManyRequestsErrorCode, ggcr.UnknownErrorCode, ggcr.UnavailableErrorCode,
	"PAGINATION_NUMBER_INVALID",
}

func (a *access) explainStatus(noun string, answer *ggcr.Error) error {
	text := http.StatusText(answer.StatusCode)
	if i := slices.IndexFunc(answer.Errors, func(d ggcr.Diagnostic) bool { return slices.Contains(codes, d.Code) }); i >= 0 {
		text = string(answer.Errors[i].Code)
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.New(fault.Unauthorized, "%s of %s: %d %s: %s", noun, a.repository, answer.StatusCode, text, a.advice())
	case http.StatusNotFound:
		return fault.New(fault.NotFound, "%s of %s: %d %s: check the name; a registry also answers this if the credential may not read it",
			noun, a.repository, answer.StatusCode, text)
	case http.StatusTooManyRequests:
		return fault.New(fault.RateLimited, "%s of %s: %d %s", noun, a.repository, answer.StatusCode, text)
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return fault.New(fault.Temporary, "%s of %s: %d %s", noun, a.repository, answer.StatusCode, text)
	}
	return fault.New(fault.Invalid, "%s of %s: the registry answered %d %s", noun, a.repository, answer.StatusCode, text)
}

// advice is what a user can do about a 401 or 403. Docker Hub, GHCR and Quay also
// answer it to requests without a credential for what does not exist.
func (a *access) advice() string {
	host := a.repository.Host()
	switch {
	case a.credential == dockerID:
		return "the Docker configuration's credential for " + host + " may not read it; log in again with `docker login " + host + "`"
	case a.grant.refresher != nil:
		return "the login may not read it; check the rights of its identity at " + host
	case a.credential != anonymousID:
		return "the credential of the server file may not read it; check its secret and its rights at " + host
	case a.grant.docker:
		return "requested without a credential; check the name and, if it is private, log in with `docker login " + host + "`"
	}
	return "requested without a credential; check the name and, if it is private, " +
		"add an entry for " + host + " under `registries` in the server file whose `usableBy` names this repository"
}
