package registry

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	ggcr "github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// explain gives an error of the library a kind, the noun that was asked for, and
// what to do. Of what a server wrote only the codes of the distribution
// specification are shown: anything else may hold a credential.
func (t *access) explain(noun string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return outbound.Redact(err)
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return retold(noun, t.repository.String(), known)
	}
	if answer, ok := errors.AsType[*ggcr.Error](err); ok {
		return t.status(noun, answer)
	}
	if errors.Is(err, errPlain) {
		return fault.New(fault.Invalid, "%s of %s: %w", noun, t.repository, errPlain)
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.New(fault.Invalid, "%s of %s: the registry's answer is larger than %d bytes", noun, t.repository, tooLarge.Limit)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fault.New(fault.Temporary, "%s of %s: the answer is not JSON, as when a proxy or a login page answers: %s", noun, t.repository, outbound.Scrub(syntax.Error()))
	}
	return fault.New(kindOf(err), "%s of %s: %s", noun, t.repository, outbound.Scrub(err.Error()))
}

// retold puts what was asked before a fault and keeps its kind and time. The
// library's words between the two are left out: they hold the whole URL.
func retold(noun, repository string, known *fault.Error) error {
	return &fault.Error{Kind: known.Kind, RetryAt: known.RetryAt, Err: &requestError{noun: noun, repository: repository, err: known}}
}

// requestError is an error with what was asked.
type requestError struct {
	noun, repository string
	err              error
}

// Error returns noun, repository and reason.
func (q *requestError) Error() string { return q.noun + " of " + q.repository + ": " + q.err.Error() }

// Unwrap returns the reason.
func (q *requestError) Unwrap() error { return q.err }

// kindOf says what may be done about an answer that is not understood: cut off
// ones are asked for again.
func kindOf(err error) fault.Kind {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, context.DeadlineExceeded) {
		return fault.Temporary
	}
	return fault.Invalid
}

// status explains an HTTP status.
func (t *access) status(noun string, answer *ggcr.Error) error {
	words := http.StatusText(answer.StatusCode)
	if code := knownCode(answer); code != "" {
		words = code
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.New(fault.Unauthorized, "%s of %s: %d %s: %s", noun, t.repository, answer.StatusCode, words, t.advice())
	case http.StatusNotFound:
		return fault.New(fault.NotFound, "%s of %s: %d %s: check the name; a registry also says so where the credential may not look", noun, t.repository, answer.StatusCode, words)
	case http.StatusTooManyRequests:
		return fault.New(fault.RateLimited, "%s of %s: %d %s", noun, t.repository, answer.StatusCode, words)
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fault.New(fault.Temporary, "%s of %s: %d %s", noun, t.repository, answer.StatusCode, words)
	}
	return fault.New(fault.Invalid, "%s of %s: the registry answered %d %s", noun, t.repository, answer.StatusCode, words)
}

// advice says what a person can do about a refusal. Docker Hub, GHCR and Quay
// also refuse who asks without a credential for what is not there.
func (t *access) advice() string {
	switch {
	case t.scope.credential == dockerID:
		return "the Docker configuration's credential for " + t.repository.Host() + " may not read it; log in again with `docker login " + t.repository.Host() + "`"
	case t.grant.refresher != nil:
		return "the login that was got may not read it; check the rights of its identity at " + t.repository.Host()
	case t.scope.credential != anonymousID:
		return "the credential of the server's file may not read it; check its secret and its rights at " + t.repository.Host()
	case t.grant.docker:
		return "asked without a credential; check the name and, if it is private, log in with `docker login " + t.repository.Host() + "`"
	}
	return "asked without a credential; check the name and, if it is private, add an entry for " + t.repository.Host() + " under `registries` in the server's file whose `usableBy` names this repository"
}

// codes are the error codes of the distribution specification and of the
// distribution project.
var codes = []ggcr.ErrorCode{
	ggcr.BlobUnknownErrorCode, ggcr.ManifestUnknownErrorCode, ggcr.ManifestInvalidErrorCode,
	ggcr.NameInvalidErrorCode, ggcr.NameUnknownErrorCode, ggcr.TagInvalidErrorCode,
	ggcr.UnauthorizedErrorCode, ggcr.DeniedErrorCode, ggcr.UnsupportedErrorCode,
	ggcr.TooManyRequestsErrorCode, ggcr.UnknownErrorCode, ggcr.UnavailableErrorCode,
	"PAGINATION_NUMBER_INVALID",
}

func knownCode(answer *ggcr.Error) string {
	for _, diagnostic := range answer.Errors {
		if slices.Contains(codes, diagnostic.Code) {
			return string(diagnostic.Code)
		}
	}
	return ""
}
