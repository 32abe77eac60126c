package image

import (
	"fmt"
	"strings"
	"testing"
)

// Scalars of manifests: Parse is called for all of them.
func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"reference": "quay.io/acme/web:1.2.3",
		"digest":    "quay.io/acme/web:1.2.3@sha256:" + strings.Repeat("0f", 32),
		"hub":       "nginx:1.25",
		"word":      "ClusterIP",
		"prose":     "Serves the pages of the shop to everybody.",
		"script":    strings.Repeat("set -eu; exec /bin/web --listen :8080\n", 100),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Parse(text)
			}
		})
	}
}

func BenchmarkPattern_Match(b *testing.B) {
	pattern := mustPattern(b, "registry.example.com/team-*/**/web")
	repository := mustRepository(b, "registry.example.com/team-shop/backend/web")
	b.ReportAllocs()
	for b.Loop() {
		pattern.Match(repository)
	}
}

// Ten thousand tags.
func BenchmarkPolicy_Candidates(b *testing.B) {
	tags := make([]string, 10_000)
	for i := range tags {
		tags[i] = fmt.Sprintf("v%d.%d.%d-rc.%d", i%7, i%31, i, i%3)
	}
	for _, selection := range []Selection{{Semver: ">=1.4.0-0"}, {Numeric: `rc\.(?P<version>\d+)$`}, {Newest: "^v"}} {
		policy := mustPolicy(b, selection)
		b.Run(string(policy.strategy), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				policy.Candidates(tags)
			}
		})
	}
}
