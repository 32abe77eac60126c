package rest

import (
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

func TestNoPulls(t *testing.T) {
	t.Parallel()
	var none scm.PullRequests = NoPulls{Repository: "acme/deploy", Reason: "switch them on in the settings"}
	if open, err := none.Open(t.Context()); len(open) != 0 || err != nil {
		t.Errorf("open: %v, %v", open, err)
	}
	if closed, err := none.Closed(t.Context(), "promoter/prod/web", 5); len(closed) != 0 || err != nil {
		t.Errorf("closed: %v, %v", closed, err)
	}
	_, err := none.Create(t.Context(), scm.Draft{Head: "promoter/prod/web"})
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "switch them on") {
		t.Errorf("create: %v", err)
	}
	if err := none.Edit(t.Context(), 1, scm.Edit{}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("edit: %v", err)
	}
	if _, err := none.Merge(t.Context(), 1, scm.Merge{}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("merge: %v", err)
	}
	left := NoPulls{}.Without(scm.Features{PullRequests: true, Closers: true, Approvals: true, Comments: true, GuardedMerge: true, Statuses: true})
	if left != (scm.Features{Statuses: true}) {
		t.Errorf("left are %+v", left)
	}
}
