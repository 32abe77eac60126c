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
	// New makes a world that holds the files on main. What kind of server it is may
	// be chance.
	New func(t *testing.T, random *rand.Rand, files map[string]string) World
	// Events is how many things happen in one story.
	Events int
	// Budget is how long stories are played; PROMOTER_MODEL_TIME says otherwise. The
	// last one ends in the middle.
	Budget time.Duration
	// Apart makes each story a test of its own, at whose end its world goes.
	Apart bool

	again bool // a story is told that is known
}

// Play plays stories until the time is over. PROMOTER_MODEL_SEED plays one story
// again: the same things happen in it, and a forge in a process of its own may
// still answer in another order.
func (m Model) Play(t *testing.T) {
	t.Helper()
	m.Budget = m.budget(t)
	if text, set := os.LookupEnv("PROMOTER_MODEL_SEED"); set {
		m.again = true
		m.one(t, number(t, text), func() bool { return false })
		return
	}
	begin, stories, events := now(), 0, 0
	over := func() bool { return now().Sub(begin) > m.Budget }
	for seed := rand.Uint64(); !over() && !t.Failed(); seed++ {
		events += m.one(t, seed, over)
		stories++
	}
	t.Logf("%d stories with %d events in %s", stories, events, now().Sub(begin).Round(time.Second))
}

// now is the time of the machine, by which a budget ends. In stories time passes as
// they say.
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
func (m Model) one(t *testing.T, seed uint64, over func() bool) (happened int) {
	t.Helper()
	if !m.Apart {
		return m.tell(t, seed, over)
	}
	t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { happened = m.tell(t, seed, over) })
	return happened
}

// tell tells one story until it is over, or the time is.
func (m Model) tell(t *testing.T, seed uint64, over func() bool) (happened int) {
	t.Helper()
	s := newStory(t, m.New, rand.New(rand.NewPCG(seed, 1))) //nolint:gosec // stories, not secrets
	// What a hook or a counterpart fails with ends the test where it stands.
	defer func() {
		if t.Failed() {
			t.Logf("the promises broke; play it again with PROMOTER_MODEL_SEED=%d:", seed)
		}
		if t.Failed() || m.again {
			t.Log(strings.Join(s.told, "\n"))
		}
	}()
	for ; happened < m.Events && !over(); happened++ {
		s.step()
		if s.check(); t.Failed() {
			s.tell("%v", s.Store.Files(s.head(stateBranch)))
			return happened
		}
	}
	if !over() {
		s.end()
	}
	return happened
}
