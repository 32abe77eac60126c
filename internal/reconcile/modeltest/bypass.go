package modeltest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/comments"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm/scmtest"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// bypasses permits Ann to bypass everything.
type bypasses struct{}

// MayBypass implements comments.Bypasses.
func (bypasses) MayBypass(_ context.Context, user identity.User, _ string, _ promotion.Deployment) (comments.Permission, error) {
	return comments.Permission{Allowed: user.Verified() && user.Login == scmtest.Ann, Reason: "only ann may"}, nil
}

// hotfix requests a version for a target, whatever its parent has, and maybe bypasses what is in
// its way: as Ann, who may, as Bob, who may not, or as a user who only claims to be Ann. The state
// branch may have requests that the command line refuses.
func hotfix(s *story) {
	environment, application := oneOf(s.random, "staging", "prod"), oneOf(s.random, "shop", "cart")
	repository := worker
	if application == "shop" && s.random.IntN(2) == 0 {
		repository = web
	}
	request := state.Request{Act: s.act(), With: []string{reference(repository, fmt.Sprintf("1.%d.0", s.random.IntN(s.released[repository]+1)))}}
	for _, condition := range verb.Bypassable() {
		if s.random.IntN(2) == 0 {
			request.Bypass = append(request.Bypass, condition)
		}
	}
	switch s.random.IntN(6) {
	case 0:
		request.By.Login = scmtest.Bob
	case 1:
		request.By = identity.Unverified(scmtest.Ann)
	case 2:
		request.Reason = ""
	}
	target := s.targetOf(environment + "/" + application)
	changes := []state.Change{state.AddRequest(target, request)}
	if slices.Contains(request.Bypass, verb.BypassFreeze) && s.random.IntN(2) == 0 {
		s.log("which is frozen:")
		changes = append(changes, state.Freeze(target.Environment, s.act(), nil))
	}
	s.record(fmt.Sprintf("%s requests %v for %s, past %v, because %q", request.By.Login, request.With, target, request.Bypass, request.Reason), changes...)
}

// mayBypass reports whether a user who may bypass a condition of a target requested it.
func mayBypass(s *story, target, condition string) bool {
	if !s.sealed {
		return false // any user could have written the request
	}
	permits := func(request state.Request) bool {
		return request.By.Verified() && request.By.Login == scmtest.Ann && request.Reason != "" && slices.Contains(request.Bypass, condition)
	}
	record := s.stored.At(s.targetOf(target))
	if record.Request != nil && permits(*record.Request) || record.Rollback != nil && permits(record.Rollback.Bypassing()) {
		return true
	}
	return s.bypassing[target] // in a comment
}

// bypassed reports whether a landed commit has a trailer that a condition of a target was
// bypassed. Where the forge dropped the trailers, a request of a user who may is enough.
func bypassed(s *story, commit repo.Commit, target, condition string) bool {
	if s.Bare != nil && len(promotion.ReadTrailers(commit.Trailers)) == 0 {
		return mayBypass(s, target, condition)
	}
	return slices.ContainsFunc(bypassedIn(s, commit, target), func(name string) bool { return bypassKey(name) == condition })
}

// bypassedIn returns the conditions and gates that the trailers of a commit name as bypassed.
func bypassedIn(s *story, commit repo.Commit, target string) []string {
	for _, landed := range promotion.ReadTrailers(commit.Trailers) {
		if state.Target(landed.Target) == s.targetOf(target) {
			return landed.Attribution.Bypassed
		}
	}
	return nil
}

// bypassKey returns by which word users bypass a condition or gate: "dev soak", "check ci".
func bypassKey(name string) string {
	words := strings.Fields(name)
	for _, key := range verb.Bypassable() {
		if slices.Contains(words, key) || slices.Contains(words, strings.TrimSuffix(key, "s")) {
			return key
		}
	}
	return ""
}

// checkBypassed checks that a landed commit bypasses only what a user with the permission
// requested, for exactly what the target has then.
func checkBypassed(s *story, target string, commit repo.Commit, after []string) {
	s.t.Helper()
	if own := s.stored.At(s.targetOf(target)).Request; own != nil && !s.interleaved && len(bypassedIn(s, commit, target)) > 0 &&
		!isFor(*own, after) && !s.bypassing[target] && s.stored.At(s.targetOf(target)).Rollback == nil {
		s.t.Errorf("%s got %v in %.7s past %v, and the request was for %v", target, after, commit.ID, bypassedIn(s, commit, target), own.For)
	}
	for _, name := range bypassedIn(s, commit, target) {
		if !s.interleaved && !mayBypass(s, target, bypassKey(name)) {
			s.t.Errorf("%s bypassed %q in %.7s, which no user with the permission requested", target, name, commit.ID)
		}
	}
}
