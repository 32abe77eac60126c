package gitlab

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm/rest"
)

// explain converts an error of the library to a fault and prefixes GitLab's message
// with the request.
func explain(noun string, err error) error { return rest.Explain("GitLab", noun, err, answerOf) }

// answerOf parses an error response of GitLab.
func answerOf(err error) (rest.Answer, bool) {
	if errors.Is(err, gogitlab.ErrNotFound) { // the library drops their message
		return rest.Answer{Status: http.StatusNotFound, Kind: fault.NotFound, Words: "Not Found"}, true
	}
	answer, ok := errors.AsType[*gogitlab.ErrorResponse](err)
	if !ok {
		return rest.Answer{}, false
	}
	status := answer.Response.StatusCode
	answered := rest.Answer{Status: status, Words: wordsOf(status, answer.Body)}
	answered.Kind, answered.Advice = judge(status, answered.Words, answer.Body)
	return answered, true
}

// wasNotFound reports whether an object does not exist, or is hidden.
func wasNotFound(err error) bool { return errors.Is(err, gogitlab.ErrNotFound) }

// wasForbidden reports whether GitLab rejected a request because of the account's
// role, or a missing license of the server. The token itself was valid.
func wasForbidden(err error) bool {
	answer, ok := errors.AsType[*gogitlab.ErrorResponse](err)
	return ok && (answer.Response.StatusCode == http.StatusForbidden || answer.Response.StatusCode == http.StatusUnauthorized)
}

// judge returns the kind of fault of a response, and advice for the user.
func judge(status int, words string, body []byte) (fault.Kind, string) {
	switch status {
	case http.StatusUnauthorized:
		return fault.Unauthorized, ": the token is wrong, expired or revoked"
	case http.StatusForbidden:
		return fault.Unauthorized, scopeLacking(body)
	case http.StatusMethodNotAllowed:
		if strings.Contains(words, "moved projects") {
			return fault.Conflict, ""
		}
		return fault.Unauthorized, ""
	case http.StatusLocked:
		return fault.Temporary, ""
	default:
		return rest.KindOf(status), ""
	}
}

// scopeLacking returns which scope the token needs, if that is the error.
func scopeLacking(body []byte) string {
	var decoded struct{ Error, Scope string }
	if json.Unmarshal(body, &decoded) != nil || decoded.Error != "insufficient_scope" {
		return ""
	}
	return rest.OneLine(": the token lacks the scope " + strings.ReplaceAll(cmp.Or(decoded.Scope, "api"), " ", " or "))
}

// wordsOf formats GitLab's message on one line: a message, a list of them, or some
// for each field.
func wordsOf(status int, body []byte) string {
	var decoded map[string]any
	var words []string
	if json.Unmarshal(body, &decoded) == nil {
		for _, key := range []string{"message", "error", "error_description"} {
			words = append(words, sentences(decoded[key])...)
		}
	} else if text := strings.TrimSpace(string(body)); !strings.HasPrefix(text, "<") {
		words = []string{text} // rate limits are reported as plain text
	}
	text := rest.OneLine(strings.Join(slices.Compact(words), "\n"))
	if text = strings.TrimPrefix(text, strconv.Itoa(status)+" "); text == "" {
		return http.StatusText(status)
	}
	return text
}

// maxSentences bounds the number of messages of a refusal.
const maxSentences = 20

func sentences(value any) []string {
	var words []string
	switch value := value.(type) {
	case string:
		words = []string{value}
	case []any:
		for _, one := range value[:min(len(value), maxSentences)] {
			words = append(words, sentences(one)...)
		}
	case map[string]any:
		for field, one := range value {
			for _, sentence := range sentences(one) {
				words = append(words, field+" "+sentence)
			}
		}
		slices.Sort(words)
	}
	return words[:min(len(words), maxSentences)]
}
