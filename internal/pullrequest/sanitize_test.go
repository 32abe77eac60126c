package pullrequest_test

import (
	"strings"
	"testing"

	"promoter/internal/pullrequest"
)

// Other forges have other signs before the number of something.
func TestSanitize_references(t *testing.T) {
	t.Parallel()
	for _, reference := range []string{"!12", "acme/web!12", "&12", "$12", "%12", "GH-12", "gh-12"} {
		got := pullrequest.Sanitize("see " + reference)
		shown := strings.ReplaceAll(got, "&amp;", "&")
		if strings.Contains(shown, reference) || strings.ReplaceAll(shown, "\u200b", "") != "see "+reference {
			t.Errorf("%q is shown as %q", reference, got)
		}
	}
	for _, text := range []string{"100% of 3 done!", "it costs $ 3", "HIGH-12", "3h of 24h"} {
		if got := pullrequest.Sanitize(text); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}
