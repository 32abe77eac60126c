package gitlab

import (
	"context"
	"fmt"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

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
	why := forbidden[state]
	if why == "" {
		why = "GitLab forbids it"
	}
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
