package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// Answer is an error response of a forge.
type Answer struct {
	Status int // HTTP status
	Kind   fault.Kind
	Words  string // the forge's message, on one line
	Advice string // how to fix it, from its colon on; empty: unknown
}

// Explain converts an error of a forge's client library to a fault and prefixes the
// forge's message with the request. The answer function parses the forge's own
// errors. The response itself, which holds the request, is not in the chain of the
// result.
func Explain(forge, noun string, err error, answer func(error) (Answer, bool)) error {
	if err == nil {
		return nil
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // the rest is the method and the full URL
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return fmt.Errorf("%s: %w", noun, outbound.Redact(err))
	}
	if known, ok := answer(err); ok {
		return &fault.Error{Kind: known.Kind, Err: &answerError{
			status: known.Status,
			text:   fmt.Sprintf("%s: %s answered %d: %s%s", noun, forge, known.Status, known.Words, known.Advice),
		}}
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fault.New(fault.Temporary, "%s: the answer is not JSON, as when a proxy or a login page answers", noun)
	}
	return fault.New(fault.Temporary, "%s: %w", noun, outbound.Redact(err))
}

// KindOf returns the kind of fault that most forges mean by a status.
func KindOf(status int) fault.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Unauthorized
	case http.StatusNotFound, http.StatusGone:
		return fault.NotFound
	case http.StatusConflict:
		return fault.Conflict
	case http.StatusRequestTimeout:
		return fault.Temporary
	}
	if status >= http.StatusInternalServerError {
		return fault.Temporary
	}
	return fault.Invalid
}

// answerError is the text of a forge's error response, without the response.
type answerError struct {
	status int
	text   string
}

// Error returns the request and the forge's message.
func (a *answerError) Error() string { return a.text }

// StatusOf returns the HTTP status of an error that Explain created from a response,
// else zero.
func StatusOf(err error) int {
	if known, ok := errors.AsType[*answerError](err); ok {
		return known.status
	}
	return 0
}
