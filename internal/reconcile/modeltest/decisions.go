package modeltest

import (
	"maps"
	"slices"
	"strings"

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
	_, err = reconciler.StateBranch().Record(s.t.Context(), "Record a decision", changes...)
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

func freeze(s *story) {
	environment := append(environments(), state.All)[s.random.IntN(4)]
	if s.random.IntN(2) == 0 {
		s.record("thaw "+environment, state.Thaw(environment))
		return
	}
	s.record("freeze "+environment, state.Freeze(environment, s.act(), nil))
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
