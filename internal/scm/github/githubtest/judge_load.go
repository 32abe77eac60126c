package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// slashes lists the path parameters that may contain slashes, which the description
// cannot express.
var slashes = map[string]string{
	"/branches/{branch}": "{branch:.+}", "/compare/{basehead}": "{basehead:.+}", "/contents/{path}": "{path:.+}",
}

// newJudge reads the part of the description for the server's routes. All of it would
// cost two seconds and 175 MB per test binary.
func newJudge(file string) (*Judge, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("GitHub's description: %w", err)
	}
	if text, err = prune(text); err != nil {
		return nil, fmt.Errorf("GitHub's description: %w", err)
	}
	description, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("GitHub's description: %w", err)
	}
	correctAccount(description.Paths.Value("/app/installations"))
	paths := openapi3.NewPaths()
	for path, item := range description.Paths.Map() {
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

// correctAccount corrects the description: the account of a listed installation is a user or an
// enterprise. The description requires both at once, unlike for a single
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

// prune keeps the paths of the server's routes, and the components that they
// reference.
func prune(text []byte) ([]byte, error) {
	var all description
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for pattern := range endpoints() {
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
