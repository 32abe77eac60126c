package github

import (
	"context"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// maxSummary is the number of characters of the text of a check run.
// https://docs.github.com/en/rest/checks/runs#create-a-check-run
const maxSummary = 65_535

// SetSummary implements scm.Summaries: a check run that is complete and neutral. Only an App may
// create one, with the permission to write checks.
func (r *repository) SetSummary(ctx context.Context, commit string, summary scm.Summary) error {
	noun := r.noun("check %s of commit %.12s", rest.OneLine(summary.Name), rest.OneLine(commit))
	if !rest.IsCommit(commit) {
		return fault.New(fault.Invalid, "%s: a commit is named in hex", noun)
	}
	if !r.forge.permitted.Grants(Permission{Name: "checks", Access: "write"}) {
		return fault.New(fault.Unauthorized, "%s: only a GitHub App with the permission to write checks may create it", noun)
	}
	existing, _, err := r.forge.api.Checks.ListCheckRunsForRef(ctx, r.owner,
		r.name, commit, &gogithub.ListCheckRunsOptions{CheckName: &summary.Name})
	if err != nil {
		return explain(noun, err)
	}
	text := rest.Shorten(summary.Text, maxSummary, "…")
	for _, run := range existing.CheckRuns { // the same commit has the same summary
		if run.GetOutput().GetSummary() == text {
			return nil
		}
	}
	_, _, err = r.forge.api.Checks.CreateCheckRun(ctx, r.owner, r.name, gogithub.CreateCheckRunOptions{
		Name: summary.Name, HeadSHA: commit, Status: gogithub.String("completed"), Conclusion: gogithub.String("neutral"),
		Output: &gogithub.CheckRunOutput{Title: gogithub.String(summary.Title), Summary: &text},
	})
	return explain(noun, err)
}
