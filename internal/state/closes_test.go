package state_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/state"
)

func closeOf(number int, at time.Time, images map[string]string) state.Rejection {
	act := act("ann", 0)
	act.At = at
	return state.Rejection{Act: act, Images: images, Number: number, Heads: []string{"58b5d4a"}}
}

// A later act ends what a close rejected, and the close stays settled. A command ends only by a command.
func TestOverruled(t *testing.T) {
	t.Parallel()
	const web, worker = "quay.io/acme/web:2.0.0", "quay.io/acme/worker:2.0.0"
	images := map[string]string{"web": web, "worker": worker}
	closed := closeOf(7, noon, images)
	explicit := closeOf(0, noon, images)
	movedBack := closeOf(0, noon, images)
	movedBack.MovedBack = true
	part := map[string]string{"web": web}
	wide := state.Target{Environment: state.All, Application: state.All}
	tests := map[string]struct {
		at        state.Target
		rejection state.Rejection
		ended     map[string]string
		left      int // images that stay rejected
		settled   bool
	}{
		"a close":                {shop, closed, images, 0, true},
		"a part of it":           {shop, closed, part, 1, true},
		"an explicit one":        {shop, explicit, images, 2, false},
		"a command in a comment": {wide, closed, images, 2, false},
		"a branch moved back":    {shop, movedBack, images, 0, false},
		"other versions":         {shop, closed, map[string]string{"web": worker}, 2, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := state.Overruled(test.at, test.rejection, test.ended)
			s := apply(t, state.State{}, state.Reject(test.at, test.rejection), end)
			left := 0
			for _, r := range s.At(test.at).Rejections {
				left += len(r.Images)
			}
			if left != test.left {
				t.Errorf("%d images are left, want %d", left, test.left)
			}
			if got := s.At(test.at).IsSettled(7, noon); got != test.settled {
				t.Errorf("settled: %v", got)
			}
			if s.At(test.at).IsSettled(7, noon.Add(time.Minute)) {
				t.Error("a later close is settled")
			}
			again := apply(t, s, end)
			if diff := cmp.Diff(s.At(test.at).Settled, again.At(test.at).Settled); diff != "" {
				t.Errorf("applied twice:\n%s", diff)
			}
		})
	}
}

// What a bot closed is opened again once with the same versions.
func TestSettle_ofABot(t *testing.T) {
	t.Parallel()
	images := map[string]string{"web": "quay.io/acme/web:2.0.0"}
	s := apply(t, state.State{}, state.Settle(shop, state.Settled{Number: 7, At: noon, Images: images}))
	if number, again := s.At(shop).ReopenedFor(images); !again || number != 7 {
		t.Errorf("reopened for #%d, %v", number, again)
	}
	if _, again := s.At(shop).ReopenedFor(map[string]string{"web": "quay.io/acme/web:3.0.0"}); again {
		t.Error("another version was reopened")
	}
	s = apply(t, s, state.Settle(shop, state.Settled{Number: 8, At: noon})) // by a user
	if _, again := s.At(shop).ReopenedFor(nil); again {
		t.Error("what a user settled was reopened")
	}
	blocked := closeOf(9, noon, images)
	blocked.Blocked = true
	s = apply(t, s, state.Reject(shop, blocked))
	if !s.At(shop).IsBlocked(9, noon) || s.At(shop).IsBlocked(9, noon.Add(time.Minute)) || s.At(shop).IsBlocked(7, noon) {
		t.Error("what is blocked is wrong")
	}
	if got := s.Rejecting(); len(got) != 1 || got[0] != shop {
		t.Errorf("rejecting: %v", got)
	}
}
