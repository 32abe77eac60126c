package modeltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/glob"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/reconcile"
	"promoter/internal/scm/scmtest"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// record records a user decision, from another machine.
func (s *story) record(text string, changes ...state.Change) {
	s.t.Helper()
	s.log("%s", text)
	err := recordOnce(s, changes)
	if err != nil {
		err = recordOnce(s, changes) // a failure of the server may hit a user once
	}
	if err != nil {
		s.t.Error(err)
	}
}

func recordOnce(s *story, changes []state.Change) error {
	reconciler, end, err := reconciler(s, true)
	if err != nil {
		return err
	}
	defer end()
	_, err = reconciler.Clients.StateBranch().Record(s.t.Context(), "Record a decision", changes...)
	return err
}

func holdOrResume(s *story) {
	target := anyScope(s)
	switch s.random.IntN(4) {
	case 0:
		s.record("resume "+target.String(), state.Resume(target, s.act()))
		forgetRollback(s, func(inside state.Target) bool { return inside == target })
	case 1:
		s.record("resume all in "+target.String(), state.ResumeWithin(target, s.act()))
		forgetRollback(s, target.Contains)
	default:
		s.record("hold "+target.String(), state.Hold(target, s.act()))
	}
}

// decidePattern holds each application of an environment that a pattern names, or rejects the newest worker there, as
// the command line expands it.
func decidePattern(s *story) {
	pattern, environment := oneOf(s.random, "*", "s*", "*art"), s.nameOf(oneOf(s.random, environments()...))
	verb, refused := oneOf(s.random, "hold", "reject"), reference(worker, s.newest(worker))
	var changes []state.Change
	for _, target := range targets() {
		switch at := s.targetOf(target); {
		case at.Environment != environment || !glob.MatchName(pattern, at.Application):
		case verb == "hold":
			changes = append(changes, state.Hold(at, s.act()))
		default:
			s.refused[target][refused] = true
			changes = append(changes, state.Reject(at, state.Rejection{Act: s.act(), Images: map[string]string{"worker": refused}}))
		}
	}
	s.record(verb+" "+pattern+" in "+environment, changes...)
}

// forgetRollback forgets to which versions targets were rolled back.
func forgetRollback(s *story, resumed func(state.Target) bool) {
	for _, target := range targets() {
		if resumed(s.targetOf(target)) {
			delete(s.rolledBack, target)
		}
	}
}

// forgetRefused forgets what users refused within a scope.
func forgetRefused(s *story, wide state.Target) {
	for _, target := range targets() {
		if within(s, target, wide) {
			clear(s.refused[target])
		}
	}
}

// unreject allows a released version again in a scope, or the newest one.
func unreject(s *story) {
	repository := []string{web, worker}[s.random.IntN(2)]
	allowed := reference(repository, s.newest(repository))
	target := anyScope(s)
	var refused []string
	for _, inside := range targets() {
		if within(s, inside, target) {
			refused = slices.AppendSeq(refused, maps.Keys(s.refused[inside]))
		}
	}
	if slices.Sort(refused); len(refused) > 0 {
		allowed = refused[s.random.IntN(len(refused))]
	}
	name, _, _ := strings.Cut(allowed, ":")
	for _, inside := range targets() {
		if within(s, inside, target) {
			delete(s.refused[inside], allowed)
		}
	}
	images := map[string]string{name[strings.LastIndex(name, "/")+1:]: allowed}
	s.record("unreject "+allowed+" in "+target.String(), state.Unreject(target, state.Unrejection{Act: s.act(), Images: images}))
}

// requestPromotion requests a manual promotion.
func requestPromotion(s *story) {
	target := s.targetOf("prod/shop")
	s.record("request "+target.String(), state.AddRequest(target, state.Request{Act: s.act()}))
}

// post requests a release as a pipeline does that posts a snapshot.
func post(s *story) {
	target := anyTarget(s)
	all := slices.DeleteFunc(releases(s), func(of string) bool {
		repository, _, _ := strings.Cut(of, ":")
		return repository == web && !strings.HasSuffix(target, "/shop")
	})
	of := all[s.random.IntN(len(all))]
	name := fmt.Sprintf("run-%d", s.reconciliations)
	act := state.Act{By: identity.User{Login: "receiver pipeline", Bot: true}, At: s.Clock.Now(), Reason: "snapshot " + name}
	repository, rest, _ := strings.Cut(of, ":")
	tag, hex, _ := strings.Cut(rest, "@")
	version := state.Version{Component: strings.TrimPrefix(repository, followed), Tag: tag, Digest: hex}
	s.record("a pipeline posts "+of+" for "+target,
		state.Post(s.targetOf(target), state.Request{Act: act, With: []string{of}, Posted: name}, []state.Version{version}))
}

func freeze(s *story) {
	environment := oneOf(s.random, append(environments(), state.All)...)
	if environment != state.All {
		environment = s.nameOf(environment)
	}
	if s.random.IntN(2) == 0 {
		s.record("thaw "+environment, state.Thaw(environment))
		return
	}
	var until *time.Time
	if s.random.IntN(2) == 0 {
		end := s.Clock.Now().Add(time.Duration(5+s.random.IntN(60)) * time.Minute)
		until = &end
	}
	s.record(fmt.Sprintf("freeze %s until %v", environment, until), state.Freeze(environment, s.act(), until))
}

// reject rejects the newest version of an image in a scope.
func reject(s *story) {
	repository := []string{web, worker}[s.random.IntN(2)]
	refused := reference(repository, s.newest(repository))
	target := anyScope(s)
	component := repository[strings.LastIndex(repository, "/")+1:]
	for _, inside := range targets() {
		if within(s, inside, target) {
			s.refused[inside][refused] = true
		}
	}
	rejection := state.Rejection{Act: s.act(), Images: map[string]string{component: refused}}
	s.record("reject "+refused+" in "+target.String(), state.Reject(target, rejection))
}

// rollback rolls a target back to its previous snapshot, and maybe bypasses gates: as Ann, who may, or as Bob, who
// may not.
func rollback(s *story) { rollBack(s, false) }

// rollbackDownstream also rolls back the targets downstream that have what it leaves, as --downstream does: in one
// commit, or as a user with several commands, who may stop after any of them.
func rollbackDownstream(s *story) { rollBack(s, true) }

func rollBack(s *story, downstream bool) {
	target := anyTarget(s)
	reconciler, end, err := reconciler(s, true)
	if err != nil {
		s.skip()
		return
	}
	defer end()
	past, err := reconciler.Past(s.t.Context())
	if err != nil {
		s.skip()
		return
	}
	source := promotion.Target(s.targetOf(target))
	back, err := rollbackOf(s, past, source)
	if err != nil {
		s.skip()
		return
	}
	text, changes := "roll back "+target, []state.Change{state.Rollback(s.targetOf(target), back)}
	observed := past.Observation()
	for _, one := range observed.Descendants(source, state.Leaving{Act: back.Act, From: back.From}) {
		if !downstream {
			break
		}
		more, err := rollbackOf(s, past.With(changes...), one.Target)
		if err != nil {
			continue
		}
		change := state.Rollback(state.Target(one.Target), more)
		if s.random.IntN(3) == 0 { // it comes before that of the source, by a command of its own
			s.record("roll back "+one.Environment+"/"+one.Application+" downstream of "+target, change)
			if s.random.IntN(3) == 0 {
				return
			}
			continue
		}
		text, changes = text+", "+one.Environment, append(changes, change)
	}
	s.record(text, changes...)
}

// rollbackOf returns a rollback of a target to its previous snapshot.
func rollbackOf(s *story, past reconcile.Past, target promotion.Target) (state.RolledBack, error) {
	before, err := past.Before(s.t.Context(), target, "")
	if err != nil {
		return state.RolledBack{}, err
	}
	back := state.RolledBack{Act: s.act(), Images: map[string]string{}, From: before.Left, Commit: before.Commit}
	for _, gate := range verb.BypassableBy(verb.Rollback) {
		if s.random.IntN(4) == 0 {
			back.Bypass = append(back.Bypass, gate)
		}
	}
	if s.random.IntN(4) == 0 {
		back.By.Login = scmtest.Bob
	}
	for component, pinned := range before.Snapshot {
		back.Images[component] = pinned.Reference()
	}
	name := s.logical(state.Target(target))
	s.rolledBack[name] = slices.Collect(maps.Values(back.Images))
	delete(s.closed, name)
	return back, nil
}

// leftUpstream returns what a target upstream was leaving before the step, if a reference is among it and nothing since then
// may have ended that: a resume, a close of the pull request of the rollback, or a request that names it.
func leftUpstream(s *story, target, reference string) (state.Leaving, bool) {
	seen := map[string]bool{}
	var above func(target string) (state.Leaving, bool)
	above = func(below string) (state.Leaving, bool) {
		for _, parent := range parentsOf(s, s.configured, below) {
			if seen[parent.target] {
				continue
			}
			seen[parent.target] = true
			for _, left := range s.stored.At(s.targetOf(parent.target)).Leaving() {
				ended := s.closed[parent.target] || resumedSince(s, parent.target, left.At) || allowedSince(s, parent.target, left.At)
				if !ended && leaves(s, left, reference) && !askedSince(s, target, reference, left.At) {
					return left, true
				}
			}
			if left, found := above(parent.target); found {
				return left, true
			}
		}
		return state.Leaving{}, false
	}
	return above(target)
}

func leaves(s *story, left state.Leaving, reference string) bool {
	for _, pinned := range snapshotOf(s, reference) {
		return left.Covers(pinned.Repository, pinned.Version)
	}
	return false
}

// askedSince reports whether a user asked for a reference in a target after a time: by a request or a rollback.
func askedSince(s *story, target, reference string, decided time.Time) bool {
	record := s.stored.At(s.targetOf(target))
	if request := record.Request; request != nil && request.Posted == "" && request.At.After(decided) && namedFor(s, target, reference) {
		return true
	}
	return record.Rollback != nil && record.Rollback.At.After(decided) && slices.Contains(s.rolledBack[target], reference)
}
