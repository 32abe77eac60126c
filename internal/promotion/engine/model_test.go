package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion/engine"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// TestModel plays random stories against the engine and checks the promises after
// every step. PROMOTER_MODEL_TIME is how long (3s), PROMOTER_MODEL_SEED plays one
// story again.
func TestModel_M15(t *testing.T) {
	t.Parallel()
	if text, set := os.LookupEnv("PROMOTER_MODEL_SEED"); set {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		play(t, seed, true)
		return
	}
	budget := 3 * time.Second
	if text, set := os.LookupEnv("PROMOTER_MODEL_TIME"); set {
		var err error
		if budget, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	end, stories := time.Now().Add(budget), 0
	for seed := rand.Uint64(); time.Now().Before(end) && !t.Failed(); seed++ {
		play(t, seed, false)
		stories++
	}
	t.Logf("%d stories of %d events", stories, events)
}

// events is how many things happen in one story.
const events = 40

// play tells one story.
func play(t *testing.T, seed uint64, loud bool) {
	t.Helper()
	s := newStory(t, seed, loud)
	for range events {
		s.step()
		if s.check(); t.Failed() {
			s.tell("%v", s.Git.FilesOf(s.Git.Branch(state.Branch)))
			t.Fatalf("the promises broke; play it again with PROMOTER_MODEL_SEED=%d:\n%s", seed, strings.Join(s.told, "\n"))
		}
	}
	s.end()
	if t.Failed() {
		t.Fatalf("the end is wrong; play it again with PROMOTER_MODEL_SEED=%d:\n%s", seed, strings.Join(s.told, "\n"))
	}
}

// story is a world in which things happen by chance.
type story struct {
	*world
	random *rand.Rand
	told   []string
	loud   bool

	moving   bool                       // worker is followed by a tag that moves
	released map[string]int             // the minor version of each repository
	order    map[string]int             // of every line that was ever released
	held     map[string]map[string]bool // lines that each environment ever held
	looked   string                     // the commit of main that was checked
	refused  map[string]map[string]bool // lines that a person refused in an environment
	theirs   map[string]string          // heads that a person committed to, with that commit
}

// modelConfig makes a config by chance.
func modelConfig(random *rand.Rand, pushOnly, moving bool) string {
	text := `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, WORKER}
applications:
  "*": {SETTLE}
environments:
  dev: {paths: ["dev/{application}.txt"], land: LAND}
  staging: {paths: ["staging/{application}.txt"], after: {dev: {SOAK}}, land: PR, NEWER GROUP}
  prod: {paths: ["prod/{application}.txt"], after: [staging], land: AUTO, PROPOSE GROUP}
`
	pick := func(choices ...string) string { return choices[random.IntN(len(choices))] }
	set := func(key string, choices ...string) { text = strings.ReplaceAll(text, key, pick(choices...)) }
	set("SETTLE", "", "", "settle: 5m")
	set("SOAK", "", "", "soak: 1h")
	set("NEWER", "", "newer: queue,", "newer: refresh,", "newer: drain,")
	set("PROPOSE", "", "", "propose: manual,")
	if moving {
		set("WORKER", "select: {tag: released}, pin: tag+digest")
	}
	set("WORKER", `select: {semver: ">=1"}`)
	if pushOnly {
		return strings.NewReplacer("LAND", "push", "PR", "push", "AUTO", "push", "GROUP", "").Replace(text)
	}
	set("LAND", "push", "push", "pr", "automerge")
	set("PR", "pr")
	set("AUTO", "automerge")
	set("GROUP", "", "", "pullRequest: {group: environment}")
	return text
}

func newStory(t *testing.T, seed uint64, loud bool) *story {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // stories, not secrets
	pushOnly, moving := random.IntN(4) == 0, random.IntN(3) == 0
	s := &story{
		world: newWorld(t, modelConfig(random, pushOnly, moving)), random: random, loud: loud, moving: moving,
		released: map[string]int{}, held: map[string]map[string]bool{}, refused: map[string]map[string]bool{}, theirs: map[string]string{},
		order: map[string]int{line(web, "1.0.0"): 0, line(worker, "1.0.0"): 0},
	}
	if pushOnly {
		s.Forge.Limits = scm.Features{}
	}
	s.Forge.Method = []string{"merge", "squash", "rebase"}[random.IntN(3)]
	for _, environment := range environments() {
		s.held[environment], s.refused[environment] = map[string]bool{}, map[string]bool{}
	}
	s.look()
	return s
}

func environments() []string { return []string{"dev", "staging", "prod"} }

func (s *story) tell(format string, args ...any) {
	words := fmt.Sprintf(format, args...)
	s.told = append(s.told, words)
	if s.loud {
		s.t.Log(words)
	}
}

// step lets one thing happen, and often a run.
func (s *story) step() {
	happenings := []func(){
		s.release, s.release, s.run1, s.run1, s.run1, s.run1, s.crash, s.crash, s.race, s.skewed,
		s.mergeByHand, s.mergeByHand, s.closeByHand, s.revert, s.slip, s.forge, s.moveBase, s.wait, s.wait,
		s.decide, s.registryDown, s.deleteBranch, s.approve, s.moveBack, s.ask,
	}
	s.Clock.Add(time.Minute)
	happenings[s.random.IntN(len(happenings))]()
}

// byPerson takes what a person did as the state to go on from.
func (s *story) byPerson() {
	for _, environment := range environments() {
		for _, line := range s.lines(s.Git.Branch("main"), environment) {
			s.held[environment][line] = true
		}
	}
	s.looked = s.Git.Branch("main")
}

// look takes in what main holds.
func (s *story) look() { s.byPerson() }

// end: after the last event, passes come to rest, and then nothing is written.
func (s *story) end() {
	s.tell("the end")
	for range 4 {
		s.Clock.Add(2 * time.Hour)
		s.pass(s.Lane())
		s.check()
	}
	s.t.Helper()
	s.alive()
	pushes, branches := s.Git.Pushes, s.Git.Branches()
	s.pass(s.Lane())
	if s.Git.Pushes != pushes {
		s.t.Errorf("passes never rest:\n%v\n%v", branches, s.Git.Branches())
	}
}

// alive: whatever happened, the next release goes on once nobody holds it.
func (s *story) alive() {
	place := state.Place{Environment: "dev", Application: "shop"}
	if _, err := s.Lane().Decide(s.t.Context(), "resume", state.Resume(place, state.Act{At: s.Clock.Now()})); err != nil {
		s.t.Error(err)
	}
	clear(s.refused["dev"])
	s.released[web]++
	tag := fmt.Sprintf("1.%d.0", s.released[web])
	s.push(web, tag)
	s.order[line(web, tag)] = s.released[web]
	s.tell("resume dev, release web %s", tag)
	for range 3 {
		s.pass(s.Lane())
		s.Clock.Add(2 * time.Hour)
		s.check()
	}
	pushes := strings.Contains(s.Git.FilesOf(s.Git.Branch("main"))[engine.ConfigFile], "dev/{application}.txt\"], land: push")
	if pushes && !slices.Contains(s.lines(s.Git.Branch("main"), "dev"), line(web, tag)) {
		s.t.Errorf("dev never got web %s", tag)
	}
}
