package gitlab

import (
	"context"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// signals holds the checks and reviews of commits.
type signals struct{ *repository }

// Checks lists the statuses of a commit. GitLab keeps the jobs of pipelines and
// external statuses in one list. Jobs of merged results pipelines are not included:
// they run on a commit that GitLab creates.
func (s signals) Checks(ctx context.Context, commit string) ([]scm.Check, error) {
	noun := s.noun("checks of commit %.12s", rest.OneLine(commit))
	if !rest.IsCommit(commit) {
		return nil, fault.New(fault.Invalid, "%s: a commit is named in hex", noun)
	}
	found, err := s.statuses(ctx, commit)
	if err != nil {
		return nil, explain(noun, err)
	}
	var checks []scm.Check
	for _, status := range found {
		checks = append(checks, s.checkOf(status))
	}
	return rest.Worst(checks), nil
}

// checkOf converts a job or a status.
func (s signals) checkOf(status *gogitlab.CommitStatus) scm.Check {
	check := scm.Check{
		Name: status.Name, State: stateOf(status), URL: status.TargetURL, At: timeOf(status.CreatedAt),
		Own: s.isOwn(status), Description: status.Description,
	}
	if status.FinishedAt != nil {
		check.At = timeOf(status.FinishedAt)
	}
	return check
}

// isOwn reports whether we set a status. Jobs of a pipeline that our push triggered
// have our account as their author too; only external statuses have a description.
func (s signals) isOwn(status *gogitlab.CommitStatus) bool {
	return status.Description != "" && s.info.Self.Same(s.forge.person(status.Author.Username))
}

// stateOf converts the status of a job. A job that is allowed to fail has passed if
// it fails, as has a skipped one, and an optional manual one.
// https://docs.gitlab.com/api/jobs/#job-status-values
func stateOf(status *gogitlab.CommitStatus) scm.CheckState {
	switch status.Status {
	case "success", "skipped":
		return scm.CheckPassed
	case "failed", "manual":
		if status.AllowFailure {
			return scm.CheckPassed
		}
		if status.Status == "manual" {
			return scm.CheckPending
		}
		return scm.CheckFailed
	case "canceled", "canceling":
		return scm.CheckFailed
	default: // created, waiting_for_resource, preparing, waiting_for_callback, pending, running, scheduled
		return scm.CheckPending
	}
}

// source is where a job runs: pipelines of the branch and of the merge request have
// the same commit and different refs.
type source struct {
	name, ref string
	own       bool
}

// latest returns the latest result per source; numbers increase. Our own status is
// kept once, whichever pipeline GitLab added it to.
func (s signals) latest(found []*gogitlab.CommitStatus) []*gogitlab.CommitStatus {
	targets := map[source]int{}
	var kept []*gogitlab.CommitStatus
	for _, status := range found {
		from := source{name: status.Name, ref: status.Ref}
		if s.isOwn(status) {
			from = source{name: status.Name, own: true}
		}
		target, ok := targets[from]
		switch {
		case !ok:
			targets[from] = len(kept)
			kept = append(kept, status)
		case status.ID > kept[target].ID:
			kept[target] = status
		}
	}
	return kept
}
