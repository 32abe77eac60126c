package gitea

import (
	"context"
	"net/http"
	"slices"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Rules returns what the protection of a branch requires. Users with read access see
// a part of it, administrators see all of it.
func (r *repository) Rules(ctx context.Context, branch string) (scm.Rules, error) {
	noun := r.noun("rules of branch %s", rest.OneLine(branch))
	found, resp, err := r.api(ctx).GetRepoBranch(r.owner, r.name, branch)
	if err != nil {
		return scm.Rules{}, explain(noun, answered(resp, err))
	}
	rules := scm.Rules{Linear: r.linear}
	if len(r.methods) == 0 {
		rules.Stuck = "the repository allows no merge method: allow one in its settings, under pull requests"
	}
	if !found.Protected {
		return rules, nil
	}
	rules.PullRequests, rules.Approvals = !found.UserCanPush, int(found.RequiredApprovals)
	if found.EnableStatusCheck {
		r.wantChecks(&rules, found.StatusCheckContexts)
	}
	whole, err := r.protection(ctx, found)
	switch kind := fault.KindOf(explain(noun, err)); {
	case kind == fault.Unauthorized || kind == fault.NotFound || err == nil && whole == nil:
		hide(&rules, "Gitea shows the other rules of the branch only to administrators of the repository")
		return rules, nil
	case err != nil:
		return scm.Rules{}, explain(noun, err)
	}
	rules.Current, rules.Signed = whole.BlockOnOutdatedBranch, whole.RequireSignedCommits
	// Gitea itself requests reviews from the owners of the changed files. With this
	// rule, unanswered requests block the merge.
	rules.Owners = whole.BlockOnOfficialReviewRequests
	return rules, nil
}

// wantChecks adds required checks. Patterns are reported as hidden: only the forge
// knows which statuses they match.
func (r *repository) wantChecks(rules *scm.Rules, contexts []string) {
	for _, context := range contexts {
		if strings.ContainsAny(context, `*?[{\`) {
			hide(rules, "which checks "+rest.OneLine(context)+" stands for")
			continue
		}
		rules.Checks = append(rules.Checks, context)
	}
}

func hide(rules *scm.Rules, words string) {
	if rules.Hidden != "" {
		words = rules.Hidden + "; " + words
	}
	rules.Hidden = words
}

// protection finds the rule in effect for a branch, nil if its name is not reported.
// The list is not paginated.
func (r *repository) protection(ctx context.Context, branch *sdk.Branch) (*sdk.BranchProtection, error) {
	if branch.EffectiveBranchProtectionName == "" {
		return nil, nil //nolint:nilnil // not returned is no error
	}
	found, resp, err := r.api(ctx).ListBranchProtections(r.owner, r.name, sdk.ListBranchProtectionsOptions{})
	if err != nil {
		return nil, answered(resp, err)
	}
	i := slices.IndexFunc(found, func(p *sdk.BranchProtection) bool { return p.RuleName == branch.EffectiveBranchProtectionName })
	if i < 0 {
		return nil, &refusedError{status: http.StatusNotFound, words: "the rule of the branch is not in the list of rules"}
	}
	return found[i], nil
}
