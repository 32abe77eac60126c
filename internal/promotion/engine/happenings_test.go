package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/promotion/engine"
	"promoter/internal/promotion/engine/enginetest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

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
	if _, err := s.Lane().Decide(s.t.Context(), "Ask", change); err != nil {
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
	if _, err := s.Lane().Decide(s.t.Context(), verb, change); err != nil {
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
