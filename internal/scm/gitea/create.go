package gitea

import (
	"context"
	"net/http"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Create opens a pull request. Gitea itself rejects a second one for the same head
// and base. If the response is lost, the pull request is looked up, and the request
// is not repeated.
//
// Labels, assignees and reviewers are separate requests, because one name that Gitea
// rejects would fail the whole request. If one of those fails, the pull request is
// returned along with the error: it is open.
func (p pulls) Create(ctx context.Context, draft scm.Draft) (scm.PullRequest, error) {
	noun := p.repo.noun("pull request from %s", rest.OneLine(draft.Head))
	wanted := sdk.CreatePullRequestOption{Head: draft.Head, Base: draft.Base, Title: cutTitle(draft.Title), Body: cutBody(draft.Body)}
	if draft.AsDraft {
		wanted.Title = cutTitle(draftPrefix + draft.Title)
	}
	pull, resp, err := p.repo.api(ctx).CreatePullRequest(p.repo.owner, p.repo.name, wanted)
	var opened scm.PullRequest
	switch err = p.repo.explain(noun, answered(resp, err)); fault.KindOf(err) {
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
func (p pulls) lost(ctx context.Context, wanted sdk.CreatePullRequestOption, cause error) (scm.PullRequest, error) {
	found, err := pages(1, p.list(ctx, sdk.StateOpen, ""), func(pull *sdk.PullRequest) (scm.PullRequest, bool) {
		translated := p.translate(pull)
		ours := translated.Head.Own && translated.Head.Branch == wanted.Head &&
			translated.Base == wanted.Base && p.repo.info.Self.Same(translated.Author)
		return translated, ours && pull.Title == wanted.Title && rest.SameText(translated.Body, wanted.Body)
	})
	if err != nil || len(found) == 0 {
		return scm.PullRequest{}, cause
	}
	return found[0], nil
}

// decorate sets the fields that could make Gitea reject the first request.
func (p pulls) decorate(ctx context.Context, pull *scm.PullRequest, draft scm.Draft) error {
	if len(draft.Labels) > 0 {
		labels, err := p.label(ctx, pull.Number, draft.Labels)
		if err != nil {
			return err
		}
		pull.Labels = labels
	}
	if err := p.assign(ctx, pull.Number, draft.Assignees); err != nil {
		return err
	}
	return p.review(ctx, pull.Number, draft.Reviewers)
}

// assign sets assignees. Gitea returns a 5xx error if one of them may not be
// assigned, so the allowed ones are fetched first.
func (p pulls) assign(ctx context.Context, number int, names []string) error {
	if len(names) == 0 {
		return nil
	}
	noun := p.repo.noun("assignees of pull request %d", number)
	may, resp, err := p.repo.api(ctx).GetAssignees(p.repo.owner, p.repo.name)
	if err != nil {
		return explain(noun, answered(resp, err))
	}
	var kept []string
	for _, user := range may {
		for _, name := range names {
			if user != nil && identity.SameLogin(user.UserName, name) {
				kept = append(kept, user.UserName)
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	_, resp, err = p.repo.api(ctx).EditPullRequest(p.repo.owner, p.repo.name, int64(number), sdk.EditPullRequestOption{Assignees: kept})
	return explain(noun, answered(resp, err))
}

// review requests reviews. Gitea rejects all names because of one.
func (p pulls) review(ctx context.Context, number int, names []string) error {
	err := rest.ForAll(rest.Reviewers(names, p.repo.owner, p.repo.info.Self.Login), func(names []string) error {
		var wanted sdk.PullReviewRequestOptions
		wanted.Reviewers, wanted.TeamReviewers = rest.PeopleAndTeams(names)
		resp, err := p.repo.api(ctx).CreateReviewRequests(p.repo.owner, p.repo.name, int64(number), wanted)
		return answered(resp, err)
	}, refusesName)
	return explain(p.repo.noun("reviewers of pull request %d", number), err)
}

// refusesName reports whether Gitea does not know a user, or not as a reader.
func refusesName(err error) bool {
	status := statusOf(err)
	return status == http.StatusUnprocessableEntity || status == http.StatusNotFound
}

// labelColor is the color of labels that promoter creates.
const labelColor = "#ededed"

// label adds labels and returns all labels of the pull request. Gitea identifies
// labels by ID: those of the repository, then of its organization. A missing label is
// created, or omitted if the account may not create labels.
func (p pulls) label(ctx context.Context, number int, names []string) ([]string, error) {
	noun := p.repo.noun("labels of pull request %d", number)
	var ids []int64
	for _, name := range names {
		id, err := p.labelID(ctx, rest.CutRunes(name, maxLabel))
		if err != nil {
			return nil, explain(noun, err)
		}
		if id != 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	set, resp, err := p.repo.api(ctx).AddIssueLabels(p.repo.owner, p.repo.name, int64(number), sdk.IssueLabelsOption{Labels: ids})
	if err != nil {
		return nil, explain(noun, answered(resp, err))
	}
	var existing []string
	for _, label := range set {
		existing = append(existing, label.Name)
	}
	return existing, nil
}

// labelID returns zero for a label that does not exist and may not be created. All labels are
// fetched once per reconciliation.
func (p pulls) labelID(ctx context.Context, name string) (int64, error) {
	return p.repo.labelIDs.Get(name, func() (int64, error) {
		known, err := p.repo.labels.Get(func() (map[string]int64, error) { return p.listLabels(ctx) })
		if err != nil || known[name] != 0 {
			return known[name], err
		}
		made, resp, err := p.repo.api(ctx).CreateLabel(p.repo.owner, p.repo.name, sdk.CreateLabelOption{Name: name, Color: labelColor})
		switch err = explain(p.repo.noun("label %s", rest.OneLine(name)), answered(resp, err)); fault.KindOf(err) {
		case "":
			return made.ID, nil
		case fault.Unauthorized:
			return 0, nil
		}
		return 0, err
	})
}

func (p pulls) listLabels(ctx context.Context) (map[string]int64, error) {
	known := map[string]int64{}
	of := func(read func(sdk.ListOptions) ([]*sdk.Label, *sdk.Response, error)) error {
		found, err := pages(0, read, all[*sdk.Label])
		for _, label := range found {
			known[label.Name] = label.ID
		}
		return err
	}
	err := of(func(page sdk.ListOptions) ([]*sdk.Label, *sdk.Response, error) {
		return p.repo.api(ctx).ListOrgLabels(p.repo.owner, sdk.ListOrgLabelsOptions{ListOptions: page})
	})
	switch fault.KindOf(explain("labels", err)) {
	case "", fault.NotFound, fault.Unauthorized: // the owner is a user, or the token cannot read the organization
	default:
		return nil, err
	}
	err = of(func(page sdk.ListOptions) ([]*sdk.Label, *sdk.Response, error) {
		return p.repo.api(ctx).ListRepoLabels(p.repo.owner, p.repo.name, sdk.ListLabelsOptions{ListOptions: page})
	})
	return known, err
}
