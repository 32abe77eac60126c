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

// refusedError is an error response of Gitea. The library returns its text without
// the status.
type refusedError struct {
	status int
	words  string
}

// Error returns Gitea's message.
func (r *refusedError) Error() string { return r.words }

// answered adds the status of a response to the library's error.
func answered(resp *sdk.Response, err error) error {
	if err == nil || resp == nil || resp.Response == nil || resp.StatusCode < http.StatusMultipleChoices {
		return err
	}
	return &refusedError{status: resp.StatusCode, words: cleaned(resp.StatusCode, err.Error())}
}

// cleaned removes what the library reports for a response without a message, which is
// the request and the whole body: the page of a proxy, for instance.
func cleaned(status int, words string) string {
	if words == "" || strings.HasPrefix(words, "unknown API error") || strings.HasPrefix(words, "body read on HTTP error") {
		return http.StatusText(status)
	}
	return rest.OneLine(words)
}

// wordsIn returns the message of a body that the library did not read.
func wordsIn(status int, data []byte) string {
	var body struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return http.StatusText(status)
	}
	return rest.OneLine(body.Message)
}

// explain converts an error of the library to a fault and prefixes Gitea's message
// with the request.
func explain(noun string, err error) error { return rest.Explain("Gitea", noun, err, answerOf) }

func answerOf(err error) (rest.Answer, bool) {
	refused, ok := errors.AsType[*refusedError](err)
	if !ok {
		return rest.Answer{}, false
	}
	kind, advice := judge(refused)
	return rest.Answer{Status: refused.status, Kind: kind, Words: refused.words, Advice: advice}, true
}

// statusOf returns the HTTP status of an error, zero if there is none.
func statusOf(err error) int {
	if refused, ok := errors.AsType[*refusedError](err); ok {
		return refused.status
	}
	return rest.StatusOf(err)
}

// lockedRef is Gitea's message, with status 403, when two writes collide. It is not
// about permissions.
const lockedRef = "cannot lock ref"

// judge returns the kind of fault of a response, and advice for the user.
func judge(refused *refusedError) (fault.Kind, string) {
	switch status := refused.status; status {
	case http.StatusUnauthorized:
		return fault.Unauthorized, ": the token is wrong, expired or revoked"
	case http.StatusForbidden:
		if strings.Contains(refused.words, lockedRef) {
			return fault.Conflict, ""
		}
		return fault.Unauthorized, lacking(refused.words)
	case http.StatusMethodNotAllowed:
		return fault.Unauthorized, ""
	case http.StatusLocked:
		return fault.Unauthorized, ": an archived repository is read-only"
	case http.StatusUnavailableForLegalReasons:
		return fault.NotFound, ""
	case http.StatusPreconditionFailed: // it was merged in the meantime
		return fault.Conflict, ""
	default:
		return rest.KindOf(status), ""
	}
}

// lacking returns advice on where to look. Gitea itself names the scope that a token
// lacks.
func lacking(words string) string {
	if strings.Contains(words, "scope") {
		return ": make a token with the scopes of docs/gitea.md"
	}
	return ": the account may not do this here"
}
