package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// Answer is an answer of a forge that is an error.
type Answer struct {
	Status int // of HTTP
	Kind   fault.Kind
	Words  string // of the forge, on one line
	Advice string // what a person can do, from its colon on; empty: nothing known
}

// Explain gives an error of a forge's library a kind, and puts what was asked
// before the words of the forge. Answer takes the forge's own errors apart. The
// answer itself, which holds the request, is not in the chain of the result.
func Explain(forge, noun string, err error, answer func(error) (Answer, bool)) error {
	if err == nil {
		return nil
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // the other words are the method and the whole URL
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return &fault.Error{Kind: known.Kind, RetryAt: known.RetryAt, Err: fmt.Errorf("%s: %w", noun, outbound.Redact(err))}
	}
	if told, ok := answer(err); ok {
		return &fault.Error{Kind: told.Kind, Err: &answerError{
			status: told.Status,
			text:   fmt.Sprintf("%s: %s answered %d: %s%s", noun, forge, told.Status, told.Words, told.Advice),
		}}
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fault.New(fault.Temporary, "%s: the answer is not JSON, as when a proxy or a login page answers", noun)
	}
	return fault.New(fault.Temporary, "%s: %w", noun, outbound.Redact(err))
}

// answerError is an answer of a forge in words, without the answer itself.
type answerError struct {
	status int
	text   string
}

// Error returns what was asked and the forge's words.
func (a *answerError) Error() string { return a.text }

// StatusOf returns the HTTP status of an error that Explain made of an answer,
// else zero.
func StatusOf(err error) int {
	if told, ok := errors.AsType[*answerError](err); ok {
		return told.status
	}
	return 0
}
