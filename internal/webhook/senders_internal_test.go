package webhook

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/receiver"
)

func TestSenders_areTheKindsOfReceivers(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(receiver.Names(), slices.Sorted(maps.Keys(senders()))); diff != "" {
		t.Errorf("(-kinds +senders):\n%s", diff)
	}
}
