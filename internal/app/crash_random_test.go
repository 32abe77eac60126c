package app_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database/databasetest"
)

// How often the processes of the test are killed on each database, and the seeds; `make
// soak` sets the first one.
const (
	killsVariable = "PROMOTER_KILLS"
	seedVariable  = "PROMOTER_KILLS_SEED"

	killsOfOneStory = 10
)

// A random story is played while its processes are killed again and again, and once
// more without kills. Both end in the same state.
func TestServe_killedAtAnyMoment(t *testing.T) {
	t.Parallel()
	kills, first := number(t, killsVariable, killsOfOneStory), number(t, seedVariable, rand.Uint64N(1e9))
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		for done := uint64(0); done < kills; done += killsOfOneStory {
			seed := first + done/killsOfOneStory
			played := t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) {
				playKilled(t, kind, seed, int(min(kills-done, killsOfOneStory)))
			})
			if !played {
				return
			}
		}
	})
}

// number parses an environment variable.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// playKilled plays one story twice.
func playKilled(t *testing.T, kind databasetest.Kind, seed uint64, kills int) {
	t.Helper()
	begin := time.Now()
	disturbed := newDrama(t, kind, seed, kills)
	disturbed.play(disturbed.over)
	took := time.Since(begin)
	undisturbed := newDrama(t, kind, seed, 0)
	undisturbed.play(func() bool { return len(undisturbed.acts) == len(disturbed.acts) })
	if diff := cmp.Diff(strings.Join(undisturbed.acts, "\n"), strings.Join(disturbed.acts, "\n")); diff != "" {
		t.Errorf("the ends differ (-undisturbed +killed):\n%s", diff)
	}
	t.Logf("%d acts, %d processes in %v, undisturbed %v", len(disturbed.acts), disturbed.starts,
		took.Round(time.Millisecond), (time.Since(begin) - took).Round(time.Millisecond))
}
