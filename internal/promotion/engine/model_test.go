package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
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

func (s *story) release() {
	repository := []string{web, worker}[s.random.IntN(2)]
	s.released[repository]++
	n := s.released[repository]
	tag := fmt.Sprintf("1.%d.0", n)
	s.tell("release %s %s", repository, tag)
	s.push(repository, tag)
	s.order[line(repository, tag)] = n
	if s.moving && repository == worker {
		s.order[s.move(n)] = n
	}
}

// move points the moving tag at a release and returns how a file holds it.
func (s *story) move(n int) string {
	words := fmt.Sprintf("worker 1.%d.0", n)
	created := enginetest.Noon().Add(time.Duration(n) * time.Second)
	s.Registry.Push(worker, "released", words, created)
	return worker + ":released@" + enginetest.Digest(words)
}

// moveBack points the moving tag at an older image.
func (s *story) moveBack() {
	if n := s.released[worker]; s.moving && n > 1 {
		s.tell("the moving tag goes back")
		s.move(1 + s.random.IntN(n-1))
	}
}

// ask asks for what waits until somebody does.
func (s *story) ask() {
	s.tell("a person asks for prod")
	place := state.Place{Environment: "prod", Application: "shop"}
	change := state.Ask(place, state.Request{Act: state.Act{By: identity.Person{Login: "ada"}, At: s.Clock.Now()}})
	if err := s.Lane().Decide(s.t.Context(), "Ask", change); err != nil {
		s.t.Error(err)
	}
}

// pass runs once; what it reports is told.
func (s *story) pass(lane *engine.Lane) {
	report, err := lane.Reconcile(s.t.Context())
	for _, done := range report.Done {
		s.tell("  %s %s (%v) %s", done.Head, done.Act, done.Err, done.Reason)
	}
	for _, d := range report.Decisions {
		s.tell("  %s/%s %s: %s", d.Environment, d.Application, d.State, d.Reason)
	}
	if err != nil {
		s.tell("  error: %v", err)
	}
}

func (s *story) run1() {
	s.tell("run")
	s.pass(s.Lane())
}

// crash breaks a run at some effect: before it happens, or after, so that the
// answer is lost.
func (s *story) crash() {
	at, before := s.random.IntN(6), s.random.IntN(2) == 0
	s.tell("run that breaks at effect %d, before it: %v", at, before)
	n, broken := 0, errors.New("killed")
	effect := func(now bool) error {
		if now != before {
			return nil
		}
		if n++; n > at {
			return fault.Wrap(fault.Temporary, broken)
		}
		return nil
	}
	s.Git.Effect = func(now bool, _ []engine.Update) error { return effect(now) }
	s.Forge.Effect = func(now bool, _ string) error { return effect(now) }
	s.pass(s.Lane())
	s.Git.Effect, s.Forge.Effect = nil, nil
}

// race lets a second run happen in the middle of the first.
func (s *story) race() {
	at, n, inside := s.random.IntN(4), 0, false
	s.tell("two runs at effect %d", at)
	effect := func(before bool) error {
		if n++; !inside && before && n > at {
			inside = true
			s.tell(" inner")
			s.pass(s.Lane())
			s.tell(" outer")
		}
		return nil
	}
	s.Git.Effect = func(before bool, _ []engine.Update) error { return effect(before) }
	s.Forge.Effect = func(before bool, _ string) error { return effect(before) }
	s.pass(s.Lane())
	s.Git.Effect, s.Forge.Effect = nil, nil
}

// skewed runs in a process whose clock is wrong.
func (s *story) skewed() {
	skew := time.Duration(s.random.IntN(40)-20) * time.Minute
	s.tell("run with a clock that is %s off", skew)
	lane := s.Lane()
	lane.Now = func() time.Time { return s.Clock.Now().Add(skew) }
	s.pass(lane)
}

// some returns an open pull request of ours by chance.
func (s *story) some() (scm.PullRequest, bool) {
	var open []scm.PullRequest
	for _, pr := range s.Forge.All() {
		if pr.State == scm.StateOpen && pr.Author.Same(enginetest.Bot) {
			open = append(open, pr)
		}
	}
	if len(open) == 0 {
		return scm.PullRequest{}, false
	}
	return open[s.random.IntN(len(open))], true
}

func (s *story) mergeByHand() {
	pr, found := s.some()
	if !found {
		return
	}
	method := []string{"merge", "squash", "rebase"}[s.random.IntN(3)]
	s.Forge.Bare = s.random.IntN(3) == 0
	s.tell("a person merges #%d (%s)", pr.Number, method)
	if err := s.Forge.MergeByHand(pr.Number, method); err != nil {
		s.tell("  %v", err)
		return
	}
	s.byPerson()
}

func (s *story) closeByHand() {
	pr, found := s.some()
	if !found {
		return
	}
	s.tell("a person closes #%d", pr.Number)
	s.Forge.CloseByHand(pr.Number, "ada")
	environment := strings.Split(pr.Head.Branch, "/")[1]
	if s.theirs[pr.Head.Branch] != "" {
		return // what a person made of it is no answer about versions
	}
	now := s.lines(s.Git.Branch("main"), environment)
	for _, line := range s.lines(pr.Head.Commit, environment) {
		if !slices.Contains(now, line) {
			s.refused[environment][line] = true
		}
	}
}

func (s *story) lines(commit, environment string) []string {
	return strings.Split(strings.TrimSpace(s.Git.FilesOf(commit)[environment+"/shop.txt"]), "\n")
}

// revert takes back what dev holds.
func (s *story) revert() {
	environment := environments()[s.random.IntN(3)]
	s.look()
	now := s.lines(s.Git.Branch("main"), environment)
	i := s.random.IntN(2)
	repository, _, _ := strings.Cut(now[i], ":")
	name := repository[strings.LastIndex(repository, "/")+1:]
	older := repository + ":1.0.0@" + enginetest.Digest(name+" 1.0.0")
	if now[i] == older {
		return
	}
	s.tell("a person takes %s back in %s", now[i], environment)
	if s.made(environment, now[i]) {
		s.refused[environment][now[i]] = true
	}
	s.byHand("main", environment, now[i], older)
	s.byPerson()
}

// made says whether promoter put a line there: its trailers tell.
func (s *story) made(environment, line string) bool {
	for commit, err := range s.Git.Objects().History(s.Git.Branch("main")) {
		if err != nil {
			return false
		}
		inTrailers := strings.Contains(commit.Message, "Promoter-Environment: "+environment+"\n") && strings.Contains(commit.Message, "="+line)
		if inTrailers {
			return true
		}
	}
	return false
}

// slip pushes a person's commit to a branch of ours.
func (s *story) slip() {
	pr, found := s.some()
	if !found || s.random.IntN(2) == 0 {
		return
	}
	s.tell("a person commits to %s", pr.Head.Branch)
	s.theirs[pr.Head.Branch] = s.Git.Commit(pr.Head.Branch, enginetest.Human, s.Clock.Now(), "Mine", func(all map[string]string) { all["mine"] = "x" })
}

// forge opens a pull request that pretends to be ours.
func (s *story) forge() {
	s.tell("a fork opens a pull request from a branch with our name")
	s.Forge.ByHand("mallory", "promoter/staging/shop", "main", false)
}

func (s *story) moveBase() {
	s.tell("the base moves elsewhere")
	s.Git.Commit("main", enginetest.Human, s.Clock.Now(), "Elsewhere", func(all map[string]string) { all["README"] += "x" })
	s.byPerson()
}

func (s *story) wait() {
	by := time.Duration(s.random.IntN(90)) * time.Minute
	s.tell("%s pass", by)
	s.Clock.Add(by)
}

func (s *story) decide() {
	place := state.Place{Environment: environments()[s.random.IntN(3)], Application: "shop"}
	act := state.Act{By: identity.Person{Login: "ada"}, At: s.Clock.Now(), Why: "because"}
	change, verb := state.Hold(place, act), "hold"
	if s.random.IntN(2) == 0 {
		change, verb = state.Resume(place, act), "resume"
		clear(s.refused[place.Environment])
	}
	s.tell("%s %s", verb, place)
	if err := s.Lane().Decide(s.t.Context(), verb, change); err != nil {
		s.t.Error(err)
	}
}

func (s *story) registryDown() {
	s.tell("run without a registry")
	s.Registry.Down = true
	s.pass(s.Lane())
	s.Registry.Down = false
}

func (s *story) deleteBranch() {
	pr, found := s.some()
	if !found || s.random.IntN(3) > 0 {
		return
	}
	s.tell("a person deletes %s", pr.Head.Branch)
	s.Git.Set(pr.Head.Branch, "")
	delete(s.theirs, pr.Head.Branch)
}

func (s *story) approve() {
	if pr, found := s.some(); found {
		s.tell("a person approves #%d", pr.Number)
		s.Forge.Review(pr.Number, "ada", scm.Approved)
	}
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

// check holds the promises.
func (s *story) check() {
	s.t.Helper()
	s.oneEach()
	s.handsOff()
	s.forward()
}

// oneEach: at most one open pull request of ours for each branch.
func (s *story) oneEach() {
	open := map[string]int{}
	for _, pr := range s.Forge.All() {
		if pr.State == scm.StateOpen && pr.Head.Own {
			if open[pr.Head.Branch]++; open[pr.Head.Branch] > 1 {
				s.t.Errorf("two open pull requests of %s", pr.Head.Branch)
			}
		}
	}
}

// handsOff: what a person committed is not overwritten.
func (s *story) handsOff() {
	for branch, commit := range s.theirs {
		if now := s.Git.Branch(branch); now != "" && !s.contains(now, commit) {
			s.t.Errorf("the commit of a person on %s was overwritten", branch)
		}
	}
}

func (s *story) contains(head, commit string) bool {
	for c, err := range s.Git.Objects().History(head) {
		if err == nil && c.ID == commit {
			return true
		}
	}
	return false
}

// forward: what promoter landed since is newer than what was there, was in the
// parent before, was released, and was not refused.
func (s *story) forward() {
	main := s.Git.Branch("main")
	if main == s.looked {
		return
	}
	parents := map[string]string{"staging": "dev", "prod": "staging"}
	for _, commit := range s.since(main) {
		for _, environment := range environments() {
			before, after := s.lines(commit.Parents[0], environment), s.lines(commit.ID, environment)
			for i := range after {
				if after[i] == before[i] {
					continue
				}
				s.landed(environment, parents[environment], before[i], after[i])
				s.held[environment][after[i]] = true
			}
		}
		if s.Git.FilesOf(commit.ID)["mine"] != s.Git.FilesOf(commit.Parents[0])["mine"] {
			s.t.Error("a slipped commit was merged")
		}
	}
	s.looked = main
}

func (s *story) since(main string) []engine.Commit {
	var commits []engine.Commit
	for c, err := range s.Git.Objects().History(main) {
		if err != nil || c.ID == s.looked {
			break
		}
		commits = append(commits, c)
	}
	slices.Reverse(commits)
	return commits
}

func (s *story) landed(environment, parent, before, after string) {
	is, released := s.order[after]
	switch {
	case !released:
		s.t.Errorf("%s got %s, which was never released", environment, after)
	case is <= s.order[before]:
		s.t.Errorf("%s went from %s back to %s", environment, before, after)
	case parent != "" && !s.held[parent][after]:
		s.t.Errorf("%s got %s, which %s never held", environment, after, parent)
	case s.refused[environment][after]:
		s.t.Errorf("%s got %s, which a person refused", environment, after)
	}
}

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
	if err := s.Lane().Decide(s.t.Context(), "resume", state.Resume(place, state.Act{At: s.Clock.Now()})); err != nil {
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
