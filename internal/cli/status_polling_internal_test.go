package cli

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/server"
)

// A pause is told with the credential that it is of.
func TestPollingLines_pauses(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 6, 1, 11, 30, 0, 0, time.UTC)
	got := pollingLines(server.Status{Backoffs: []server.Backoff{
		{Peer: "registry", Host: "quay.io", Until: until, Reason: "it asks for fewer requests"},
		{Peer: "forge", Host: "api.github.com", Credential: "the token of github", Until: until, Reason: "rate limited: wait"},
	}})
	want := []string{
		"waiting: quay.io (registry) is sent nothing until 2026-06-01T11:30:00Z: it asks for fewer requests",
		"waiting: api.github.com (forge) is sent nothing with the token of github until 2026-06-01T11:30:00Z: rate limited: wait",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
