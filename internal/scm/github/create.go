package github

import (
	"context"
	"net/http"
	"slices"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Create opens a pull request. GitHub itself rejects a second one for the same head
// and base. If the response is lost, the pull request is looked up, and the request
// is not repeated.
//
// Labels, assignees and reviewers are separate requests. If one of those fails, the
// pull request is returned along with the error: it is open.
func (p pulls) Create(ctx context.Context, draft scm.Draft) (scm.PullRequest, error) {
	noun := p.repo.noun("pull request from %s", rest.OneLine(draft.Head))
	wanted := &gogithub.NewPullRequest{
		Title: gogithub.String(cutTitle(draft.Title)), Body: gogithub.String(cutBody(draft.Body)),
		Head: &draft.Head, Base: &draft.Base,
	}
	if draft.AsDraft {
		wanted.Draft = gogithub.Bool(true)
	}
	pull, _, err := p.repo.forge.api.PullRequests.Create(ctx, p.repo.owner, p.repo.name, wanted)
	var opened scm.PullRequest
	if refusesHead(err) {
		return opened, fault.New(fault.Temporary, "%w: GitHub does not know the branch yet", explain(noun, err))
	}
	switch err = explain(noun, err); fault.KindOf(err) {
	case "":
		opened = p.translate(pull)
	case fault.Temporary:
		opened, err = p.lost(ctx, wanted, err)
	}
	if err != nil {
		return scm.PullRequest{}, err
	}
	err = p.decorate(ctx, &opened, draft)
	return opened, err
}

// lost looks for a pull request whose creation got no response. A pull request by
// another user, or with another text, existed before.
func (p pulls) lost(ctx context.Context, wanted *gogithub.NewPullRequest, cause error) (scm.PullRequest, error) {
	options := p.from(gogithub.PullRequestListOptions{State: "open", Base: wanted.GetBase()}, wanted.GetHead())
	found, err := p.list(ctx, options, 1, func(pull scm.PullRequest) bool {
		ours := pull.Head.Own && pull.Head.Branch == wanted.GetHead() && p.repo.info.Self.Same(pull.Author)
		return ours && pull.Title == wanted.GetTitle() && rest.SameText(pull.Body, wanted.GetBody())
	})
	if err != nil || len(found) == 0 {
		return scm.PullRequest{}, cause
	}
	return found[0], nil
}

// decorate sets the fields that GitHub does not accept in the first request.
func (p pulls) decorate(ctx context.Context, pull *scm.PullRequest, draft scm.Draft) error {
	labels, err := p.label(ctx, pull.Number, draft.Labels)
	if err != nil {
		return err
	}
	if len(draft.Labels) > 0 {
		pull.Labels = labels
	}
	if err := p.assign(ctx, pull.Number, draft.Assignees); err != nil {
		return err
	}
	return p.review(ctx, pull.Number, draft.Reviewers)
}

// label adds labels, which GitHub creates if they do not exist, and returns all
// labels of the pull request.
func (p pulls) label(ctx context.Context, number int, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	cut := make([]string, len(names))
	for i, name := range names {
		cut[i] = rest.CutRunes(name, maxLabel)
	}
	all, _, err := p.repo.forge.api.Issues.AddLabelsToIssue(ctx, p.repo.owner, p.repo.name, number, cut)
	if err != nil {
		return nil, explain(p.repo.noun("labels of pull request %d", number), err)
	}
	set := make([]string, len(all))
	for i, label := range all {
		set[i] = label.GetName()
	}
	return set, nil
}

// assign sets assignees. GitHub itself omits users who may not be assigned.
func (p pulls) assign(ctx context.Context, number int, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, _, err := p.repo.forge.api.Issues.AddAssignees(ctx, p.repo.owner, p.repo.name, number, names)
	if refusesName(err) {
		return nil
	}
	return explain(p.repo.noun("assignees of pull request %d", number), err)
}

// review requests reviews. GitHub rejects all names because of one.
func (p pulls) review(ctx context.Context, number int, names []string) error {
	err := rest.ForAll(rest.Reviewers(names, p.repo.owner, p.repo.info.Self.Login), func(names []string) error {
		var wanted gogithub.ReviewersRequest
		wanted.Reviewers, wanted.TeamReviewers = rest.PeopleAndTeams(names)
		_, _, err := p.repo.forge.api.PullRequests.RequestReviewers(ctx, p.repo.owner, p.repo.name, number, wanted)
		return err
	}, refusesName)
	return explain(p.repo.noun("reviewers of pull request %d", number), err)
}

// refusesHead reports whether GitHub does not know the head, as in the moments after
// its push: the caller pushed it before.
// https://github.com/gitbutlerapp/gitbutler/issues/4904
func refusesHead(err error) bool {
	answer := refused(err)
	return answer != nil && answer.Response.StatusCode == http.StatusUnprocessableEntity &&
		slices.ContainsFunc(answer.Errors, func(one gogithub.Error) bool { return one.Field == "head" && one.Code == "invalid" })
}

// refusesName reports whether GitHub does not know a user, or not as a collaborator.
func refusesName(err error) bool {
	status := statusOf(err)
	return status == http.StatusUnprocessableEntity || status == http.StatusNotFound
}
