package rules

import (
	"strings"
	"testing"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
)

func TestUnseenSources(t *testing.T) {
	t.Parallel()
	loaded, problems := config.Load(".promoter.yaml", []byte(`
version: 1
components:
  web: {image: quay.io/acme/web, source: github.com/acme/web, select: {semver: ">=1"}}
  api: {image: quay.io/acme/api, source: github.com/acme/api, select: {release: hub/acme/api}}
  ui: {image: quay.io/acme/ui, source: elsewhere.example/acme/ui, select: {semver: ">=1"}}
environments:
  dev: {paths: [dev]}
`))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	file := &serverconfig.Config{
		Forges:  []serverconfig.Forge{{Name: "hub", Kind: serverconfig.ForgeGitHub, URL: "https://github.com"}},
		Sources: []serverconfig.Source{{Repositories: []string{"github.com/acme/web"}, UsableBy: []string{"github.com/acme/*"}}},
	}
	found := UnseenSources(file, loaded)
	for _, p := range found {
		if !strings.HasPrefix(p.Message, "github.com/acme/api is read without a credential") {
			t.Error(p.Message)
		}
	}
	if len(found) != 2 {
		t.Errorf("%d problems", len(found))
	}
}
