package gitlab

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Merge merges with the merge method of the project. If GitLab refuses, or its
// response is lost, the merge request is read before a result is returned.
//
// In a project with merge trains, the API can bypass the train, and merge what the
// train did not test: this is never requested.
func (p pulls) Merge(ctx context.Context, number int, merge scm.Merge) (scm.Merged, error) {
	noun := p.repo.noun("merge of merge request %d", number)
	project, _, err := p.repo.forge.api.Projects.GetProject(p.repo.id, nil, in(ctx))
	if err != nil {
		return scm.Merged{}, explain(noun, err)
	}
	if project.MergeTrainsEnabled {
		return p.look(ctx, noun, number, merge, refuse(noun, &scm.RefusedError{Rule: scm.RuleQueue, Words: trainWords}))
	}
	message := merge.Title + "\n\n" + merge.Message
	options := &gogitlab.AcceptMergeRequestOptions{SHA: &merge.Head}
	if strings.TrimSpace(message) != "" {
		options.MergeCommitMessage, options.SquashCommitMessage = &message, &message
	}
	mr, _, err := p.repo.forge.api.MergeRequests.AcceptMergeRequest(p.repo.id, number, options, in(ctx))
	if err == nil && mr.State == "merged" {
		return p.done(ctx, mr)
	}
	return p.look(ctx, noun, number, merge, explain(noun, err))
}

// done returns the result of a merge. Failing to find the merge commit is not an
// error.
func (p pulls) done(ctx context.Context, mr *gogitlab.MergeRequest) (scm.Merged, error) {
	merged, err := p.landed(ctx, mergedOf(mr), mr.SHA, mr.TargetBranch)
	if err != nil {
		return mergedOf(mr), nil //nolint:nilerr // the commit is found in Git
	}
	return merged, nil
}

const trainWords = "the project requires its merge train, GitLab's merge queue: a user must add the merge request to it"

func refuse(noun string, refused *scm.RefusedError) error {
	return fault.New(fault.Unauthorized, "%s: %w", noun, refused)
}

// look determines the outcome of a merge that was refused or got no response.
func (p pulls) look(ctx context.Context, noun string, number int, merge scm.Merge, cause error) (scm.Merged, error) {
	if fault.KindOf(cause) == fault.RateLimited {
		return scm.Merged{}, cause
	}
	mr, _, err := p.repo.forge.api.MergeRequests.GetMergeRequest(p.repo.id, number, nil, in(ctx))
	if err != nil {
		if cause == nil {
			cause = explain(noun, err)
		}
		return scm.Merged{}, cause
	}
	same := strings.EqualFold(mr.SHA, merge.Head)
	switch {
	case mr.State == "merged" && same:
		return p.done(ctx, mr)
	case !same:
		return scm.Merged{}, fault.New(fault.Conflict, "%s: its head is %.12s now", noun, mr.SHA)
	case mr.State == "closed":
		return scm.Merged{}, fault.New(fault.Conflict, "%s: it was closed meanwhile", noun)
	}
	return scm.Merged{}, p.blocked(ctx, noun, mr, cause)
}

// blocked returns why an open merge request was not merged.
func (p pulls) blocked(ctx context.Context, noun string, mr *gogitlab.MergeRequest, cause error) error {
	switch rest.StatusOf(cause) {
	case http.StatusUnauthorized: // the token was sufficient to read
		return refuse(noun, &scm.RefusedError{Words: "GitLab does not let this account merge into " + rest.OneLine(mr.TargetBranch) +
			": the role Developer is needed, and where the branch is protected, to be allowed to merge"})
	case http.StatusForbidden:
		return p.repo.denied(ctx, cause)
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnprocessableEntity, http.StatusBadRequest:
		return p.verdict(ctx, noun, mr, cause)
	}
	if cause == nil && mr.MergeError != "" { // with status 200
		return refuse(noun, &scm.RefusedError{Words: rest.OneLine(mr.MergeError)})
	}
	if cause == nil {
		return fault.New(fault.Temporary, "%s: GitLab has not finished the merge", noun)
	}
	return cause
}

// Detailed merge statuses of a merge request.
// https://docs.gitlab.com/api/merge_requests/#merge-status
var (
	// passing are still being computed, and resolve by themselves.
	passing = map[string]bool{
		"": true, "unchecked": true, "checking": true, "preparing": true, "approvals_syncing": true, "mergeable": true,
		"cannot_be_merged_recheck": true,
	}
	// outdated may be fixed by a rebuilt head.
	outdated = map[string]string{
		"need_rebase": "the head must hold all of its base",
		"conflict":    "it conflicts with its base",
	}
	// forbidden requires a change by a user, a pipeline or a setting.
	forbidden = map[string]string{
		"ci_must_pass": "a pipeline must succeed", "ci_still_running": "a pipeline must succeed and still runs",
		"discussions_not_resolved": "all threads must be resolved", "draft_status": "it is a draft",
		"external_status_checks": "all external status checks must pass", "status_checks_must_pass": "all external status checks must pass",
		"jira_association_missing": "its title or text must name a Jira issue", "locked_paths": "a path that it touches is locked",
		"locked_lfs_files": "a file that it touches is locked", "merge_request_blocked": "another merge request must land before",
		"merge_time": "it may not be merged before its time", "not_approved": "approvals are missing",
		"policies_denied": "a security policy forbids it", "security_policy_violations": "a security policy forbids it",
		"requested_changes": "a reviewer requested changes", "title_regex": "its title must match the expression in the project's settings",
	}
)

// verdict converts the status of a merge request that GitLab does not merge.
func (p pulls) verdict(ctx context.Context, noun string, mr *gogitlab.MergeRequest, cause error) error {
	state := mr.DetailedMergeStatus
	if passing[state] {
		return fault.New(fault.Temporary, "%w: GitLab is still computing whether it can be merged", cause)
	}
	if why := outdated[state]; why != "" {
		return fault.New(fault.Temporary, "%s: %s (%s): %w", noun, why, state, scm.ErrBehind)
	}
	switch state {
	case "commits_status", "broken_status", "not_open":
		return fault.New(fault.Conflict, "%s: its branch is gone or holds nothing new (%s)", noun, state)
	}
	why := cmp.Or(forbidden[state], "GitLab forbids it")
	if strings.HasPrefix(state, "ci_") {
		why += p.unfinished(ctx, mr.SHA)
	}
	return refuse(noun, &scm.RefusedError{Words: fmt.Sprintf("%s (%s)", why, rest.OneLine(state))})
}

// maxNamed is the maximum number of unsuccessful jobs that are named.
const maxNamed = 5

// unfinished lists what did not succeed on a commit. It is only for messages: a
// failed read is not an error.
func (p pulls) unfinished(ctx context.Context, commit string) string {
	checks, err := signals(p).Checks(ctx, commit)
	if err != nil {
		return ""
	}
	var words []string
	for _, check := range checks {
		if check.State != scm.CheckPassed && len(words) < maxNamed {
			words = append(words, fmt.Sprintf("%s is %s", rest.OneLine(check.Name), check.State))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return ": " + strings.Join(words, ", ")
}

// Conflicts implements scm.Conflicting.
func (r *repository) Conflicts(ctx context.Context, number int) (bool, error) {
	mr, _, err := r.forge.api.MergeRequests.GetMergeRequest(r.id, number, nil, in(ctx))
	if err != nil {
		return false, explain(r.noun("merge request %d", number), err)
	}
	return mr.DetailedMergeStatus == "conflict", nil
}
