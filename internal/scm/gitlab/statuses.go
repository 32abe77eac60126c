package gitlab

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// ownStatus is our current status, with GitLab's name of its state.
type ownStatus struct {
	status scm.Status
	word   string
}

// statusPipeline is a pipeline into which our status of a commit is written: one that has other jobs.
// A status without a pipeline creates one, which GitLab accepts where pipelines must
// succeed, also if the project's own pipeline could not start.
// https://docs.gitlab.com/ci/ci_cd_for_external_repos/external_commit_statuses
type statusPipeline struct {
	id  int    // zero: there is none
	sha string // the commit; a merged results pipeline runs on another one
}

// statuses lists the latest result of every job and status, and caches ours. Ours counts
// only in the pipeline that GitLab evaluates: one in an earlier pipeline blocks no merge.
func (s signals) statuses(ctx context.Context, commit string) ([]*gogitlab.CommitStatus, error) {
	found, err := s.list(ctx, commit)
	if err != nil {
		return nil, err
	}
	head, asked, err := s.headPipeline(ctx, commit)
	if err != nil {
		return nil, err
	}
	if head != nil && !strings.EqualFold(head.SHA, commit) {
		merged, err := s.list(ctx, head.SHA)
		if err != nil {
			return nil, err
		}
		for _, status := range merged {
			if status.PipelineId == 0 || status.PipelineId == head.ID {
				found = append(found, status)
			}
		}
	}
	into := s.pipelineFor(found, head, asked, commit)
	s.repo.mu.Lock()
	s.repo.pipelines[commit] = into
	s.repo.mu.Unlock()
	found = s.latest(found, into)
	for _, status := range found {
		if s.isOwn(status) {
			s.remember(commit, status)
		}
	}
	s.repo.statusCache.Read(commit)
	return found, nil
}

// list lists all jobs and statuses of a commit, without those that were replaced.
func (s signals) list(ctx context.Context, commit string) ([]*gogitlab.CommitStatus, error) {
	return pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.CommitStatus, *gogitlab.Response, error) {
		return s.repo.forge.api.Commits.GetCommitStatuses(s.repo.id, commit, &gogitlab.GetCommitStatusesOptions{ListOptions: page}, in(ctx))
	})
}

// headPipeline returns the pipeline that GitLab evaluates for the merge request of a
// commit, nil if there is none yet. Asked reports whether the commit is the head of a
// known merge request. A merged results pipeline runs on a commit that GitLab makes from
// the head and the target branch; GitLab may still report one of an earlier head.
// https://docs.gitlab.com/ci/pipelines/merged_results_pipelines/
func (s signals) headPipeline(ctx context.Context, commit string) (head *gogitlab.Pipeline, asked bool, err error) {
	s.repo.mu.Lock()
	number, asked := s.repo.requests[strings.ToLower(commit)]
	s.repo.mu.Unlock()
	if !asked {
		return nil, false, nil
	}
	mr, _, err := s.repo.forge.api.MergeRequests.GetMergeRequest(s.repo.id, number, nil, in(ctx))
	if err != nil {
		return nil, false, err
	}
	head = mr.HeadPipeline
	switch {
	case head == nil || head.ProjectID != s.repo.id: // of a fork
		return nil, true, nil
	case strings.EqualFold(head.SHA, commit):
		return head, true, nil
	}
	merged, _, err := s.repo.forge.api.Commits.GetCommit(s.repo.id, head.SHA, nil, in(ctx))
	if wasNotFound(err) ||
		err == nil && !slices.ContainsFunc(merged.ParentIDs, func(id string) bool { return strings.EqualFold(id, commit) }) {
		return nil, true, nil
	}
	return head, true, err
}

// pipelineFor returns the pipeline for our status: the one that GitLab evaluates for the merge
// request, or the newest of a commit that is the head of none, if it has other jobs.
func (s signals) pipelineFor(found []*gogitlab.CommitStatus, head *gogitlab.Pipeline, asked bool, commit string) statusPipeline {
	into := statusPipeline{sha: commit}
	for _, status := range found {
		switch {
		case s.isOwn(status):
		case head != nil && (status.PipelineId == head.ID || status.PipelineId == 0):
			return statusPipeline{id: head.ID, sha: head.SHA}
		case !asked:
			into.id = max(into.id, status.PipelineId)
		}
	}
	return into
}

func (s signals) remember(commit string, status *gogitlab.CommitStatus) {
	s.repo.statusCache.Remember(commit, status.Name, ownStatus{
		status: scm.Status{Context: status.Name, State: stateOf(status), Description: status.Description, URL: status.TargetURL},
		word:   status.Status,
	})
}

// SetStatus sets the status, unless it is already set, or there is no pipeline with other
// jobs yet.
func (s signals) SetStatus(ctx context.Context, commit string, status scm.Status) error {
	noun := s.repo.noun("status %s of commit %.12s", rest.OneLine(status.Context), rest.OneLine(commit))
	if !rest.IsCommit(commit) {
		return fault.New(fault.Invalid, "%s: a commit is named in hex", noun)
	}
	status = fitting(status)
	before, err := s.repo.statusCache.Ours(commit, status.Context, func() error {
		_, err := s.statuses(ctx, commit)
		return err
	})
	if err != nil || before.status == status {
		return explain(noun, err)
	}
	s.repo.mu.Lock()
	into := s.repo.pipelines[commit]
	s.repo.mu.Unlock()
	if into.id == 0 {
		return fault.New(fault.NotFound, "%s: %w", noun, scm.ErrStatusNotStored)
	}
	for _, word := range steps(before, status.State) {
		if err := s.set(ctx, commit, into, word, status); err != nil {
			return s.settled(ctx, noun, commit, status, explain(noun, err))
		}
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

func (s signals) set(ctx context.Context, commit string, into statusPipeline, word string, status scm.Status) error {
	options := &gogitlab.SetCommitStatusOptions{
		State: gogitlab.BuildStateValue(word), Name: &status.Context, Description: &status.Description, PipelineID: &into.id,
	}
	if status.URL != "" {
		options.TargetURL = &status.URL
	}
	set, _, err := s.repo.forge.api.Commits.SetCommitStatus(s.repo.id, into.sha, options, in(ctx))
	if err == nil {
		s.remember(commit, set)
	}
	return err
}

// settled checks whether another process of ours set the status in the meantime:
// GitLab rejects it as an invalid transition.
func (s signals) settled(ctx context.Context, noun, commit string, status scm.Status, cause error) error {
	if rest.StatusOf(cause) != http.StatusBadRequest || !strings.Contains(strings.ToLower(cause.Error()), "transition") {
		return s.protectedHead(s.repo.denied(ctx, cause), cause)
	}
	if _, err := s.statuses(ctx, commit); err != nil {
		return cause
	}
	if now, _ := s.repo.statusCache.Latest(commit, status.Context); now.status.State == status.State {
		return nil
	}
	return fault.New(fault.Conflict, "%s: it was set meanwhile: %w", noun, cause)
}

// protectedHead recognizes the refusal to change the pipeline of a protected branch, for
// which an account needs the right to push or merge there. Its words are only "Forbidden".
// https://docs.gitlab.com/ci/pipelines/#pipeline-security-on-protected-branches
func (s signals) protectedHead(err, cause error) error {
	if rest.StatusOf(cause) != http.StatusForbidden || err.Error() != cause.Error() || strings.Contains(err.Error(), "lacks the scope") {
		return err
	}
	return fault.New(fault.Unauthorized, "%w: %w", err, scm.ErrProtectedHead)
}

// signals holds the checks and reviews of commits.
type signals struct{ repo *repository }

// Checks lists the statuses of a commit. GitLab keeps the jobs of pipelines and
// external statuses in one list.
func (s signals) Checks(ctx context.Context, commit string) ([]scm.Check, error) {
	noun := s.repo.noun("checks of commit %.12s", rest.OneLine(commit))
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
	return scm.Check{
		Name: status.Name, State: stateOf(status), URL: status.TargetURL, At: rest.TimeOf(cmp.Or(status.FinishedAt, status.CreatedAt)),
		Own: s.isOwn(status), Description: status.Description,
		NoResult: endedWithoutResult(status),
	}
}

// endedWithoutResult reports whether a job was canceled or skipped, or is an optional one that only users start.
func endedWithoutResult(status *gogitlab.CommitStatus) bool {
	words := []string{"canceled", "canceling", "skipped", "manual"}
	return slices.Contains(words, status.Status) && stateOf(status) != scm.CheckPending
}

// isOwn reports whether we set a status. Jobs of a pipeline that our push triggered
// have our account as their author too; only external statuses have a description.
func (s signals) isOwn(status *gogitlab.CommitStatus) bool {
	return status.Description != "" && s.repo.info.Self.Same(s.repo.forge.person(status.Author.Username))
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

// latest returns the latest result per source; numbers increase. Of our own statuses, only
// the one in the pipeline for them is kept.
func (s signals) latest(found []*gogitlab.CommitStatus, into statusPipeline) []*gogitlab.CommitStatus {
	found = slices.DeleteFunc(found, func(status *gogitlab.CommitStatus) bool {
		return s.isOwn(status) && status.PipelineId != 0 && status.PipelineId != into.id
	})
	from := func(status *gogitlab.CommitStatus) source {
		if s.isOwn(status) {
			return source{name: status.Name, own: true}
		}
		return source{name: status.Name, ref: status.Ref}
	}
	return rest.Best(found, from, func(a, b *gogitlab.CommitStatus) bool { return a.ID > b.ID })
}
