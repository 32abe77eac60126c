package github

import (
	"context"
	"slices"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// pulls are the pull requests of a repository.
type pulls struct{ repo *repository }

// Open lists the open pull requests, oldest first: one that is opened while the pages
// are read comes last and does not shift the others.
func (p pulls) Open(ctx context.Context) ([]scm.PullRequest, error) {
	options := gogithub.PullRequestListOptions{State: "open", Sort: "created", Direction: "asc"}
	all, err := p.list(ctx, options, rest.Everything, func(scm.PullRequest) bool { return true })
	return all, explain(p.repo.noun("open pull requests"), err)
}

// list reads pages until it has enough matching pull requests. It releases GitHub's
// large responses page by page.
func (p pulls) list(
	ctx context.Context, options gogithub.PullRequestListOptions, limit int, wanted func(scm.PullRequest) bool,
) ([]scm.PullRequest, error) {
	return pages(limit, func(page gogithub.ListOptions) ([]scm.PullRequest, *gogithub.Response, error) {
		options.ListOptions = page
		found, resp, err := p.repo.forge.api.PullRequests.List(ctx, p.repo.owner, p.repo.name, &options)
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
	options.Head = p.repo.owner + ":" + head
	return options
}

func (p pulls) translate(pull *gogithub.PullRequest) scm.PullRequest {
	head := pull.GetHead()
	from := head.GetRepo().GetID()
	translated := scm.PullRequest{
		Number: pull.GetNumber(), URL: pull.GetHTMLURL(), Title: pull.GetTitle(),
		Author: p.repo.forge.person(pull.GetUser()),
		Head:   scm.Head{Branch: head.GetRef(), Commit: head.GetSHA(), Own: from != 0 && from == pull.GetBase().GetRepo().GetID()},
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

// Edit changes the fields that are set. It sends no request if none is set.
func (p pulls) Edit(ctx context.Context, number int, edit scm.Edit) error {
	var change gogithub.PullRequest
	if edit.Title != nil {
		change.Title = gogithub.String(cutTitle(*edit.Title))
	}
	if edit.Body != nil {
		change.Body = gogithub.String(cutBody(*edit.Body))
	}
	if edit.Base != nil {
		change.Base = &gogithub.PullRequestBranch{Ref: edit.Base}
	}
	if edit.Closed != nil {
		change.State = gogithub.String("open")
		if *edit.Closed {
			change.State = gogithub.String("closed")
		}
	}
	if change.Title != nil || change.Body != nil || change.Base != nil || change.State != nil {
		if _, _, err := p.repo.forge.api.PullRequests.Edit(ctx, p.repo.owner, p.repo.name, number, &change); err != nil {
			return explain(p.repo.noun("pull request %d", number), err)
		}
	}
	_, err := p.label(ctx, number, edit.AddLabels)
	return err
}

// Closed lists closed and merged pull requests. For each one it fetches the message
// of its head, and, if it was not merged, the user who closed it.
func (p pulls) Closed(ctx context.Context, head string, limit int) ([]scm.PullRequest, error) {
	noun := p.repo.noun("closed pull requests from %s", rest.OneLine(head))
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	options := p.from(gogithub.PullRequestListOptions{State: "closed", Sort: "created", Direction: "desc"}, head)
	closed, err := p.list(ctx, options, limit, func(pull scm.PullRequest) bool { return pull.Head.Own && pull.Head.Branch == head })
	if err != nil {
		return nil, explain(noun, err)
	}
	for i := range closed {
		if err := p.complete(ctx, &closed[i]); err != nil {
			return nil, explain(noun, err)
		}
	}
	return closed, nil
}

// complete fetches what a list does not include. Neither changes: both responses are
// cached with their ETags.
func (p pulls) complete(ctx context.Context, pull *scm.PullRequest) error {
	commit, _, err := p.repo.forge.api.Git.GetCommit(ctx, p.repo.owner, p.repo.name, pull.Head.Commit)
	if err != nil {
		return err
	}
	pull.Head.Message = commit.GetMessage()
	if pull.State != scm.StateClosed {
		return nil
	}
	pull.Closer, err = p.closer(ctx, pull.Number)
	return err
}

// closer fetches the user who closed a pull request, which only its issue includes. An
// App needs the permission issues for that, and none for the events. If neither can be
// read, the user is empty: our own closes are known without it.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
func (p pulls) closer(ctx context.Context, number int) (identity.User, error) {
	issue, _, err := p.repo.forge.api.Issues.Get(ctx, p.repo.owner, p.repo.name, number)
	if err == nil {
		return p.repo.forge.person(issue.GetClosedBy()), nil
	}
	if !isHidden(err) {
		return identity.User{}, err
	}
	events, err := p.repo.events(ctx, number)
	if err != nil && !isHidden(err) {
		return identity.User{}, err
	}
	for _, event := range slices.Backward(events) {
		if event.GetEvent() == "closed" {
			return p.repo.forge.person(event.GetActor()), nil
		}
	}
	return identity.User{}, nil
}

// isHidden reports whether the credential may not read something.
func isHidden(err error) bool {
	kind := fault.KindOf(explain("", err))
	return kind == fault.NotFound || kind == fault.Unauthorized
}

// events lists the events of a pull request, oldest first.
func (r *repository) events(ctx context.Context, number int) ([]*gogithub.IssueEvent, error) {
	return pages(rest.Everything, func(page gogithub.ListOptions) ([]*gogithub.IssueEvent, *gogithub.Response, error) {
		return r.forge.api.Issues.ListIssueEvents(ctx, r.owner, r.name, number, &page)
	})
}

// HeadDeleted reads the events of the pull request.
// https://docs.github.com/en/rest/using-the-rest-api/issue-event-types#head_ref_deleted
func (r *repository) HeadDeleted(ctx context.Context, number int) (time.Time, error) {
	events, err := r.events(ctx, number)
	if err != nil {
		return time.Time{}, explain(r.noun("events of pull request %d", number), err)
	}
	var deleted time.Time
	for _, event := range events { // oldest first
		switch kind := event.GetEvent(); {
		case kind == "head_ref_deleted" && deleted.IsZero():
			deleted = event.GetCreatedAt().UTC()
		case kind == "reopened":
			deleted = time.Time{}
		}
	}
	return deleted, nil
}
