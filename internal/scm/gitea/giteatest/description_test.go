package giteatest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// undescribed are parameters that the client library sends everywhere, and Gitea
// ignores, and those that Gitea reads without describing them.
var undescribed = map[string][]string{
	"GET /repos/{owner}/{repo}/branch_protections":       {"page", "limit"},
	"GET /repos/{owner}/{repo}/issues/{number}/comments": {"page", "limit"},
	"GET /repos/{owner}/{repo}/compare/{basehead...}":    {"files", "stat", "verification"},
}

// The routes of the server and their parameters are in Gitea's description of its API.
func TestEndpoints_areDescribed(t *testing.T) {
	t.Parallel()
	corpus := os.Getenv("PROMOTER_CORPUS")
	if corpus == "" {
		t.Skip("PROMOTER_CORPUS names no folder with the description of Gitea's API")
	}
	text, err := os.ReadFile(filepath.Join(corpus, "gitea", "swagger.json")) //nolint:gosec // a file of the corpus
	if err != nil {
		t.Skip(err)
	}
	var description struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	if err := json.Unmarshal(text, &description); err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`\{[^}]*\}`)
	described := map[string][]string{}
	for path, methods := range description.Paths {
		for method, one := range methods {
			key := strings.ToUpper(method) + " " + variable.ReplaceAllString(path, "{}")
			described[key] = []string{}
			for _, parameter := range one.Parameters {
				if parameter.In == "query" {
					described[key] = append(described[key], parameter.Name)
				}
			}
		}
	}
	for route, one := range endpoints() {
		parameters, known := described[variable.ReplaceAllString(route, "{}")]
		if !known {
			t.Errorf("Gitea has no %s", route)
			continue
		}
		for _, name := range strings.Fields(one.query) {
			if !slices.Contains(parameters, name) && !slices.Contains(undescribed[route], name) {
				t.Errorf("%s has no parameter %s in Gitea, but %q", route, name, parameters)
			}
		}
	}
}
