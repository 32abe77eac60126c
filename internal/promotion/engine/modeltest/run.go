package modeltest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Model is how a world is played.
type Model struct {
	// New makes a world that holds the files on main.
	New func(t *testing.T, files map[string]string) World
	// Events is how many things happen in one story.
	Events int
	// Budget is how long stories are begun; PROMOTER_MODEL_TIME says otherwise.
	Budget time.Duration
	// Apart makes each story a test of its own, at whose end its world goes.
	Apart bool
}

// Play plays stories until the time is over. PROMOTER_MODEL_SEED plays one story
// again: the same things happen in it, and a forge in a process of its own may
// still answer in another order.
func (m Model) Play(t *testing.T) {
	t.Helper()
	if text, set := os.LookupEnv("PROMOTER_MODEL_SEED"); set {
		m.one(t, number(t, text), true)
		return
	}
	begin, stories, events := now(), 0, 0
	for seed := rand.Uint64(); now().Sub(begin) < m.budget(t) && !t.Failed(); seed++ {
		events += m.one(t, seed, false)
		stories++
	}
	t.Logf("%d stories with %d events in %s", stories, events, now().Sub(begin).Round(time.Second))
}

// now is the time of the machine, by which stories are begun. In them time passes
// as they say.
func now() time.Time { return time.Now() } //nolint:forbidigo // see above

func (m Model) budget(t *testing.T) time.Duration {
	t.Helper()
	text, set := os.LookupEnv("PROMOTER_MODEL_TIME")
	if !set {
		return m.Budget
	}
	budget, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return budget
}

func number(t *testing.T, text string) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// one plays one story and returns how many things happened in it.
func (m Model) one(t *testing.T, seed uint64, loud bool) (happened int) {
	t.Helper()
	if !m.Apart {
		return m.tell(t, seed, loud)
	}
	t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { happened = m.tell(t, seed, loud) })
	return happened
}

// tell tells one story.
func (m Model) tell(t *testing.T, seed uint64, loud bool) (happened int) {
	t.Helper()
	s := newStory(t, m.New, rand.New(rand.NewPCG(seed, 1)), loud) //nolint:gosec // stories, not secrets
	// What a hook or a counterpart fails with ends the test where it stands.
	defer func() {
		if t.Failed() {
			t.Logf("the promises broke; play it again with PROMOTER_MODEL_SEED=%d:\n%s", seed, strings.Join(s.told, "\n"))
		}
	}()
	for range m.Events {
		s.step()
		happened++
		if s.check(); t.Failed() {
			s.tell("%v", s.Store.Files(s.head(stateBranch)))
			return happened
		}
	}
	s.end()
	return happened
}
