package gitea

import (
	"context"
	"slices"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// signals holds the checks and reviews of commits.
type signals struct{ repo *repository }

// Checks lists the latest status of every context. Gitea has no other checks: results
// of Actions are statuses too.
func (s signals) Checks(ctx context.Context, commit string) ([]scm.Check, error) {
	noun := s.repo.noun("checks of commit %.12s", rest.OneLine(commit))
	if !rest.IsCommit(commit) {
		return nil, fault.New(fault.Invalid, "%s: a commit is named in hex", noun)
	}
	checks, err := s.statuses(ctx, commit)
	return checks, explain(noun, err)
}

// statuses reads all statuses, and caches ours. The highest ID of a context is the
// latest: times are in seconds.
func (s signals) statuses(ctx context.Context, commit string) ([]scm.Check, error) {
	found, err := pages(0, func(page sdk.ListOptions) ([]*sdk.Status, *sdk.Response, error) {
		return s.repo.forge.client(ctx, s.repo.forge.wishing(byIndex)).ListStatuses(s.repo.owner,
			s.repo.name, commit, sdk.ListStatusesOption{ListOptions: page})
	}, all[*sdk.Status])
	if err != nil {
		return nil, err
	}
	found = rest.Best(found, func(status *sdk.Status) string { return status.Context }, func(a, b *sdk.Status) bool { return a.ID > b.ID })
	var checks []scm.Check
	for _, status := range found {
		check := s.translate(status)
		if check.Own {
			s.repo.statusCache.Remember(commit, check.Name, check.Status())
		}
		checks = append(checks, check)
	}
	s.repo.statusCache.Read(commit)
	return checks, nil
}

// translate counts warnings and skipped statuses as passed, as Gitea itself does for
// the combined status.
func (s signals) translate(status *sdk.Status) scm.Check {
	check := scm.Check{
		Name: status.Context, State: scm.CheckFailed, Description: status.Description, URL: status.TargetURL,
		At: status.Created.UTC(), Own: s.repo.info.Self.Login != "" && s.repo.info.Self.Same(s.repo.forge.person(status.Creator)),
	}
	switch status.State {
	case sdk.StatusSuccess, sdk.StatusWarning:
		check.State = scm.CheckPassed
	case "skipped":
		check.State, check.NoResult = scm.CheckPassed, true
	case sdk.StatusFailure:
		check.NoResult = isCanceled(status.Description)
	case sdk.StatusPending:
		check.State = scm.CheckPending
	}
	return check
}

// isCanceled reports whether the description of a failure is that of a canceled job of Actions: its state is the same as
// that of a failed one. The words differ by release.
// https://github.com/go-gitea/gitea/blob/v1.24.0/services/actions/commit_status.go
func isCanceled(description string) bool {
	words := []string{"Has been cancelled", "Has been canceled", "Canceled after ", "Cancelled after "}
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(description, word) })
}

// SetStatus sets the status, unless it is already set: each one is an entry that
// users see.
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
	_, resp, err := s.repo.api(ctx).CreateStatus(s.repo.owner, s.repo.name, commit, sdk.CreateStatusOption{
		State: wordOf(status.State), TargetURL: status.URL, Description: status.Description, Context: status.Context,
	})
	if err == nil {
		s.repo.statusCache.Remember(commit, status.Context, status)
	}
	return explain(noun, answered(resp, err))
}

func wordOf(state scm.CheckState) sdk.StatusState {
	switch state {
	case scm.CheckPassed:
		return sdk.StatusSuccess
	case scm.CheckPending:
		return sdk.StatusPending
	default:
		return sdk.StatusFailure
	}
}
