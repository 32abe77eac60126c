package gitea

import (
	"context"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/scm/rest"
)

// labelColor is the color of labels that promoter creates.
const labelColor = "#ededed"

// label adds labels and returns all labels of the pull request. Gitea identifies
// labels by ID: those of the repository, then of its organization. A missing label is
// created, or omitted if the account may not create labels.
func (p pulls) label(ctx context.Context, number int, names []string) ([]string, error) {
	noun := p.noun("labels of pull request %d", number)
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
	set, resp, err := p.forge.api(ctx).AddIssueLabels(p.owner, p.name, int64(number), sdk.IssueLabelsOption{Labels: ids})
	if err != nil {
		return nil, explain(noun, answered(resp, err))
	}
	var told []string
	for _, label := range set {
		told = append(told, label.Name)
	}
	return told, nil
}

// labelID returns zero for a label that does not exist and may not be created.
func (p pulls) labelID(ctx context.Context, name string) (int64, error) {
	id, err := p.knownLabel(ctx, name)
	if err != nil || id != 0 {
		return id, err
	}
	made, resp, err := p.forge.api(ctx).CreateLabel(p.owner, p.name, sdk.CreateLabelOption{Name: name, Color: labelColor})
	switch err = explain(p.noun("label %s", rest.OneLine(name)), answered(resp, err)); fault.KindOf(err) {
	case "":
	case fault.Unauthorized:
		return 0, nil
	default:
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.labels[name] = made.ID
	return made.ID, nil
}

// knownLabel returns zero for a label that does not exist. All labels are fetched
// once per reconciliation.
func (p pulls) knownLabel(ctx context.Context, name string) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.labels == nil {
		var err error
		if p.labels, err = p.listLabels(ctx); err != nil {
			return 0, err
		}
	}
	return p.labels[name], nil
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
		return p.forge.api(ctx).ListOrgLabels(p.owner, sdk.ListOrgLabelsOptions{ListOptions: page})
	})
	switch fault.KindOf(explain("labels", err)) {
	case "", fault.NotFound, fault.Unauthorized: // the owner is a user, or the token cannot read the organization
	default:
		return nil, err
	}
	err = of(func(page sdk.ListOptions) ([]*sdk.Label, *sdk.Response, error) {
		return p.forge.api(ctx).ListRepoLabels(p.owner, p.name, sdk.ListLabelsOptions{ListOptions: page})
	})
	return known, err
}
