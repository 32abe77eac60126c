package queuetest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// Play plays random stories of hints, runs, failures, crashes and leases that end,
// against a simple model, for the budget or for PROMOTER_MODEL_TIME. A failure
// prints the number of its story, which PROMOTER_MODEL_SEED plays again.
func Play(t *testing.T, kind databasetest.Kind, budget time.Duration) {
	t.Helper()
	if text, set := os.LookupEnv("PROMOTER_MODEL_SEED"); set {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		newStory(t, kind, seed).play()
		return
	}
	if text, set := os.LookupEnv("PROMOTER_MODEL_TIME"); set {
		var err error
		if budget, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	over := time.After(budget)
	played := 0
	for seed := rand.Uint64(); !t.Failed(); seed++ {
		select {
		case <-over:
			t.Logf("%d stories", played)
			return
		default:
			newStory(t, kind, seed).play()
			played++
		}
	}
}

// story is one of them. Two queues share the work: replicas on PostgreSQL, and on
// SQLite two that one process has.
type story struct {
	*testing.T
	*rand.Rand
	seed   uint64
	clock  *Clock
	o      database.Options
	db     *database.DB
	queues []*queue.Queue

	rows   map[string]*row
	runs   []run
	count  int            // of hints
	hinted map[string]int // the last hint of a key, as count
	served map[string]int // the last hint that a run which did well may have seen
	told   []string
}

// run is one under way, or one that lost its lease and does not know.
type run struct {
	item  queue.Item
	sees  int // count when it began
	until time.Time
}

// storyLength is how many things happen in a story.
const storyLength = 120

func newStory(t *testing.T, kind databasetest.Kind, seed uint64) *story {
	t.Helper()
	s := &story{
		T: t, Rand: rand.New(rand.NewPCG(seed, 1)), seed: seed, clock: NewClock(), o: kind.New(t), //nolint:gosec // stories, not secrets
		rows: map[string]*row{}, hinted: map[string]int{}, served: map[string]int{},
	}
	s.o.Now = s.clock.Now
	s.open()
	return s
}

// open begins with new processes.
func (s *story) open() {
	s.Helper()
	db, err := database.Open(s.Context(), s.o)
	s.must(err)
	s.db = db
	s.queues = nil
	for range 2 {
		q, err := queue.New(s.Context(), db, "story")
		s.must(err)
		s.queues = append(s.queues, q)
	}
	if db.SingleProcess() {
		for _, row := range s.rows {
			row.free(s.clock.Now())
		}
	}
}

func (s *story) play() {
	s.Helper()
	defer func() {
		if s.Failed() {
			s.Logf("play it again with PROMOTER_MODEL_SEED=%d:\n%s", s.seed, strings.Join(s.told, "\n"))
		}
		if err := s.db.Close(); err != nil {
			s.Error(err)
		}
	}()
	for range storyLength {
		if s.step(); s.Failed() {
			return
		}
	}
	s.end()
}

func (s *story) tell(format string, args ...any) {
	s.told = append(s.told, s.clock.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (s *story) must(err error) {
	s.Helper()
	if err != nil {
		s.told = append(s.told, err.Error())
		s.Fatal(err)
	}
}

// step is one thing that happens.
func (s *story) step() {
	s.Helper()
	switch dice := s.IntN(100); {
	case dice < 30:
		s.hint()
	case dice < 50:
		s.move()
	case dice < 72:
		s.claim(1 + s.IntN(4))
	case dice < 96 && len(s.runs) > 0:
		s.use()
	case dice < 97:
		s.crash()
	}
}

// end lets everything that is left be done, and finds every hint served.
func (s *story) end() {
	s.Helper()
	for quiet := 0; quiet < 3; {
		s.clock.Move(2 * time.Hour)
		s.runs = nil
		s.claim(100)
		if quiet++; len(s.runs) > 0 {
			quiet = 0
		}
		for len(s.runs) > 0 {
			s.done(s.take(0), queue.Result{})
		}
	}
	for key, count := range s.hinted {
		if s.served[key] < count {
			s.Errorf("hint %d for %s was lost: the last run that did well saw up to %d", count, key, s.served[key])
		}
	}
}

// take removes a run from those under way.
func (s *story) take(at int) run {
	taken := s.runs[at]
	s.runs = slices.Delete(s.runs, at, at+1)
	return taken
}

func (s *story) anyQueue() *queue.Queue { return s.queues[s.IntN(len(s.queues))] }
