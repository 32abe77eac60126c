package githubtest

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"promoter/internal/scm/github/openapitest"
)

// GitHub has every route of the server.
func TestEndpoints_areDescribed(t *testing.T) {
	t.Parallel()
	described, err := description()
	if err != nil {
		t.Fatal(err)
	}
	if described == nil {
		t.Skipf("%s is not set", openapitest.DescriptionVariable)
	}
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	for pattern := range endpoints() {
		method, path, _ := strings.Cut(pattern, " ")
		if path == "/graphql" { // an API of its own
			continue
		}
		r := httptest.NewRequestWithContext(t.Context(), method, parameter.ReplaceAllString(path, "7"), nil)
		if err := described.Find(r); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
