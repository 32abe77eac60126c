package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/server"
)

type traced struct{}

// tracedInbox records the contexts.
type tracedInbox struct {
	inbox
	marks []any
}

func (i *tracedInbox) Accept(ctx context.Context, taken server.Accepted) error {
	i.marks = append(i.marks, ctx.Value(traced{}))
	return i.inbox.Accept(ctx, taken)
}

// Only verified webhooks are traced. The inbox gets the context of the tracer.
func TestTrace_receivesVerifiedWebhooksAndTheirResult(t *testing.T) {
	t.Parallel()
	var lines []string
	kept := &tracedInbox{}
	w := newWorld(t, func(o *server.Options) {
		o.Inbox = kept
		o.Trace = func(ctx context.Context, taken server.Accepted, parent string) (context.Context, func(int, error)) {
			about := fmt.Sprintf("%s %s %s %d %q %s", taken.Receiver, taken.ID, taken.EventType, len(taken.Events), taken.Ignored, parent)
			return context.WithValue(ctx, traced{}, "mark"), func(status int, err error) {
				lines = append(lines, fmt.Sprintf("%s: %d %v", about, status, err))
			}
		}
	})
	w.answer(post("/webhooks/forge", push, "Traceparent", "theirs"))
	w.answer(post("/webhooks/forge", push, "X-Hub-Signature-256", "sha256=00"))
	w.answer(post("/webhooks/nobody", push))
	w.answer(post("/webhooks/forge", push, "X-GitHub-Event", "star"))
	kept.err = fault.New(fault.Temporary, "the disk is full")
	if status := w.answer(post("/webhooks/forge", push)).Code; status != http.StatusServiceUnavailable {
		t.Errorf("a full disk: %d", status)
	}
	kept.err = errors.New("a defect")
	w.answer(post("/webhooks/forge", push))
	if len(lines) != 4 {
		t.Fatalf("%s", strings.Join(lines, "\n"))
	}
	for i, want := range []string{
		`forge d-1 push 1 "" theirs: 202 <nil>`, "", `forge d-1 push 1 "" : 503 the disk is full`, `forge d-1 push 1 "" : 500 a defect`,
	} {
		if want != "" && lines[i] != want {
			t.Errorf("%q, want %q", lines[i], want)
		}
	}
	if !strings.HasPrefix(lines[1], "forge d-1 star 0 ") || !strings.HasSuffix(lines[1], ": 202 <nil>") {
		t.Errorf("%q for an ignored event", lines[1])
	}
	if diff := cmp.Diff([]any{"mark", "mark", "mark"}, kept.marks); diff != "" {
		t.Errorf("contexts (-want +got):\n%s", diff)
	}
}
