package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
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
	if s.random.IntN(4) > 0 {
		s.tell("run")
		s.pass(s.Lane())
		return
	}
	s.tell("run without a cache")
	lane, _ := s.Fresh()
	s.pass(lane)
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
	s.byPerson()
	method := []string{"merge", "squash", "rebase"}[s.random.IntN(3)]
	s.Forge.Bare = s.random.IntN(3) == 0
	s.tell("a person merges #%d (%s)", pr.Number, method)
	if err := s.Forge.MergeByHand(pr.Number, method); err != nil {
		s.tell("  %v", err)
		return
	}
	s.mine()
}

// mine takes what a person did to the branches without asking whether it keeps the
// promises.
func (s *story) mine() {
	for _, branch := range s.branches() {
		s.looked[branch] = s.Git.Branch(branch)
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
	if s.theirs[pr.Head.Branch] != "" {
		return // what a person made of it is no answer about versions
	}
	for _, place := range places() {
		if !strings.HasPrefix(place, strings.Split(pr.Head.Branch, "/")[1]+"/") {
			continue
		}
		now := s.lines(s.Git.Branch(s.branchOf(place)), place)
		base := s.lines(s.parent(pr.Head.Commit), place)
		for i, line := range s.lines(pr.Head.Commit, place) {
			if line != base[i] && !slices.Contains(now, line) {
				s.refused[place][line] = true
			}
		}
	}
}

func (s *story) parent(id string) string {
	commit, err := s.Git.Objects().Commit(id)
	if err != nil || len(commit.Parents) == 0 {
		return id
	}
	return commit.Parents[0]
}

// lines are what the file of a place holds.
func (s *story) lines(commit, place string) []string {
	return strings.Split(strings.TrimSpace(s.Git.FilesOf(commit)[place+".txt"]), "\n")
}

// revert takes back what a place holds.
func (s *story) revert() {
	place := s.anyPlace()
	s.byPerson()
	branch := s.branchOf(place)
	now := s.lines(s.Git.Branch(branch), place)
	i := s.random.IntN(len(now))
	repository, _, _ := strings.Cut(now[i], ":")
	name := repository[strings.LastIndex(repository, "/")+1:]
	older := repository + ":1.0.0@" + enginetest.Digest(name+" 1.0.0")
	if now[i] == older {
		return
	}
	s.tell("a person takes %s back in %s", now[i], place)
	if s.made(place, now[i]) {
		s.refused[place][now[i]] = true
	}
	s.Git.Commit(branch, enginetest.Human, s.Clock.Now(), "By hand", func(all map[string]string) {
		all[place+".txt"] = strings.ReplaceAll(all[place+".txt"], now[i], older)
	})
	s.mine()
}

// made says whether promoter put a line there: its trailers tell.
func (s *story) made(place, line string) bool {
	in := placeOf(place)
	for commit, err := range s.Git.Objects().History(s.Git.Branch(s.branchOf(place))) {
		if err != nil {
			return false
		}
		for _, landed := range promotion.ReadTrailers(commit.Trailers) {
			if state.Place(landed.Place) != in {
				continue
			}
			for _, pinned := range landed.Snapshot {
				if pinned.String() == line {
					return true
				}
			}
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
	s.byPerson()
	for _, branch := range s.branches() {
		s.Git.Commit(branch, enginetest.Human, s.Clock.Now(), "Elsewhere", func(all map[string]string) { all["README"] += "x" })
	}
	s.mine()
}

func (s *story) wait() {
	by := time.Duration(s.random.IntN(90)) * time.Minute
	s.tell("%s pass", by)
	s.Clock.Add(by)
}

// wide returns a place, an environment or the repository by chance.
func (s *story) wide() state.Place {
	place := placeOf(s.anyPlace())
	if s.random.IntN(4) == 0 {
		place.Application = state.All
		if s.random.IntN(2) == 0 {
			place.Environment = state.All
		}
	}
	return place
}

func (s *story) decide() {
	place, act := s.wide(), state.Act{By: identity.Person{Login: "ada"}, At: s.Clock.Now(), Why: "because"}
	change, verb := state.Hold(place, act), "hold"
	if s.random.IntN(2) == 0 {
		change, verb = state.Resume(place, act), "resume"
		s.resumed(place)
	}
	s.say(change, "%s %s", verb, place)
}

func (s *story) say(change state.Change, format string, args ...any) {
	s.tell(format, args...)
	if _, err := s.Lane().Decide(s.t.Context(), "A person decides", change); err != nil {
		s.t.Error(err)
	}
}

func (s *story) freeze() {
	environment := append(environments(), state.All)[s.random.IntN(4)]
	if s.random.IntN(2) == 0 {
		s.say(state.Thaw(environment), "thaw %s", environment)
		return
	}
	s.say(state.Freeze(environment, state.Act{By: identity.Person{Login: "ada"}, At: s.Clock.Now()}, nil), "freeze %s", environment)
}

// rollback has a place go back to what it held before.
func (s *story) rollback() {
	place := s.anyPlace()
	before, err := s.Lane().Before(s.t.Context(), promotion.Place(placeOf(place)))
	if err != nil {
		return
	}
	back := state.RolledBack{Act: state.Act{By: identity.Person{Login: "ada"}, At: s.Clock.Now()}, Images: map[string]string{}}
	for component, pinned := range before {
		back.Images[component] = pinned.String()
	}
	s.rolled[place] = true
	s.say(state.Rollback(placeOf(place), back), "roll %s back to %v", place, before)
}

// retarget turns a pull request to another branch, or back.
func (s *story) retarget() {
	pr, found := s.some()
	if !found {
		return
	}
	if s.Git.Branch("other") == "" {
		s.Git.Set("other", s.Git.Branch("main"))
	}
	base := "other"
	if pr.Base == base {
		base = s.branchOf(strings.TrimPrefix(pr.Head.Branch, "promoter/"))
	}
	s.tell("a person turns #%d to %s", pr.Number, base)
	s.Forge.Retarget(pr.Number, base)
}

func (s *story) draft() {
	if pr, found := s.some(); found {
		s.tell("a person makes #%d a draft: %v", pr.Number, !pr.Draft)
		s.Forge.Draft(pr.Number, !pr.Draft)
	}
}

// reopen opens a closed pull request again, with its branch.
func (s *story) reopen() {
	all := s.Forge.All()
	if len(all) == 0 {
		return
	}
	pr := all[s.random.IntN(len(all))]
	now := s.Git.Branch(pr.Head.Branch)
	busy := slices.ContainsFunc(all, func(o scm.PullRequest) bool { return o.State == scm.StateOpen && o.Head.Branch == pr.Head.Branch })
	if pr.State != scm.StateClosed || !pr.Head.Own || busy || now != "" && now != pr.Head.Commit {
		return
	}
	s.tell("a person opens #%d again", pr.Number)
	s.Git.Set(pr.Head.Branch, pr.Head.Commit)
	s.Forge.Reopen(pr.Number)
	for _, place := range places() {
		for _, line := range s.lines(pr.Head.Commit, place) {
			delete(s.refused[place], line)
		}
	}
}

// forgeTrailers commits something with trailers that say what never was.
func (s *story) forgeTrailers() {
	s.push(web, "edge")
	place := placeOf(s.anyPlace())
	branch := s.branchOf(place.Environment + "/" + place.Application)
	s.tell("a person forges trailers of %s", place)
	parsed, err := image.Parse(line(web, "edge"))
	if err != nil {
		s.t.Fatal(err)
	}
	message := "Nice work\n\n"
	for _, t := range promotion.Trailers(place.Environment, map[string]promotion.Snapshot{place.Application: {
		"web": {Repository: parsed.Repository, Version: image.Version{Tag: parsed.Tag, Digest: parsed.Digest}},
	}}) {
		message += t.Key + ": " + t.Value + "\n"
	}
	s.byPerson()
	s.Git.Commit(branch, enginetest.Human, s.Clock.Now(), message, func(all map[string]string) { all["README"] += "y" })
	s.mine()
}

// changeConfig merges another config.
func (s *story) changeConfig() {
	s.tell("the config changes")
	s.byPerson()
	text := modelConfig(s.random, s.pushOnly, s.moving, s.apart)
	s.Git.Commit("main", enginetest.Human, s.Clock.Now(), "Config", func(all map[string]string) { all[engine.ConfigFile] = text })
	s.mine()
}

// meanwhile lets somebody act in the middle of a run.
func (s *story) meanwhile() {
	acts := []func(){
		s.mergeByHand, s.mergeByHand, s.closeByHand, s.closeByHand, s.revert, s.deleteBranch, s.slip, s.decide, s.moveBase,
		s.release, s.retarget, s.draft, s.freeze, s.changeConfig, s.reopen,
	}
	at, n, acted := s.random.IntN(6), 0, false
	act := acts[s.random.IntN(len(acts))]
	s.tell("a run, and at effect %d", at)
	effect := func(before bool) error {
		if n++; !acted && before && n > at {
			acted, s.torn = true, true
			act()
		}
		return nil
	}
	s.Git.Effect = func(before bool, _ []engine.Update) error { return effect(before) }
	s.Forge.Effect = func(before bool, _ string) error { return effect(before) }
	s.pass(s.Lane())
	s.Git.Effect, s.Forge.Effect = nil, nil
}

func (s *story) registryDown() {
	s.tell("run without a registry")
	s.Registry.Down = true
	s.pass(s.Lane())
	s.Registry.Down = false
}

// flaky lets every third request to the forge fail.
func (s *story) flaky() {
	s.tell("run with a forge that fails now and then")
	kinds := []fault.Kind{fault.Temporary, fault.Unauthorised, fault.RateLimited, fault.Conflict}
	kind := kinds[s.random.IntN(len(kinds))]
	s.Forge.Fail = func(what string) error {
		if s.random.IntN(3) == 0 {
			return fault.New(kind, "%s fails", what)
		}
		return nil
	}
	s.pass(s.Lane())
	s.Forge.Fail = nil
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
