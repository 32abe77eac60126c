package gitlab

import (
	"context"
	"net/http"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// ownStatus is our current status, with GitLab's name of its state.
type ownStatus struct {
	status   scm.Status
	word     string
	pipeline int
}

// unfinishedWord reports whether GitLab would update this status instead of creating
// another one.
func (s ownStatus) unfinishedWord() bool { return s.word == "pending" || s.word == "running" }

// statuses lists the latest result of every job and status, and caches ours.
func (s signals) statuses(ctx context.Context, commit string) ([]*gogitlab.CommitStatus, error) {
	found, err := pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.CommitStatus, *gogitlab.Response, error) {
		return s.repository.forge.api.Commits.GetCommitStatuses(s.repository.id, commit, &gogitlab.GetCommitStatusesOptions{ListOptions: page}, in(ctx))
	})
	if err != nil {
		return nil, err
	}
	found = s.latest(found)
	for _, status := range found {
		if s.isOwn(status) {
			s.remember(commit, status)
		}
	}
	s.repository.statusCache.Read(commit)
	return found, nil
}

func (s signals) remember(commit string, status *gogitlab.CommitStatus) {
	s.repository.statusCache.Remember(commit, status.Name, ownStatus{
		status: scm.Status{Context: status.Name, State: stateOf(status), Description: status.Description, URL: status.TargetURL},
		word:   status.Status, pipeline: status.PipelineId,
	})
}

// SetStatus sets the status, unless it is already set.
func (s signals) SetStatus(ctx context.Context, commit string, status scm.Status) error {
	noun := s.repository.noun("status %s of commit %.12s", rest.OneLine(status.Context), rest.OneLine(commit))
	if !rest.IsCommit(commit) {
		return fault.New(fault.Invalid, "%s: a commit is named in hex", noun)
	}
	status = fitting(status)
	before, err := s.repository.statusCache.Ours(commit, status.Context, func() error {
		_, err := s.statuses(ctx, commit)
		return err
	})
	if err != nil || before.status == status {
		return explain(noun, err)
	}
	for _, word := range steps(before, status.State) {
		if err := s.set(ctx, commit, word, status, before); err != nil {
			return s.settled(ctx, noun, commit, status, explain(noun, err))
		}
		before, _ = s.repository.statusCache.Latest(commit, status.Context)
	}
	return nil
}

// fitting truncates a status to GitLab's limits. It always has a description, which
// distinguishes our status from the jobs of a pipeline that our push triggered.
func fitting(status scm.Status) scm.Status {
	status.Context = rest.CutRunes(status.Context, maxStatus)
	if status.Description == "" {
		status.Description = string(status.State)
	}
	status.Description = rest.Shorten(status.Description, maxStatus, "…")
	if len(status.URL) > maxStatus {
		status.URL = ""
	}
	return status
}

// steps returns the states to set in order to reach a state. GitLab refuses to set a
// pending status to pending again, even to change its description: then it is set to
// running, which is equivalent for a gate, and after that it is restarted.
func steps(before ownStatus, state scm.CheckState) []string {
	switch {
	case state == scm.CheckPassed:
		return []string{"success"}
	case state == scm.CheckFailed:
		return []string{"failed"}
	case before.word == "pending":
		return []string{"running"}
	case before.word == "running":
		return []string{"canceled", "pending"}
	default:
		return []string{"pending"}
	}
}

func (s signals) set(ctx context.Context, commit, word string, status scm.Status, before ownStatus) error {
	options := &gogitlab.SetCommitStatusOptions{
		State: gogitlab.BuildStateValue(word), Name: &status.Context, Description: &status.Description,
	}
	if status.URL != "" {
		options.TargetURL = &status.URL
	}
	if before.unfinishedWord() && before.pipeline != 0 {
		options.PipelineID = &before.pipeline // GitLab would use the newest, and leave this one open forever
	}
	set, _, err := s.repository.forge.api.Commits.SetCommitStatus(s.repository.id, commit, options, in(ctx))
	if err == nil {
		s.remember(commit, set)
	}
	return err
}

// settled checks whether another process of ours set the status in the meantime:
// GitLab rejects it as an invalid transition.
func (s signals) settled(ctx context.Context, noun, commit string, status scm.Status, cause error) error {
	if rest.StatusOf(cause) != http.StatusBadRequest || !strings.Contains(strings.ToLower(cause.Error()), "transition") {
		return s.repository.denied(ctx, cause)
	}
	if _, err := s.statuses(ctx, commit); err != nil {
		return cause
	}
	if now, _ := s.repository.statusCache.Latest(commit, status.Context); now.status.State == status.State {
		return nil
	}
	return fault.New(fault.Conflict, "%s: it was set meanwhile: %w", noun, cause)
}

// signals holds the checks and reviews of commits.
type signals struct{ repository *repository }

// Checks lists the statuses of a commit. GitLab keeps the jobs of pipelines and
// external statuses in one list. Jobs of merged results pipelines are not included:
// they run on a commit that GitLab creates.
func (s signals) Checks(ctx context.Context, commit string) ([]scm.Check, error) {
	noun := s.repository.noun("checks of commit %.12s", rest.OneLine(commit))
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
	return status.Description != "" && s.repository.info.Self.Same(s.repository.forge.person(status.Author.Username))
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
