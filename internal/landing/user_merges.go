package landing

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"promoter/internal/repo"
	"promoter/internal/scm"
)

// This file finds the pull request of a user that brought the current versions, for the time that the forge reports. The
// message of a merge names its branch, which any user can write: what counts is that the forge merged a pull request of
// that branch in exactly this commit.

// mergeMessages match the first line of a merge as GitHub, GitLab, and Gitea write it, with the branch.
var mergeMessages = []*regexp.Regexp{
	regexp.MustCompile(`^Merge pull request #[0-9]{1,9} from [^/\s]+/(\S+)$`),
	regexp.MustCompile(`^Merge branch '([^'\n]+)' into '`),
	regexp.MustCompile(`^Merge pull request '[^\n]*' \(#[0-9]{1,9}\) from (\S+) into `),
}

// mergedBranch returns the branch that a commit merged by its message; empty: it names none.
func mergedBranch(commit repo.Commit) string {
	line, _, _ := strings.Cut(commit.Message, "\n")
	for _, message := range mergeMessages {
		if match := message.FindStringSubmatch(line); match != nil && len(commit.Parents) == 2 {
			return match[1]
		}
	}
	return ""
}

// mergedByUser fills in when the pull request of a user brought the current versions, where a child soaks and nothing
// else shows it.
func (t targetReader) mergedByUser(ctx context.Context, deployments []deployed, w walked, recorded times) error {
	if t.o.Promotion.PushOnly || len(deployments) == 0 || !w.begins(0) || !t.o.anyChild(t.target, soaks) {
		return nil
	}
	merged, _ := times{}.since(deployments)
	if _, known := recorded.seen[0]; known || !merged[0].IsZero() {
		return nil
	}
	commit, err := t.from.Objects.Commit(w.Periods[0].first())
	if err != nil {
		return repo.IgnoreNotFound(err)
	}
	head := mergedBranch(commit)
	if head == "" {
		return nil
	}
	closed, err := t.from.Repository.PullRequests().Closed(ctx, head, MaxClosed)
	if err != nil {
		return fmt.Errorf("list the merged pull requests of %s: %w", head, err)
	}
	for _, pr := range closed {
		if pr.State == scm.StateMerged && pr.Merged.Commit == commit.ID && pr.Base == t.o.Promotion.BaseOf(t.target) {
			deployments[0].At = pr.Merged.At
		}
	}
	return nil
}
