package github

import (
	"context"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// pulls are the pull requests of a repository.
type pulls struct{ *repository }

// Open lists the open pull requests, oldest first: one that is opened while the pages
// are read comes last and does not shift the others.
func (p pulls) Open(ctx context.Context) ([]scm.PullRequest, error) {
	options := gogithub.PullRequestListOptions{State: "open", Sort: "created", Direction: "asc"}
	all, err := p.list(ctx, options, rest.Everything, func(scm.PullRequest) bool { return true })
	return all, explain(p.noun("open pull requests"), err)
}

// list reads pages until it has enough matching pull requests. It releases GitHub's
// large responses page by page.
func (p pulls) list(ctx context.Context, options gogithub.PullRequestListOptions, limit int, wanted func(scm.PullRequest) bool) ([]scm.PullRequest, error) {
	return pages(limit, func(page gogithub.ListOptions) ([]scm.PullRequest, *gogithub.Response, error) {
		options.ListOptions = page
		found, resp, err := p.forge.api.PullRequests.List(ctx, p.owner, p.name, &options)
		var kept []scm.PullRequest
		for _, pull := range found {
			if translated := p.translate(pull); wanted(translated) {
				kept = append(kept, translated)
			}
		}
		return kept, resp, err
	})
}

// from restricts a list to one head branch. GitHub interprets it as OWNER:BRANCH,
// which a fork of the same owner can have too.
func (p pulls) from(options gogithub.PullRequestListOptions, head string) gogithub.PullRequestListOptions {
	options.Head = p.owner + ":" + head
	return options
}

func (p pulls) translate(pull *gogithub.PullRequest) scm.PullRequest {
	head := pull.GetHead()
	translated := scm.PullRequest{
		Number: pull.GetNumber(), URL: pull.GetHTMLURL(), Title: pull.GetTitle(),
		Author: p.forge.person(pull.GetUser()),
		Head:   scm.Head{Branch: head.GetRef(), Commit: head.GetSHA(), Own: head.GetRepo().GetID() != 0 && head.GetRepo().GetID() == pull.GetBase().GetRepo().GetID()},
		Base:   pull.GetBase().GetRef(), Draft: pull.GetDraft(), Opened: pull.GetCreatedAt().UTC(), State: scm.StateOpen,
	}
	if translated.Head.Own {
		translated.Body = pull.GetBody()
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
