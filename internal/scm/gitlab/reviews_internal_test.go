package gitlab

import (
	"testing"
	"time"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm"
)

// An approval with an unknown time has no known commit and does not count.
func TestReconcile_noTimeIsNoCommit(t *testing.T) {
	t.Parallel()
	votes := reconcile(nil, []approval{{User: gogitlab.BasicUser{ID: 7, Username: "ann"}}})
	if len(votes) != 1 || votes[0].state != scm.Approved || !votes[0].at.IsZero() {
		t.Fatalf("got %+v", votes)
	}
	if head := headAt([]version{{head: "a"}, {head: "b", at: time.Unix(9, 0)}}, votes[0].at); head != "" {
		t.Errorf("it is for %s", head)
	}
}

func TestHeadAt(t *testing.T) {
	t.Parallel()
	at := func(n int64) time.Time { return time.Unix(n, 0) }
	versions := []version{{"a", at(10)}, {"b", at(20)}}
	for n, want := range map[int64]string{5: "", 10: "a", 19: "a", 20: "b", 30: "b"} {
		if got := headAt(versions, at(n)); got != want {
			t.Errorf("at %d: %q, want %q", n, got, want)
		}
	}
}
