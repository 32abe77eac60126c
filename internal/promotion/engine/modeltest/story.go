package modeltest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"promoter/internal/identity"
	"promoter/internal/promotion/engine"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
	"promoter/internal/state"
)

// stateBranch is where people's decisions lie.
const stateBranch = state.Branch

// story is a world in which things happen by chance.
type story struct {
	World
	shape
	t      *testing.T
	repo   scm.Repository
	random *rand.Rand
	told   []string

	released map[string]int             // the minor version of each repository
	order    map[string]int             // of every reference that was ever released
	held     map[string]map[string]bool // references that each place ever held
	looked   map[string]string          // by branch, the commit that was checked
	refused  map[string]map[string]bool // references that a person refused in a place
	rolled   map[string]bool            // places that a person rolled back
	theirs   map[string]string          // heads that a person committed to, with that commit
	seen     map[int]scm.PullRequest    // every pull request that was ever open
	forged   bool                       // a fork had one already
	said     state.State                // what people had decided before the step
	torn     bool                       // somebody acted in the middle of the step: what they said came too late for some of it

	effect func(before bool) error // around every push and every write to the forge
	asked  func(what string) error // before every request to the forge
}

func newStory(t *testing.T, world func(*testing.T, map[string]string) World, random *rand.Rand) *story {
	t.Helper()
	s := &story{
		t: t, random: random,
		released: map[string]int{}, held: map[string]map[string]bool{}, refused: map[string]map[string]bool{},
		theirs: map[string]string{}, looked: map[string]string{}, rolled: map[string]bool{}, seen: map[int]scm.PullRequest{},
		order: map[string]int{reference(web, "1.0.0"): 0, reference(worker, "1.0.0"): 0},
	}
	s.shape = shape{pushOnly: random.IntN(4) == 0, moving: random.IntN(3) == 0, apart: random.IntN(3) == 0}
	s.World = world(t, files(s.config(random)))
	s.open()
	if s.People.Merge == nil && !s.pushOnly {
		s.pushOnly = true
		s.write("main", engine.ConfigFile, s.config(random))
	}
	s.push(web, "1.0.0")
	s.push(worker, "1.0.0")
	if s.apart {
		s.write(release, "README", "y\n")
	}
	if s.World.Bench.World.Methods != nil {
		s.World.Bench.World.Methods(t, []string{"merge", "squash", "rebase"}[random.IntN(3)])
	}
	for _, place := range places() {
		s.held[place], s.refused[place] = map[string]bool{}, map[string]bool{}
	}
	s.byPerson()
	return s
}

// open opens the repository as somebody who only looks.
func (s *story) open() {
	s.t.Helper()
	var err error
	if s.repo, err = s.Forge.Open(s.t.Context(), s.Name); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) tell(format string, args ...any) {
	s.told = append(s.told, fmt.Sprintf(format, args...))
}

// step lets one thing happen.
func (s *story) step() {
	s.Clock.Add(time.Minute)
	s.remember()
	s.pick(s.happenings()...)()
}

// remember keeps what people had decided before a step.
func (s *story) remember() {
	s.torn, s.said = false, state.State{}
	if commit := s.head(stateBranch); commit != "" {
		var err error
		if s.said, err = state.Read(contents(s.Store.Files(commit))); err != nil {
			s.t.Error(err)
		}
	}
}

func contents(files map[string]string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for path, content := range files {
			if !yield(path, []byte(content)) {
				return
			}
		}
	}
}

// write lets a person commit one file to a branch.
func (s *story) write(branch, path, content string) {
	s.commit(branch, path, content, "By hand")
}

func (s *story) commit(branch, path, content, message string) string {
	return s.Git.Commit(s.t, scmtest.Commit{By: scmtest.Ann, Branch: branch, Path: path, Content: content, Message: message})
}

// act is a person who decides now.
func (s *story) act() state.Act {
	return state.Act{By: identity.Person{Host: s.repo.Info().Self.Host, Login: scmtest.Ann}, At: s.Clock.Now(), Why: "because"}
}
