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

	"promoter/internal/identity"
	"promoter/internal/promotion/engine"
	"promoter/internal/promotion/engine/enginetest"
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

	pushOnly bool
	moving   bool                       // worker is followed by a tag that moves
	apart    bool                       // prod lies on a branch of its own
	released map[string]int             // the minor version of each repository
	order    map[string]int             // of every line that was ever released
	held     map[string]map[string]bool // lines that each place ever held
	looked   map[string]string          // by branch, the commit that was checked
	refused  map[string]map[string]bool // lines that a person refused in a place
	rolled   map[string]bool            // places that a person rolled back
	theirs   map[string]string          // heads that a person committed to, with that commit
	said     state.State                // what people had decided before the step
	torn     bool                       // somebody acted in the middle of the step: what they said came too late for some of it
}

// modelConfig makes a config by chance.
func modelConfig(random *rand.Rand, pushOnly, moving, apart bool) string {
	text := `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, WORKER}
applications:
  "*": {SETTLE}
environments:
  dev: {paths: ["dev/{application}.txt"], land: LAND}
  staging: {paths: ["staging/{application}.txt"], after: {dev: {SOAK}}, land: PR, NEWER GROUP}
  prod: {BRANCH paths: ["prod/{application}.txt"], after: [staging], land: AUTO, PROPOSE GROUP}
`
	branch := ""
	if apart {
		branch = "branch: release,"
	}
	text = strings.ReplaceAll(text, "BRANCH", branch)
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
	pushOnly, moving, apart := random.IntN(4) == 0, random.IntN(3) == 0, random.IntN(3) == 0
	s := &story{
		world: newWorld(t, modelConfig(random, pushOnly, moving, apart)), random: random, loud: loud,
		pushOnly: pushOnly, moving: moving, apart: apart,
		released: map[string]int{}, held: map[string]map[string]bool{}, refused: map[string]map[string]bool{}, theirs: map[string]string{},
		looked: map[string]string{}, rolled: map[string]bool{},
		order: map[string]int{line(web, "1.0.0"): 0, line(worker, "1.0.0"): 0},
	}
	if pushOnly {
		s.Forge.Limits = scm.Features{}
	}
	s.Forge.Method = []string{"merge", "squash", "rebase"}[random.IntN(3)]
	s.Git.Commit("main", enginetest.Human, s.Clock.Now(), "Another application", func(all map[string]string) {
		for _, environment := range environments() {
			all[environment+"/cart.txt"] = line(worker, "1.0.0") + "\n"
		}
	})
	if apart {
		s.Git.Set("release", s.Git.Branch("main"))
	}
	for _, place := range places() {
		s.held[place], s.refused[place] = map[string]bool{}, map[string]bool{}
	}
	s.byPerson()
	return s
}

func environments() []string { return []string{"dev", "staging", "prod"} }

// places are the applications in the environments, as their files are called.
func places() []string {
	var all []string
	for _, environment := range environments() {
		all = append(all, environment+"/shop", environment+"/cart")
	}
	return all
}

// branches are those of the environments.
func (s *story) branches() []string {
	if s.apart {
		return []string{"main", "release"}
	}
	return []string{"main"}
}

// branchOf returns the branch that a place lies on.
func (s *story) branchOf(place string) string {
	if s.apart && strings.HasPrefix(place, "prod/") {
		return "release"
	}
	return "main"
}

// placeOf returns a place as the state knows it.
func placeOf(place string) state.Place {
	environment, application, _ := strings.Cut(place, "/")
	return state.Place{Environment: environment, Application: application}
}

// anyPlace returns a place by chance.
func (s *story) anyPlace() string { return places()[s.random.IntN(len(places()))] }

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
		s.freeze, s.rollback, s.retarget, s.draft, s.reopen, s.forgeTrailers, s.changeConfig, s.meanwhile, s.meanwhile, s.flaky,
	}
	s.Clock.Add(time.Minute)
	s.remember()
	happenings[s.random.IntN(len(happenings))]()
}

// remember keeps what people had decided before a step.
func (s *story) remember() {
	s.torn, s.said = false, state.State{}
	if commit := s.Git.Branch(state.Branch); commit != "" {
		var err error
		if s.said, err = state.Read(s.Git.Objects().All(commit)); err != nil {
			s.t.Error(err)
		}
	}
}

// byPerson takes what a person did as the state to go on from.
func (s *story) byPerson() {
	for _, branch := range s.branches() {
		s.forward(branch)
		s.looked[branch] = s.Git.Branch(branch)
	}
	for _, place := range places() {
		for _, line := range s.lines(s.Git.Branch(s.branchOf(place)), place) {
			s.held[place][line] = true
		}
	}
}

// end: after the last event, passes come to rest, and then nothing is written.
func (s *story) end() {
	s.tell("the end")
	for range 4 {
		s.Clock.Add(2 * time.Hour)
		s.remember()
		s.pass(s.Lane())
		s.check()
	}
	s.t.Helper()
	s.alive()
	s.pass(s.Lane()) // time passed since the last one
	pushes, branches := s.Git.Pushes, s.Git.Branches()
	s.pass(s.Lane())
	if s.Git.Pushes != pushes {
		s.t.Errorf("passes never rest:\n%v\n%v", branches, s.Git.Branches())
	}
}

// alive: whatever happened, the next release goes on once nobody holds it.
func (s *story) alive() {
	everything := state.Place{Environment: state.All, Application: state.All}
	act := state.Act{By: identity.Person{Login: "ada"}, At: s.Clock.Now()}
	changes := []state.Change{state.Resume(everything, act), state.Thaw(state.All)}
	for _, environment := range environments() {
		changes = append(changes, state.Thaw(environment))
	}
	if _, err := s.Lane().Decide(s.t.Context(), "resume", changes...); err != nil {
		s.t.Error(err)
	}
	s.resumed(everything)
	s.released[web]++
	tag := fmt.Sprintf("1.%d.0", s.released[web])
	s.push(web, tag)
	s.order[line(web, tag)] = s.released[web]
	s.tell("resume everything, release web %s", tag)
	for range 3 {
		s.remember()
		s.pass(s.Lane())
		s.Clock.Add(2 * time.Hour)
		s.check()
	}
	pushes := strings.Contains(s.Git.FilesOf(s.Git.Branch("main"))[engine.ConfigFile], "dev/{application}.txt\"], land: push")
	if pushes && !slices.Contains(s.lines(s.Git.Branch("main"), "dev/shop"), line(web, tag)) {
		s.t.Errorf("dev never got web %s", tag)
	}
}

// resumed forgets what people refused in a place, and in all that it holds.
func (s *story) resumed(wide state.Place) {
	for _, place := range places() {
		in := placeOf(place)
		if (wide.Environment == state.All || wide.Environment == in.Environment) && (wide.Application == state.All || wide.Application == in.Application) {
			clear(s.refused[place])
			delete(s.rolled, place)
		}
	}
}
