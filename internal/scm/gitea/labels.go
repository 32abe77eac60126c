package gitea

import (
	"context"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/scm/rest"
)

// labelColor is that of labels which promoter makes.
const labelColor = "#ededed"

// label adds labels and returns all of the pull request. Gitea knows labels by their
// ids: those of the repository, then of its organization. One that is missing is
// made, or left out where the account may make none.
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

// labelID returns zero for a label that is not there and may not be made.
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

// knownLabel returns zero for a label that is not there. All are asked for once for
// a pass.
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
	case "", fault.NotFound, fault.Unauthorized: // the owner is a person, or the token may not see the organization
	default:
		return nil, err
	}
	err = of(func(page sdk.ListOptions) ([]*sdk.Label, *sdk.Response, error) {
		return p.forge.api(ctx).ListRepoLabels(p.owner, p.name, sdk.ListLabelsOptions{ListOptions: page})
	})
	return known, err
}
