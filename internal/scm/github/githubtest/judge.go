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

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// DescriptionVariable names GitHub's description of its API, the file
// generated/api.github.com.json of the npm package @octokit/openapi. `hack/tools
// github-openapi` brings it.
const DescriptionVariable = "PROMOTER_GITHUB_OPENAPI"

// Judge holds requests and answers against GitHub's own description of its API.
// A nil Judge finds nothing wrong.
type Judge struct{ router routers.Router }

// loaded reads the description once per test binary: it takes two seconds and
// 175 MB.
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

// slashes are the parameters of paths that may hold slashes. The description has
// no way to say it.
var slashes = map[string]string{
	"/contents/{path}": "{path:.+}", "/git/ref/{ref}": "{ref:.+}", "/branches/{branch}": "{branch:.+}",
	"/compare/{basehead}": "{basehead:.+}",
}

func newJudge(file string) (*Judge, error) {
	description, err := openapi3.NewLoader().LoadFromFile(file)
	if err != nil {
		return nil, fmt.Errorf("GitHub's description: %w", err)
	}
	description.Servers, description.Security = nil, nil // it is asked by another address
	paths := openapi3.NewPaths()
	for path, item := range description.Paths.Map() {
		item.Servers = nil
		for ending, greedy := range slashes {
			if before, found := strings.CutSuffix(path, ending); found {
				path = before + ending[:strings.LastIndex(ending, "{")] + greedy
			}
		}
		paths.Set(path, item)
	}
	description.Paths = paths
	router, err := gorillamux.NewRouter(description)
	if err != nil {
		return nil, fmt.Errorf("GitHub's description: %w", err)
	}
	return &Judge{router: router}, nil
}

// check fails the test when a request or its answer is not as described.
func (j *Judge) check(t testing.TB, r *http.Request, body []byte, answer *reply) {
	t.Helper()
	if j == nil {
		return
	}
	if err := j.verdict(r, body, answer); err != nil {
		t.Errorf("githubtest: %s %s, status %d, is not as GitHub describes it: %.800s\nrequest %s\nanswer %.2000s", r.Method, r.URL, answer.status, err.Error(), body, answer.text())
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
	if answer.body == nil {
		return nil
	}
	response := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: answer.status, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
		Options: &openapi3filter.Options{IncludeResponseStatus: answer.status < http.StatusBadRequest},
	}
	if err := openapi3filter.ValidateResponse(asked.Context(), response.SetBodyBytes(answer.text())); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// bareLabels says that the body is a list of labels without more, which the
// description has wrong: it takes that only below a key.
func bareLabels(r *http.Request, body []byte) bool {
	return strings.HasSuffix(r.URL.Path, "/labels") && len(body) > 0 && body[0] == '['
}
