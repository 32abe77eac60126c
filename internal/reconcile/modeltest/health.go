package modeltest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"promoter/internal/health"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
	"promoter/internal/state"
)

// The health of the environments, as configs have it.
const (
	healthOfDev     = `health: {argocd: ["{application}-dev", "{application}-dev-eu"], from: argo, timeout: 15m`
	healthOfStaging = `health: {api: true, from: pipeline, timeout: 30m`
	healthByCheck   = `health: {check: "rollout/{application}", timeout: 30m`
	healthOfProd    = `health: {argocd: ["{application}-prod"], from: argo, timeout: 15m`
)

// reportHealth reports the health of what a target has, or had, or may get: by the source that
// the config names, by another one, or what a source reported before.
func reportHealth(s *story) {
	if n := len(s.delivered); n > 0 && s.random.IntN(8) == 0 {
		again := s.delivered[s.random.IntN(n)]
		s.log("again: %s is %s", again.Subject, again.Status)
		s.evidence.Report(again)
		return
	}
	target := anyTarget(s)
	commit := reportedCommit(s, target)
	status := oneOf(s.random, health.Healthy, health.Healthy, health.Healthy, health.Healthy, health.Degraded, health.Degraded,
		health.Progressing, health.Missing, health.Suspended, health.Unknown)
	forged := s.random.IntN(5) == 0
	if strings.HasPrefix(target, "staging/") && s.byCheck {
		reportRollout(s, target, commit, status, forged)
		return
	}
	report := health.Report{
		Status: status, Sync: oneOf(s.random, health.Synced, health.Synced, health.Synced, "", health.OutOfSync, health.SyncUnknown), Message: "because",
		At: s.Clock.Now().Add(oneOf(s.random, 0, 0, -2*time.Hour, time.Hour)),
	}
	report.Source, report.Receiver, report.Subject = sourceOf(s, target)
	if report.Revisions = []string{commit}; s.random.IntN(4) == 0 && commit != missingCommit {
		report.Revisions, report.Digests = nil, digestsOf(referencesIn(s, commit, target))
	}
	if forged {
		switch s.random.IntN(3) {
		case 0:
			report.Receiver = "other"
		case 1:
			report.Source = health.Flux
		default:
			report.Subject = "other-" + report.Subject
		}
	}
	s.log("%s %s reports by %s: %s is %s, %s, at %.7s %v", report.Source, target, report.Receiver, report.Subject, report.Status, report.Sync, commit, report.Digests)
	s.evidence.Report(report)
	s.delivered = append(s.delivered, report)
	if !forged && status == health.Healthy && (report.Sync == health.Synced || report.Sync == "") {
		s.healthy[target] = append(s.healthy[target], report)
	}
}

// sourceOf returns what reports about a target, as the configs name it.
func sourceOf(s *story, target string) (source, receiver, subject string) {
	environment, application, _ := strings.Cut(target, "/")
	if environment == "staging" {
		at := s.targetOf(target)
		return health.API, "pipeline", at.Environment + "/" + at.Application
	}
	subject = application + "-" + environment
	if environment == "dev" && s.random.IntN(4) == 0 {
		subject += "-eu"
	}
	return health.ArgoCD, "argo", subject
}

// reportRollout reports the health of a target as a commit status.
func reportRollout(s *story, target, commit string, status health.Status, forged bool) {
	if s.People.Status == nil || s.Store.Commit(commit).ID == "" {
		s.skip()
		return
	}
	result := scm.CheckPending
	switch status {
	case health.Healthy:
		result = scm.CheckPassed
	case health.Degraded, health.Missing:
		result = scm.CheckFailed
	}
	name := "rollout/" + s.targetOf(target).Application
	if forged {
		name = oneOf(s.random, "rollout/other", health.Context(s.nameOf("staging"), s.targetOf(target).Application))
	}
	s.log("%s of %.7s: %s", name, commit, result)
	s.People.Status(s.t, scmtest.Robot, commit, name, result)
	if !forged && status == health.Healthy {
		s.healthy[target] = append(s.healthy[target], health.Report{Revisions: []string{commit}})
	}
}

// missingCommit is of no commit.
const missingCommit = "0000000000000000000000000000000000000000"

// reportedCommit returns the head of the branch of a target, most often, or an older commit, one
// that did not land, or none.
func reportedCommit(s *story, target string) string {
	branch := branchOf(s, target)
	switch s.random.IntN(8) {
	case 0:
		commits := line(s.Store, s.head(branch), "")
		return commits[s.random.IntN(min(len(commits), 10))].ID
	case 1:
		if head := s.head(headOf(s, target)); head != "" {
			return head
		}
		return missingCommit
	}
	return s.head(branch)
}

// runBlind reconciles without a database: only what the forge has is known.
func runBlind(s *story) {
	s.log("run without a database")
	s.blind = true
	s.reconcile()
	s.blind = false
}

// loseDatabase loses what was stored about health. The reports arrive again.
func loseDatabase(s *story) {
	s.log("the database is lost")
	s.evidence.Forget()
}

// wasHealthy reports whether a source reported at some time that references are healthy in a
// target together.
func wasHealthy(s *story, target string, references []string) bool {
	landed := map[string]bool{}
	for _, commit := range line(s.Store, s.head(branchOf(s, target)), "") {
		landed[commit.ID] = true
	}
	wanted := digestsOf(references)
	isIn := func(digests []string) bool {
		return !slices.ContainsFunc(wanted, func(digest string) bool { return !slices.Contains(digests, digest) })
	}
	return slices.ContainsFunc(s.healthy[target], func(r health.Report) bool {
		if len(r.Digests) > 0 {
			return isIn(r.Digests)
		}
		return landed[r.Revisions[0]] && isIn(digestsOf(referencesIn(s, r.Revisions[0], target)))
	})
}

// failure is a failure that was recorded for a target.
type failure struct {
	state.Failure
	returned bool // promoter returned to the versions of before
}

// readFailures reads what was recorded as failed since the last check, and checks that promoter
// never decides to return to what failed or was rejected.
func readFailures(s *story) {
	s.t.Helper()
	head := s.head(stateBranch)
	for _, commit := range slices.Backward(line(s.Store, head, s.stateHead)) {
		now, before := s.stateAt(commit.ID), s.stateAt(parentOf(s, commit.ID))
		for _, target := range targets() {
			record := before.At(s.targetOf(target))
			checkRecord(s, target, record, now.At(s.targetOf(target)))
			for _, f := range now.At(s.targetOf(target)).Failures {
				known := func(k *failure) bool { return k.Snapshot == f.Snapshot && k.At.Equal(f.At) }
				if slices.ContainsFunc(s.failures[target], known) {
					continue
				}
				s.log("  %s failed: %s, back to %v", target, f.Snapshot, f.Back)
				s.failures[target] = append(s.failures[target], &failure{Failure: f})
				if len(f.Back) == 0 {
					continue
				}
				back := snapshotOf(s, f.Back["web"], f.Back["worker"])
				if slices.ContainsFunc(record.Failures, func(k state.Failure) bool { return k.Snapshot == back.ID() }) {
					s.t.Errorf("promoter returns %s to %s, which failed there", target, back)
				}
				for _, pinned := range back {
					if _, rejected := before.Rejected(s.targetOf(target), pinned.Repository, pinned.Version); rejected {
						s.t.Errorf("promoter returns %s to %s, which is rejected there", target, pinned)
					}
				}
			}
		}
	}
	s.stateHead = head
}

// returns reports whether references are those to which promoter returns a target by itself, for
// the first time after one failure.
func returns(s *story, target string, moved []string) bool {
	i := slices.IndexFunc(s.failures[target], func(f *failure) bool {
		return len(f.Back) > 0 && !f.returned && !slices.ContainsFunc(moved, func(reference string) bool {
			return f.Back["web"] != reference && f.Back["worker"] != reference
		})
	})
	if i >= 0 {
		s.failures[target][i].returned = true
	}
	return i >= 0
}

// failedIn reports whether references are recorded as failed in a target together.
func failedIn(s *story, target string, references []string) bool {
	_, failed := s.stored.FailureOf(s.targetOf(target), snapshotOf(s, references...).ID())
	return failed
}

// oneOf returns a random one.
func oneOf[T any](random *rand.Rand, all ...T) T { return all[random.IntN(len(all))] }
