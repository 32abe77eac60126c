package github

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/scm/rest"
)

// explain converts an error of the library to a fault and prefixes GitHub's message
// with the request.
func explain(noun string, err error) error { return rest.Explain("GitHub", noun, err, answerOf) }

// answerOf parses an error response of GitHub.
func answerOf(err error) (rest.Answer, bool) {
	answer := refused(err)
	if answer == nil {
		return rest.Answer{}, false
	}
	kind, advice := judge(answer)
	return rest.Answer{Status: answer.Response.StatusCode, Kind: kind, Words: wordsOf(answer), Advice: advice}, true
}

// refused returns GitHub's error response.
func refused(err error) *gogithub.ErrorResponse {
	if answer, ok := errors.AsType[*gogithub.ErrorResponse](err); ok {
		return answer
	}
	if second, ok := errors.AsType[*gogithub.TwoFactorAuthError](err); ok {
		return (*gogithub.ErrorResponse)(second)
	}
	return nil
}

// statusOf returns the HTTP status of an error, zero if there is none.
func statusOf(err error) int {
	if answer := refused(err); answer != nil {
		return answer.Response.StatusCode
	}
	return rest.StatusOf(err)
}

// judge returns the kind of fault of a response, and advice for the user.
func judge(answer *gogithub.ErrorResponse) (fault.Kind, string) {
	switch status := answer.Response.StatusCode; status {
	case http.StatusUnauthorized:
		return fault.Unauthorized, ": the token is wrong, expired or revoked"
	case http.StatusForbidden:
		return fault.Unauthorized, lacking(answer)
	case http.StatusNotFound:
		missing := scopesLacking(answer.Response.Header)
		if missing != "" && answer.Response.Request.Method != http.MethodGet {
			return fault.Unauthorized, missing
		}
		return fault.NotFound, missing
	case http.StatusUnavailableForLegalReasons:
		return fault.NotFound, ""
	case http.StatusUnprocessableEntity:
		return judgeInvalid(answer), ""
	default:
		return rest.KindOf(status), ""
	}
}

// judgeInvalid classifies 422 responses, which GitHub returns for everything that the
// state does not allow.
func judgeInvalid(answer *gogithub.ErrorResponse) fault.Kind {
	words := strings.ToLower(wordsOf(answer))
	switch {
	case strings.Contains(words, "already exists"):
		return fault.Conflict
	case strings.Contains(words, "no commit found"):
		return fault.NotFound
	case strings.Contains(words, "submitted too quickly"): // a separate limit
		return fault.Temporary
	}
	for _, detail := range answer.Errors {
		branch := detail.Field == "head" || detail.Field == "base"
		if branch && (detail.Code == "invalid" || detail.Code == "missing") {
			return fault.NotFound
		}
	}
	return fault.Invalid
}

// lacking returns which permission the token needs, as far as GitHub reports it.
func lacking(answer *gogithub.ErrorResponse) string {
	head := answer.Response.Header
	if strings.HasPrefix(head.Get("X-GitHub-SSO"), "required") {
		return ": the token must be authorized for the single sign-on of the organization"
	}
	needed, words := rest.OneLine(head.Get("X-Accepted-GitHub-Permissions")), strings.ToLower(answer.Message)
	switch {
	case strings.Contains(words, "permission to create labels"): // adding existing labels needs no more than the pull request itself
		return ": make these labels in the repository, or add the permission issues=write"
	case needed == "" || !strings.Contains(words, "not accessible by"):
		return scopesLacking(head)
	case strings.Contains(needed, "checks=") && strings.Contains(words, "personal access token"):
		return ": GitHub offers the permission " + needed + " to no fine-grained token: use a classic one with the scope repo"
	}
	return ": the token lacks the permission " + needed
}

// scopesLacking compares the scopes of a classic token with the accepted ones. Other
// tokens have no scopes.
func scopesLacking(head http.Header) string {
	values, classic := head["X-Oauth-Scopes"]
	needed := fields(head.Get("X-Accepted-OAuth-Scopes"))
	if !classic || len(needed) == 0 {
		return ""
	}
	held := fields(strings.Join(values, ","))
	for _, scope := range held {
		if slices.Contains(needed, scope) {
			return ""
		}
	}
	has := cmp.Or(strings.Join(held, ", "), "none")
	return rest.OneLine(fmt.Sprintf(": the token lacks the scope %s (it has %s)", strings.Join(needed, " or "), has))
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// wordsOf formats GitHub's message and its details on one line.
func wordsOf(answer *gogithub.ErrorResponse) string {
	words := []string{answer.Message}
	for _, detail := range answer.Errors {
		switch {
		case detail.Message != "":
			words = append(words, detail.Message)
		case detail.Field != "":
			words = append(words, detail.Field+" is "+detail.Code)
		}
	}
	if text := rest.OneLine(strings.Join(words, "\n")); text != "" {
		return text
	}
	return http.StatusText(answer.Response.StatusCode)
}
