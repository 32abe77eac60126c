package github

import (
	"context"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm"
)

// pulls are the pull requests of a repository.
type pulls struct{ *repository }

// Open lists the open ones, the oldest first: what is opened while the pages are
// read comes last and moves nothing.
func (p pulls) Open(ctx context.Context) ([]scm.PullRequest, error) {
	found, err := p.list(ctx, gogithub.PullRequestListOptions{State: "open", Sort: "created", Direction: "asc"}, 0)
	if err != nil {
		return nil, explain(p.noun("open pull requests"), err)
	}
	all := make([]scm.PullRequest, len(found))
	for i, pull := range found {
		all[i] = p.translate(pull)
	}
	return all, nil
}

func (p pulls) list(ctx context.Context, options gogithub.PullRequestListOptions, limit int) ([]*gogithub.PullRequest, error) {
	return pages(limit, func(page gogithub.ListOptions) ([]*gogithub.PullRequest, *gogithub.Response, error) {
		options.ListOptions = page
		return p.forge.api.PullRequests.List(ctx, p.owner, p.name, &options)
	})
}

func (p pulls) translate(pull *gogithub.PullRequest) scm.PullRequest {
	head := pull.GetHead()
	translated := scm.PullRequest{
		Number: pull.GetNumber(), URL: pull.GetHTMLURL(), Title: pull.GetTitle(), Body: pull.GetBody(),
		Author: p.forge.person(pull.GetUser()),
		Head:   scm.Head{Branch: head.GetRef(), Commit: head.GetSHA(), Own: head.GetRepo().GetID() != 0 && head.GetRepo().GetID() == pull.GetBase().GetRepo().GetID()},
		Base:   pull.GetBase().GetRef(), Draft: pull.GetDraft(), Opened: pull.GetCreatedAt().UTC(), State: scm.StateOpen,
	}
	for _, label := range pull.Labels {
		translated.Labels = append(translated.Labels, label.GetName())
	}
	switch {
	case pull.MergedAt != nil:
		translated.State, translated.ClosedAt = scm.StateMerged, pull.GetMergedAt().UTC()
		translated.Merged = mergedOf(pull)
	case pull.GetState() == "closed":
		translated.State, translated.ClosedAt = scm.StateClosed, pull.GetClosedAt().UTC()
	}
	return translated
}

func mergedOf(pull *gogithub.PullRequest) scm.Merged {
	return scm.Merged{Commit: strings.ToLower(pull.GetMergeCommitSHA()), At: pull.GetMergedAt().UTC()}
}
