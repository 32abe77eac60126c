package modeltest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/scm/scmtest"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// requestSeen requests what a user saw in a parent of a target, now or some time ago, and maybe bypasses something for it.
func requestSeen(s *story) {
	target := oneOf(s.random, "prod/shop", "prod/shop", "prod/cart", "staging/shop")
	parents := parentsOf(s, s.configured, target)
	settings, _ := settingsOf(s, s.configured, target)
	if len(parents) == 0 || settings.Propose != setting.ProposeManual && s.random.IntN(3) > 0 {
		s.skip()
		return
	}
	from := parents[s.random.IntN(len(parents))].target
	commits := line(s.Store, s.head(branchOf(s, from)), "")
	at := commits[0].ID
	if s.random.IntN(3) == 0 {
		at = commits[s.random.IntN(min(len(commits), 6))].ID
	}
	seen, now := referencesIn(s, at, from), currentReferences(s, target)
	request := state.Request{Act: s.act(), For: map[string]string{}}
	for i, wanted := range seen {
		if i < len(now) && digestOf(wanted) != digestOf(now[i]) {
			name, _, _ := strings.Cut(strings.TrimPrefix(wanted, followed), ":")
			request.For[name] = s.written(target, wanted)
		}
	}
	if len(request.For) == 0 {
		s.skip()
		return
	}
	for _, condition := range verb.Bypassable() {
		if s.random.IntN(8) == 0 {
			request.Bypass = append(request.Bypass, condition)
		}
	}
	if s.random.IntN(4) == 0 {
		request.By.Login = scmtest.Bob
	}
	of := s.targetOf(target)
	changes, text := []state.Change{state.AddRequest(of, request)}, ""
	if s.random.IntN(2) == 0 { // so that it waits while newer versions come
		until := s.Clock.Now().Add(time.Duration(10+s.random.IntN(40)) * time.Minute)
		changes, text = append(changes, state.Freeze(of.Environment, s.act(), &until)), ", which is frozen"
	}
	s.record("request "+strings.Join(slices.Sorted(maps.Values(request.For)), ", ")+" for "+target+text, changes...)
}

// isFor reports whether references are exactly what a request is for, of the components that it names.
func isFor(r state.Request, references []string) bool {
	there := digestsOf(references)
	for _, wanted := range r.For {
		if !slices.Contains(there, digestOf(wanted)) {
			return false
		}
	}
	return true
}

// requestsOf returns the requests for a target before the step, and those that were recorded in it.
func requestsOf(s *story, target string) (all []state.Request) {
	at := s.targetOf(target)
	wide := state.Target{Environment: at.Environment, Application: state.All}
	add := func(recorded state.State) {
		for _, scope := range []state.Target{at, wide} {
			if request := recorded.At(scope).Request; request != nil {
				all = append(all, *request)
			}
		}
	}
	add(s.stored)
	for _, commit := range line(s.Store, s.head(stateBranch), s.storedHead) {
		add(s.stateAt(commit.ID))
	}
	return all
}

// checkRequested checks that a target with propose: manual got what a user requested, and nothing else: a request is
// for the versions that its user saw.
func checkRequested(s *story, target string, before, after []string, returned bool) {
	s.t.Helper()
	settings, known := settingsOf(s, s.configured, target)
	if !known || s.interleaved || settings.Propose != setting.ProposeManual || returned {
		return
	}
	var moved []string
	for i := range after {
		if i < len(before) && digestOf(after[i]) != digestOf(before[i]) {
			moved = append(moved, after[i])
		}
	}
	back := func(reference string) bool { return slices.Contains(s.rolledBack[target], reference) }
	failed := func(f *failure) bool {
		return !slices.ContainsFunc(moved, func(reference string) bool {
			return f.Back["web"] != reference && f.Back["worker"] != reference
		})
	}
	if len(moved) == 0 || slices.ContainsFunc(moved, back) || slices.ContainsFunc(s.failures[target], failed) {
		return
	}
	all := requestsOf(s, target)
	requests := func(r state.Request) bool {
		if len(r.For) == 0 {
			return true
		}
		var wanted []string
		for _, text := range r.For {
			wanted = append(wanted, digestOf(text))
		}
		return isFor(r, after) && !slices.ContainsFunc(digestsOf(moved), func(digest string) bool { return !slices.Contains(wanted, digest) })
	}
	if !slices.ContainsFunc(all, requests) {
		s.t.Errorf("%s got %v, and users requested %v", target, moved, all)
	}
}

// checkRecord checks what a commit of the state branch changes in the record of a target.
func checkRecord(s *story, target string, before, now state.Record) {
	s.t.Helper()
	checkRequestEnd(s, target, before, now)
	for _, rejection := range now.Rejections {
		same := func(known state.Rejection) bool {
			return known.Number == rejection.Number && maps.Equal(known.Images, rejection.Images)
		}
		if rejection.Number == 0 || !rejection.By.Bot || slices.ContainsFunc(before.Rejections, same) {
			continue
		}
		often := func(text string) bool { return s.botCloses[target+" "+digestOf(text)] > 1 }
		for _, text := range rejection.Images {
			if !rejection.Blocked || !often(text) {
				s.t.Errorf("a close by a bot decides about %s: %+v", target, rejection)
			}
		}
	}
}

// checkRequestEnd checks that a request is there until the target got its versions, or until it ends with the reason.
func checkRequestEnd(s *story, target string, before, now state.Record) {
	s.t.Helper()
	own, ended := before.Request, now.EndedRequest
	if ended != nil && ended.Why == "" {
		s.t.Errorf("a request for %s ended without a reason: %+v", target, ended)
	}
	if own == nil || len(own.For) == 0 || now.Request != nil || now.Rollback != nil || s.dropping || s.interleaved {
		return
	}
	if ended != nil && ended.By.Same(own.By) && ended.At.Equal(own.At) {
		return
	}
	references := slices.Collect(maps.Keys(s.held[target]))
	for _, commit := range line(s.Store, s.head(branchOf(s, target)), "") { // one run may push several
		references = append(references, referencesIn(s, commit.ID, target)...)
	}
	for _, wanted := range own.For {
		had := func(reference string) bool { return digestOf(reference) == digestOf(wanted) }
		if !slices.ContainsFunc(references, had) {
			s.t.Errorf("a request for %s of %v is gone, and the target never had %s", target, own.For, wanted)
		}
	}
}
