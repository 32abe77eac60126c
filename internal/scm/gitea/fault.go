package gitea

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/scm/rest"
)

// refusedError is an answer of Gitea that is an error. The library gives its text
// without the status.
type refusedError struct {
	status int
	words  string
}

// Error returns Gitea's words.
func (r *refusedError) Error() string { return r.words }

// answered puts the status of an answer to the error of the library.
func answered(resp *sdk.Response, err error) error {
	if err == nil || resp == nil || resp.Response == nil || resp.StatusCode < http.StatusMultipleChoices {
		return err
	}
	return &refusedError{status: resp.StatusCode, words: cleaned(resp.StatusCode, err.Error())}
}

// cleaned leaves out what the library says of an answer without a message, which
// is the request and the whole body: a page of a proxy, for instance.
func cleaned(status int, words string) string {
	if words == "" || strings.HasPrefix(words, "unknown API error") || strings.HasPrefix(words, "body read on HTTP error") {
		return http.StatusText(status)
	}
	return rest.OneLine(words)
}

// wordsIn are those of a body that the library did not read.
func wordsIn(status int, data []byte) string {
	var body struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return http.StatusText(status)
	}
	return rest.OneLine(body.Message)
}

// explain gives an error of the library a kind, and puts what was asked before
// Gitea's words.
func explain(noun string, err error) error { return rest.Explain("Gitea", noun, err, answerOf) }

func answerOf(err error) (rest.Answer, bool) {
	told, ok := errors.AsType[*refusedError](err)
	if !ok {
		return rest.Answer{}, false
	}
	kind, advice := judge(told)
	return rest.Answer{Status: told.status, Kind: kind, Words: told.words, Advice: advice}, true
}

// statusOf returns the HTTP status of an error, zero when Gitea gave none.
func statusOf(err error) int {
	if told, ok := errors.AsType[*refusedError](err); ok {
		return told.status
	}
	return rest.StatusOf(err)
}

// lockedRef is what Gitea answers with status 403 when two writes meet. It is no
// matter of permissions.
const lockedRef = "cannot lock ref"

// judge says what may be done about an answer, and what a person can do.
func judge(told *refusedError) (fault.Kind, string) {
	switch status := told.status; status {
	case http.StatusUnauthorized:
		return fault.Unauthorized, ": the token is wrong, expired or revoked"
	case http.StatusForbidden:
		if strings.Contains(told.words, lockedRef) {
			return fault.Conflict, ""
		}
		return fault.Unauthorized, lacking(told.words)
	case http.StatusMethodNotAllowed:
		return fault.Unauthorized, ""
	case http.StatusLocked:
		return fault.Unauthorized, ": an archived repository is read-only"
	case http.StatusNotFound, http.StatusGone, http.StatusUnavailableForLegalReasons:
		return fault.NotFound, ""
	case http.StatusConflict, http.StatusPreconditionFailed: // the latter for what was merged meanwhile
		return fault.Conflict, ""
	case http.StatusRequestTimeout:
		return fault.Temporary, ""
	default:
		if status >= http.StatusInternalServerError {
			return fault.Temporary, ""
		}
		return fault.Invalid, ""
	}
}

// lacking says where to look. Which scope a token lacks, Gitea says itself.
func lacking(words string) string {
	if strings.Contains(words, "scope") {
		return ": make a token with the scopes of docs/gitea.md"
	}
	return ": the account may not do this here"
}
