package github

import (
	"context"

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
		return s.forge.api.Repositories.ListStatuses(ctx, s.owner, s.name, commit, &page)
	})
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var checks []scm.Check
	for _, status := range found {
		if seen[status.GetContext()] {
			continue
		}
		seen[status.GetContext()] = true
		check := s.statusCheck(status)
		if check.Own {
			s.said.Remember(commit, check.Name, scm.Status{Context: check.Name, State: check.State, Description: check.Description, URL: check.URL})
		}
		checks = append(checks, check)
	}
	s.said.Read(commit)
	return checks, nil
}

func (s signals) statusCheck(status *gogithub.RepoStatus) scm.Check {
	check := scm.Check{
		Name: status.GetContext(), State: scm.CheckFailed, Description: status.GetDescription(), URL: status.GetTargetURL(),
		At: status.GetCreatedAt().UTC(), Own: s.info.Self.Same(s.forge.person(status.GetCreator())),
	}
	switch status.GetState() {
	case "success":
		check.State = scm.CheckPassed
	case "pending":
		check.State = scm.CheckPending
	}
	return check
}

// SetStatus sets the status, unless it is already set: each one is an entry that
// users see, and GitHub accepts 1,000 per commit and context.
func (s signals) SetStatus(ctx context.Context, commit string, status scm.Status) error {
	noun := s.noun("status %s of commit %.12s", rest.OneLine(status.Context), rest.OneLine(commit))
	if !rest.IsCommit(commit) {
		return fault.New(fault.Invalid, "%s: a commit is named in hex", noun)
	}
	status.Description = rest.Shorten(status.Description, maxDescription, "…")
	before, err := s.said.Ours(commit, status.Context, func() error {
		_, err := s.statuses(ctx, commit)
		return err
	})
	if err != nil || before == status {
		return explain(noun, err)
	}
	_, _, err = s.forge.api.Repositories.CreateStatus(ctx, s.owner, s.name, commit, &gogithub.RepoStatus{
		State: gogithub.String(wordOf(status.State)), TargetURL: textOrNil(status.URL),
		Description: gogithub.String(status.Description), Context: gogithub.String(status.Context),
	})
	if err == nil {
		s.said.Remember(commit, status.Context, status)
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

// textOrNil omits an empty text from a request.
func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
