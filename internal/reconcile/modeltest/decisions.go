package modeltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/identity"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/state"
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
	if s.random.IntN(2) == 0 {
		s.record("resume "+target.String(), state.Resume(target, s.act()))
		forgetRefused(s, target)
		return
	}
	s.record("hold "+target.String(), state.Hold(target, s.act()))
}

// forgetRefused forgets what users refused within a scope.
func forgetRefused(s *story, wide state.Target) {
	for _, target := range targets() {
		if within(target, wide) {
			clear(s.refused[target])
			delete(s.rolledBack, target)
		}
	}
}

// requestPromotion requests a manual promotion.
func requestPromotion(s *story) {
	target := state.Target{Environment: "prod", Application: "shop"}
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
		state.Post(targetOf(target), state.Request{Act: act, With: []string{of}, Posted: name}, []state.Version{version}))
}

func freeze(s *story) {
	environment := oneOf(s.random, append(environments(), state.All)...)
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
		if within(inside, target) {
			s.refused[inside][refused] = true
		}
	}
	rejection := state.Rejection{Act: s.act(), Images: map[string]string{component: refused}}
	s.record("reject "+refused+" in "+target.String(), state.Reject(target, rejection))
}

// rollback rolls a target back to its previous snapshot.
func rollback(s *story) {
	target := anyTarget(s)
	before, err := beforeStep(s, target)
	if err != nil {
		s.skip()
		return
	}
	back := state.RolledBack{Act: s.act(), Images: map[string]string{}, Commit: before.Commit}
	for component, pinned := range before.Snapshot {
		back.Images[component] = pinned.Reference()
	}
	s.rolledBack[target] = slices.Collect(maps.Values(back.Images))
	s.record("roll back "+target, state.Rollback(targetOf(target), back))
}

func beforeStep(s *story, target string) (landing.Earlier, error) {
	reconciler, end, err := reconciler(s, true)
	if err != nil {
		return landing.Earlier{}, err
	}
	defer end()
	earlier, _, err := reconciler.Before(s.t.Context(), promotion.Target(targetOf(target)), "")
	return earlier, err
}
