package github

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// statuses lists the latest status of every context, and caches ours. It reads the
// list of all statuses, newest first, because the combined status does not include
// the creators.
func (s signals) statuses(ctx context.Context, commit string) ([]scm.Check, error) {
	found, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]*gogithub.RepoStatus, *gogithub.Response, error) {
		return s.repo.forge.api.Repositories.ListStatuses(ctx, s.repo.owner, s.repo.name, commit, &page)
	})
	if err != nil {
		return nil, err
	}
	found = rest.Best(found, (*gogithub.RepoStatus).GetContext, func(_, _ *gogithub.RepoStatus) bool { return false })
	var checks []scm.Check
	for _, status := range found {
		check := s.statusCheck(status)
		if check.Own {
			s.repo.statusCache.Remember(commit, check.Name, check.Status())
		}
		checks = append(checks, check)
	}
	s.repo.statusCache.Read(commit)
	return checks, nil
}

func (s signals) statusCheck(status *gogithub.RepoStatus) scm.Check {
	check := scm.Check{
		Name: status.GetContext(), State: scm.CheckFailed, Description: status.GetDescription(), URL: status.GetTargetURL(),
		At: status.GetCreatedAt().UTC(), Own: s.repo.info.Self.Same(s.repo.forge.person(status.GetCreator())),
	}
	switch status.GetState() {
	case "success":
		check.State = scm.CheckPassed
	case "pending":
		check.State = scm.CheckPending
	}
	if status.GetCreator().GetType() == "Bot" { // of an app that GitHub does not name here
		check.Sources = map[string]scm.CheckState{"": check.State}
	}
	return check
}

// SetStatus sets the status, unless it is already set: each one is an entry that
// users see, and GitHub accepts 1,000 per commit and context.
func (s signals) SetStatus(ctx context.Context, commit string, status scm.Status) error {
	noun := s.repo.noun("status %s of commit %.12s", rest.OneLine(status.Context), rest.OneLine(commit))
	if !rest.IsCommit(commit) {
		return fault.New(fault.Invalid, "%s: a commit is named in hex", noun)
	}
	status.Description = rest.Shorten(status.Description, maxDescription, "…")
	before, err := s.repo.statusCache.Ours(commit, status.Context, func() error {
		_, err := s.statuses(ctx, commit)
		return err
	})
	if err != nil || before == status {
		return explain(noun, err)
	}
	wanted := &gogithub.RepoStatus{
		State: gogithub.String(wordOf(status.State)), Description: &status.Description, Context: &status.Context,
	}
	if status.URL != "" {
		wanted.TargetURL = &status.URL
	}
	_, _, err = s.repo.forge.api.Repositories.CreateStatus(ctx, s.repo.owner, s.repo.name, commit, wanted)
	if err == nil {
		s.repo.statusCache.Remember(commit, status.Context, status)
	}
	return explain(noun, err)
}

func wordOf(state scm.CheckState) string {
	switch state {
	case scm.CheckPassed:
		return "success"
	case scm.CheckPending:
		return "pending"
	default:
		return "failure"
	}
}

// signals holds the checks and reviews of commits.
type signals struct{ repo *repository }

// Checks lists statuses and check runs, one result per name. If several sources use
// the same name, the worst result counts: GitHub requires all of them too.
func (s signals) Checks(ctx context.Context, commit string) ([]scm.Check, error) {
	noun := s.repo.noun("checks of commit %.12s", rest.OneLine(commit))
	if !rest.IsCommit(commit) {
		return nil, fault.New(fault.Invalid, "%s: a commit is named in hex", noun)
	}
	checks, err := s.statuses(ctx, commit)
	if err != nil {
		return nil, explain(noun, err)
	}
	runs, err := s.runs(ctx, commit)
	if err != nil {
		return rest.Worst(checks), explain(noun, err) // a token may have access to statuses only
	}
	return rest.Worst(append(checks, runs...)), nil
}

// runs lists the latest check run per name and check suite. Two workflows that have a job
// of the same name have a check suite each, so the worst result counts. A canceled run is
// void if the same app started the name again, as in a workflow that cancels itself.
// https://github.com/yonatangross/orchestkit/issues/4177
func (s signals) runs(ctx context.Context, commit string) ([]scm.Check, error) {
	options := gogithub.ListCheckRunsOptions{Filter: gogithub.String("latest")}
	found, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]*gogithub.CheckRun, *gogithub.Response, error) {
		options.ListOptions = page
		list, resp, err := s.repo.forge.api.Checks.ListCheckRunsForRef(ctx, s.repo.owner, s.repo.name, commit, &options)
		if err != nil {
			return nil, resp, err
		}
		return list.CheckRuns, resp, nil
	})
	if err != nil {
		return nil, err
	}
	latest := rest.Best(found, sourceOf, func(a, b *gogithub.CheckRun) bool { return a.GetID() > b.GetID() }) // IDs increase
	var checks []scm.Check
	for _, run := range latest {
		if !isReplaced(run, found) {
			checks = append(checks, checkOf(run))
		}
	}
	return checks, nil
}

func sourceOf(run *gogithub.CheckRun) string {
	return fmt.Sprintf("%d/%d/%s", run.GetApp().GetID(), run.GetCheckSuite().GetID(), run.GetName())
}

// withoutResult returns the conclusions of runs that ended before they had a result, or of which the result is that nothing
// was tested.
func withoutResult() []string { return []string{"cancelled", "stale", "skipped", "neutral"} }

// isReplaced reports whether a run ended without a result, and another one follows.
func isReplaced(run *gogithub.CheckRun, all []*gogithub.CheckRun) bool {
	return slices.Contains([]string{"cancelled", "stale"}, run.GetConclusion()) &&
		slices.ContainsFunc(all, func(one *gogithub.CheckRun) bool {
			return one.GetName() == run.GetName() && one.GetApp().GetID() == run.GetApp().GetID() && one.GetID() > run.GetID()
		})
}

// checkOf converts a check run. Our account sets statuses, never check runs.
func checkOf(run *gogithub.CheckRun) scm.Check {
	check := scm.Check{
		Name: run.GetName(), State: stateOfRun(run), URL: run.GetHTMLURL(), At: run.GetStartedAt().UTC(),
		NoResult: run.GetStatus() == "completed" && slices.Contains(withoutResult(), run.GetConclusion()),
	}
	if run.CompletedAt != nil {
		check.At = run.GetCompletedAt().UTC()
	}
	check.Sources = map[string]scm.CheckState{strconv.FormatInt(run.GetApp().GetID(), 10): check.State}
	return check
}

// stateOfRun converts status and conclusion. Statuses other than completed are
// queued, in_progress, waiting, requested and pending; conclusions not listed here
// are failure, cancelled, timed_out, action_required, stale and startup_failure.
// https://docs.github.com/en/rest/checks/runs#get-a-check-run
func stateOfRun(run *gogithub.CheckRun) scm.CheckState {
	if run.GetStatus() != "completed" {
		return scm.CheckPending
	}
	switch run.GetConclusion() {
	case "success", "neutral", "skipped":
		return scm.CheckPassed
	default:
		return scm.CheckFailed
	}
}
