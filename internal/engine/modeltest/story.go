package modeltest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"promoter/internal/engine"
	"promoter/internal/identity"
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
	fork     int                        // the number of that of a fork; 0: there is none
	renamed  bool                       // the repository
	guarded  bool                       // the forge wants ci before a merge into main
	queued   bool                       // the forge merges into main by its queue alone
	said     state.State                // what people had decided before the step
	reported map[string]scm.CheckState  // what ci said last, by commit
	reviewed map[int]map[string]review  // the last word of each person, by pull request
	titled   map[int]string             // what people wrote as the title
	resumes  map[state.Target]time.Time // when somebody said so last in a comment
	passes   int                        // so far
	idle     bool                       // nothing could be done of what was drawn
	torn     bool                       // somebody acted in the middle of the step: what they said came too late for some of it

	effect func(before bool, what string) error // around every push and every write to the forge
	asked  func(what string) error              // before every request to the forge
}

func newStory(t *testing.T, world func(*testing.T, *rand.Rand, map[string]string) World, random *rand.Rand) *story {
	t.Helper()
	s := &story{
		t: t, random: random,
		released: map[string]int{}, held: map[string]map[string]bool{}, refused: map[string]map[string]bool{},
		theirs: map[string]string{}, looked: map[string]string{}, rolled: map[string]bool{}, seen: map[int]scm.PullRequest{},
		reported: map[string]scm.CheckState{}, reviewed: map[int]map[string]review{}, titled: map[int]string{}, resumes: map[state.Target]time.Time{},
		order: map[string]int{reference(web, "1.0.0"): 0, reference(worker, "1.0.0"): 0},
	}
	s.shape = shape{pushOnly: random.IntN(10) == 0, moving: random.IntN(3) == 0, apart: random.IntN(3) == 0}
	s.World = world(t, random, files(s.config(random)))
	s.open()
	if s.People.Merge == nil && !s.pushOnly {
		s.pushOnly = true
		s.write("main", engine.ConfigFile, s.config(random))
	}
	s.push(web, "1.0.0")
	s.push(worker, "1.0.0")
	if s.moving {
		s.order[s.move(0)] = 0
	}
	if s.apart {
		s.write(release, "README", "y\n")
	}
	s.settings()
	for _, target := range places() {
		s.held[target], s.refused[target] = map[string]bool{}, map[string]bool{}
	}
	s.byPerson()
	return s
}

// settings are those of the repository on the forge.
func (s *story) settings() {
	s.t.Helper()
	world, method := s.World.Bench.World, []string{"merge", "squash", "rebase"}[s.random.IntN(3)]
	if world.Methods != nil {
		s.tell("merges are made by the method %s", method)
		world.Methods(s.t, method)
	}
	switch chance := s.random.IntN(10); {
	case s.pushOnly:
	case chance < 2 && world.Protect != nil:
		s.tell("main wants ci before a merge")
		s.guarded = true
		world.Protect(s.t, ci)
	case chance == 2 && world.Queue != nil:
		s.tell("main wants a merge queue")
		s.queued = true
		world.Queue(s.t)
	}
}

// ci is the status of a machine.
const ci = "ci"

// open opens the repository as somebody who only looks.
func (s *story) open() {
	s.t.Helper()
	var err error
	if s.repo, err = s.Forge.Open(s.t.Context(), s.Name); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) tell(format string, args ...any) {
	words := fmt.Sprintf(format, args...)
	if s.Secret != "" && strings.Contains(words, s.Secret) {
		s.t.Errorf("the credential is shown: %s", words)
	}
	s.told = append(s.told, words)
}

// step lets one thing happen, and often a run after what is none itself.
func (s *story) step() {
	s.Clock.Add(time.Minute)
	s.remember()
	before := s.passes
	for range 5 {
		s.idle = false
		if s.pick(s.happenings()...)(); !s.idle {
			break
		}
	}
	if s.passes == before && s.random.IntN(2) == 0 {
		s.check()
		s.remember()
		s.run()
	}
}

// nothing says that what was drawn cannot happen now.
func (s *story) nothing() { s.idle = true }

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
	return state.Act{By: identity.User{Host: s.repo.Info().Self.Host, Login: scmtest.Ann}, At: s.Clock.Now(), Why: "because"}
}
