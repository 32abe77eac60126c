package lex_test

import (
	"testing"

	"promoter/internal/updater/lex"
)

func TestParseRenovate(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string]string{
		"renovate: datasource=docker depName=quay.io/acme/web":                                      "quay.io/acme/web",
		"renovate: depName=web datasource=docker packageName=quay.io/acme/web versioning=loose":     "quay.io/acme/web",
		"renovate: datasource=docker depName=acme/web registryUrl=https://quay.io/":                 "quay.io/acme/web",
		`renovate: datasource="docker" depName="acme/web"`:                                          "acme/web",
		"renovate: datasource=docker depName=acme/web registryUrls=https://quay.io,https://ghcr.io": "",
		"renovate: datasource=helm depName=web":                                                     "",
		"renovate: datasource=docker":                                                               "",
		"renovate: datasource=docker depName=quay.io/acme/web extractVersion=^v(?<version>.*)$":     "",
		"see renovate: datasource=docker depName=quay.io/acme/web":                                  "",
	} {
		if name, found := lex.ParseRenovate(comment); found != (want != "") || found && name != want {
			t.Errorf("%s: %q, %t", comment, name, found)
		}
	}
}
