// Package openapitest validates requests and responses against GitHub's own API
// description. githubtest uses it, so that its answers are as GitHub describes them.
package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"promoter/internal/scm/forgetest"
)

// DescriptionVariable is the environment variable with the path of GitHub's API
// description, the file generated/api.github.com.json of the npm package
// @octokit/openapi. `hack/tools github-openapi` downloads it.
const DescriptionVariable = "PROMOTER_GITHUB_OPENAPI"

// Description is the part of GitHub's API description for some routes. A nil one
// accepts everything.
type Description struct{ router routers.Router }

// FromEnvironment returns a function that reads the part of the description in the
// environment for these routes, "METHOD /path", once. It returns nil if there is none.
func FromEnvironment(routes func() []string) func() (*Description, error) {
	return sync.OnceValues(func() (*Description, error) {
		file := os.Getenv(DescriptionVariable)
		if file == "" {
			return nil, nil
		}
		return load(file, routes())
	})
}

// Find returns an error if there is no such route.
func (d *Description) Find(r *http.Request) error {
	_, _, err := d.router.FindRoute(r)
	return err
}

// Check fails the test if a request or its response does not match the description.
func (d *Description) Check(t testing.TB, r *http.Request, body []byte, answer *forgetest.Reply) {
	t.Helper()
	if d == nil {
		return
	}
	if err := d.validate(r, body, answer); err != nil {
		t.Errorf("%s %s, status %d, is not as GitHub describes it: %.800s\nrequest %s\nanswer %.2000s", r.Method, r.URL, answer.Status, err.Error(), body, answer.Text())
	}
}

func (d *Description) validate(r *http.Request, body []byte, answer *forgetest.Reply) error {
	asked := r.Clone(r.Context())
	asked.Body = io.NopCloser(bytes.NewReader(body))
	route, values, err := d.router.FindRoute(asked)
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

// slashes lists the path parameters that may contain slashes, which the description
// cannot express.
var slashes = map[string]string{
	"/branches/{branch}": "{branch:.+}", "/compare/{basehead}": "{basehead:.+}", "/contents/{path}": "{path:.+}",
}

// load reads the part of the description for the routes. All of it would
// cost two seconds and 175 MB per test binary.
func load(file string, routes []string) (*Description, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("GitHub's description: %w", err)
	}
	if text, err = prune(text, routes); err != nil {
		return nil, fmt.Errorf("GitHub's description: %w", err)
	}
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("GitHub's description: %w", err)
	}
	correctAccount(document.Paths.Value("/app/installations"))
	paths := openapi3.NewPaths()
	for path, item := range document.Paths.Map() {
		for ending, greedy := range slashes {
			if before, found := strings.CutSuffix(path, ending); found {
				path = before + ending[:strings.LastIndex(ending, "{")] + greedy
			}
		}
		paths.Set(path, item)
	}
	document.Paths = paths
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		return nil, fmt.Errorf("GitHub's description: %w", err)
	}
	return &Description{router: router}, nil
}

// correctAccount corrects the description: the account of a listed installation is a
// user or an enterprise. The description requires both at once, unlike for a single
// installation.
func correctAccount(installations *openapi3.PathItem) {
	list := installations.Get.Responses.Status(http.StatusOK).Value.Content["application/json"].Schema.Value
	account := list.Items.Value.Properties["account"].Value
	account.AnyOf, account.AllOf = account.AllOf, nil
}

// description is the used part of an OpenAPI document. Servers and security are
// omitted: the tests use another URL.
type description struct {
	OpenAPI    string                                `json:"openapi"`
	Info       json.RawMessage                       `json:"info"`
	Paths      map[string]json.RawMessage            `json:"paths"`
	Components map[string]map[string]json.RawMessage `json:"components"`
}

var (
	component = regexp.MustCompile(`"#/components/([A-Za-z]+)/([^"]+)"`)
	parameter = regexp.MustCompile(`\{[^}]*\}`)
)

// prune keeps the paths of the routes, and the components that they
// reference.
func prune(text []byte, routes []string) ([]byte, error) {
	var all description
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, pattern := range routes {
		_, path, _ := strings.Cut(pattern, " ")
		known[parameter.ReplaceAllString(path, "{}")] = true
	}
	kept := description{OpenAPI: all.OpenAPI, Info: all.Info, Paths: map[string]json.RawMessage{}, Components: map[string]map[string]json.RawMessage{}}
	for path, item := range all.Paths {
		if known[parameter.ReplaceAllString(path, "{}")] {
			kept.Paths[path] = item
			kept.follow(all, item)
		}
	}
	return json.Marshal(kept)
}

// follow keeps the components that a text references, recursively.
func (d description) follow(all description, text []byte) {
	for _, found := range component.FindAllSubmatch(text, -1) {
		kind, name := string(found[1]), string(found[2])
		if d.Components[kind] == nil {
			d.Components[kind] = map[string]json.RawMessage{}
		}
		if _, kept := d.Components[kind][name]; !kept {
			d.Components[kind][name] = all.Components[kind][name]
			d.follow(all, all.Components[kind][name])
		}
	}
}
