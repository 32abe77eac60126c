// Package modeltest plays random stories around reconciliations and checks their promises after
// every step: users merge, close, reopen, revert, push, rename, decide, and bypass, bots close, images appear, signed or
// not, tags move, sources report health, or pretend to, the base and the config change,
// processes race, crash and have wrong clocks, and forges fail, limit requests and lose
// responses.
//
// It knows neither forge nor Git. A World provides them: that of reconciletest is in memory
// and is played by the thousand; others are forges behind their real adapters, with real
// repositories. Events that a world does not support do not happen.
//
// Support code for tests.
package modeltest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/reconcile"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm/scmtest"
)

// Model plays random stories in worlds.
type Model struct {
	// New returns a world with the files on main. The kind of server may be random.
	New func(t *testing.T, random *rand.Rand, files map[string]string) World
	// Events is the number of events in one story.
	Events int
	// Budget is how long stories are played, unless PROMOTER_MODEL_TIME is set. The
	// last one is cut short.
	Budget time.Duration
	// Apart makes each story a test of its own, with cleanups at its end.
	Apart bool

	again bool // a known story is repeated
}

// Play plays stories until the budget is used. PROMOTER_MODEL_SEED repeats one story:
// the same events happen in it, but a forge in another process may respond in another
// order.
func (m Model) Play(t *testing.T) {
	t.Helper()
	m.Budget = m.budget(t)
	if text, set := os.LookupEnv("PROMOTER_MODEL_SEED"); set {
		m.again = true
		m.one(t, number(t, text), func() bool { return false })
		return
	}
	begin, stories, all := now(), 0, counts{rows: map[string]int{}}
	over := func() bool { return now().Sub(begin) > m.Budget }
	for seed := rand.Uint64(); !over() && !t.Failed(); seed++ {
		one := m.one(t, seed, over)
		all.events += one.events
		all.partial += one.partial
		all.hosted, all.sealed = all.hosted || one.hosted, all.sealed || one.sealed
		for row, n := range one.rows {
			all.rows[row] += n
		}
		stories++
	}
	t.Logf("%d stories with %d events and %d incremental reconciliations in %s",
		stories, all.events, all.partial, now().Sub(begin).Round(time.Second))
	if _, set := os.LookupEnv("PROMOTER_MODEL_TIME"); set && m.Budget >= longRun && !m.Apart && !t.Failed() {
		checkRows(t, all)
	}
}

// counts is what happened in stories.
type counts struct {
	events  int
	partial int            // incremental reconciliations
	rows    map[string]int // of the table choices
	hosted  bool           // on a forge with pull requests
	sealed  bool           // with a state branch that has seals
}

// now is the time of the machine, for the budget. Stories have a clock of their own.
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

// one plays one story and counts what happened.
func (m Model) one(t *testing.T, seed uint64, over func() bool) (happened counts) {
	t.Helper()
	if !m.Apart {
		return m.tell(t, seed, over)
	}
	t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { happened = m.tell(t, seed, over) })
	return happened
}

// tell plays one story until it is complete, or the budget is used.
func (m Model) tell(t *testing.T, seed uint64, over func() bool) counts {
	t.Helper()
	s := newStory(t, m.New, rand.New(rand.NewPCG(seed, 1))) //nolint:gosec // stories, not secrets
	// A failure of a hook ends the test at once.
	defer func() {
		if t.Failed() {
			t.Logf("the promises broke; play it again with PROMOTER_MODEL_SEED=%d:", seed)
		}
		if t.Failed() || m.again {
			t.Log(strings.Join(s.logged, "\n"))
		}
	}()
	happened := 0
	count := func() counts {
		return counts{events: happened, partial: s.partial, rows: s.rows, hosted: s.People.Merge != nil, sealed: s.sealed}
	}
	for ; happened < m.Events && !over(); happened++ {
		s.step()
		if s.check(); t.Failed() {
			s.log("%v", s.Store.Files(s.head(stateBranch)))
			return count()
		}
	}
	if !over() {
		s.finish()
	}
	return count()
}

// World is one repository on a forge, with everything around it.
type World struct {
	// Bench is the forge, with users and failures. Events whose hook is nil do not
	// happen.
	scmtest.Bench
	Store    Store
	Clock    *reconciletest.Clock
	Registry *reconciletest.Registry
	// Reconciler starts a process of promoter, with the mirror of earlier ones or with an
	// empty one. Several may run, one inside the other. The caller ends it. A forge that
	// cannot be reached is an error.
	Reconciler func(t *testing.T, fresh bool) (reconciler *reconcile.Reconciler, end func(), err error)
	// Clean reports whether a head can be merged into a branch.
	Clean func(base, head string) bool
	// Secret is the credential of promoter, which must never be visible.
	Secret string
	// Rewrite commits any change of the files of a branch, as a user.
	Rewrite func(branch, message string, change func(map[string]string))
	// Bare makes squashed commits lose the trailers of their messages.
	Bare func(bare bool)
}

// Store is the repository on its server.
type Store interface {
	Branches() map[string]string
	// Commit returns a commit, or the zero value.
	Commit(id string) repo.Commit
	// Files returns the files of a commit, if it exists.
	Files(commit string) map[string]string
}

// line returns the first-parent history of a branch, newest first, without the commit
// where it ends.
func line(s Store, from, until string) []repo.Commit {
	var all []repo.Commit
	for id := from; id != "" && id != until; {
		commit := s.Commit(id)
		all = append(all, commit)
		if id = ""; len(commit.Parents) > 0 {
			id = commit.Parents[0]
		}
	}
	return all
}
