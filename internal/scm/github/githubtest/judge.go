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

// DescriptionVariable names GitHub's description of its API, the file
// generated/api.github.com.json of the npm package @octokit/openapi. `hack/tools
// github-openapi` brings it.
const DescriptionVariable = "PROMOTER_GITHUB_OPENAPI"

// Judge holds requests and answers against GitHub's own description of its API.
// A nil Judge finds nothing wrong.
type Judge struct{ router routers.Router }

// loaded reads the description once per test binary.
var loaded = sync.OnceValues(func() (*Judge, error) { return newJudge(os.Getenv(DescriptionVariable)) })

// environmentJudge is the judge of the description that the environment names,
// nil without one.
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

// check fails the test when a request or its answer is not as described.
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

// bareLabels says that the body is a list of labels without more, which the
// description has wrong: it takes that only below a key.
func bareLabels(r *http.Request, body []byte) bool {
	return strings.HasSuffix(r.URL.Path, "/labels") && len(body) > 0 && body[0] == '['
}
