package githubtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// DescriptionVariable is the environment variable with the path of GitHub's API
// description, the file generated/api.github.com.json of the npm package
// @octokit/openapi. `hack/tools github-openapi` downloads it.
const DescriptionVariable = "PROMOTER_GITHUB_OPENAPI"

// Judge validates requests and responses against GitHub's own API description. A nil
// Judge accepts everything.
type Judge struct{ router routers.Router }

// loaded reads the description once per test binary.
var loaded = sync.OnceValues(func() (*Judge, error) { return newJudge(os.Getenv(DescriptionVariable)) })

// environmentJudge returns the judge for the description in the environment, nil if
// there is none.
func environmentJudge(t testing.TB) *Judge {
	t.Helper()
	if os.Getenv(DescriptionVariable) == "" {
		return nil
	}
	judge, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return judge
}

// check fails the test if a request or its response does not match the description.
func (j *Judge) check(t testing.TB, r *http.Request, body []byte, answer *reply) {
	t.Helper()
	if j == nil {
		return
	}
	if err := j.verdict(r, body, answer); err != nil {
		t.Errorf("githubtest: %s %s, status %d, is not as GitHub describes it: %.800s\nrequest %s\nanswer %.2000s", r.Method, r.URL, answer.Status, err.Error(), body, answer.Text())
	}
}

func (j *Judge) verdict(r *http.Request, body []byte, answer *reply) error {
	asked := r.Clone(r.Context())
	asked.Body = io.NopCloser(bytes.NewReader(body))
	route, values, err := j.router.FindRoute(asked)
	if err != nil {
		return err
	}
	input := &openapi3filter.RequestValidationInput{
		Request: asked, PathParams: values, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true, ExcludeRequestBody: bareLabels(r, body),
		},
	}
	if err := openapi3filter.ValidateRequest(asked.Context(), input); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	if answer.Body == nil {
		return nil
	}
	response := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: answer.Status, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
		Options: &openapi3filter.Options{IncludeResponseStatus: answer.Status < http.StatusBadRequest},
	}
	if err := openapi3filter.ValidateResponse(asked.Context(), response.SetBodyBytes(answer.Text())); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// bareLabels reports whether the body is a plain list of labels, about which the
// description is incorrect: it allows the list only below a key.
func bareLabels(r *http.Request, body []byte) bool {
	return strings.HasSuffix(r.URL.Path, "/labels") && len(body) > 0 && body[0] == '['
}
