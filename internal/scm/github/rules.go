package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// asked holds the requirements of a branch, with the merge methods that its rules
// allow; nil: all.
type asked struct {
	scm.Rules
	methods []string
}

// Rules reads the rulesets of a branch, which every user with read access sees, and
// of classic branch protection what the token can read: the required checks, and
// everything for an administrator. The result is cached for the merge.
func (r *repository) Rules(ctx context.Context, branch string) (scm.Rules, error) {
	noun := r.noun("rules of branch %s", rest.OneLine(branch))
	found := asked{}
	if err := r.rulesets(ctx, branch, &found); err != nil {
		return scm.Rules{}, explain(noun, err)
	}
	if err := r.classic(ctx, branch, &found); err != nil {
		return scm.Rules{}, explain(noun, err)
	}
	found.Stuck = found.stuck(branch, r.methods)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[branch] = found
	return found.Rules, nil
}

// methodsInto returns the methods that the repository allows and, as far as they were
// read, the rules of a branch allow.
func (r *repository) methodsInto(branch string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[branch].leaves(r.methods)
}

// leaves returns the methods that satisfy the rules. GitHub signs squash commits, and
// never rebased ones; a merge includes our own commits, which are not signed.
// https://docs.github.com/en/authentication/managing-commit-signature-verification/about-commit-signature-verification
func (a asked) leaves(methods []string) []string {
	return slices.DeleteFunc(slices.Clone(methods), func(method string) bool {
		return a.Signed && method != "squash" || a.Linear && method == "merge" || a.methods != nil && !slices.Contains(a.methods, method)
	})
}

// stuck returns why no method is allowed.
func (a asked) stuck(branch string, methods []string) string {
	switch {
	case len(a.leaves(methods)) > 0:
		return ""
	case len(methods) == 0:
		return "the repository allows no method of merging: allow one in its settings"
	case a.Signed:
		return branch + " wants signed commits, and promoter signs none: allow squash merges, whose commit GitHub signs"
	case a.Linear:
		return branch + " wants a linear history: allow squash or rebase merges"
	default:
		return "the repository and the rules of " + branch + " allow no common method of merging"
	}
}

// classic reads the requirements of classic branch protection.
func (r *repository) classic(ctx context.Context, branch string, found *asked) error {
	var told struct {
		Protection struct {
			Enabled bool `json:"enabled"`
			Checks  struct {
				Level    string   `json:"enforcement_level"`
				Contexts []string `json:"contexts"`
			} `json:"required_status_checks"`
		} `json:"protection"`
	}
	if err := r.get(ctx, "branches/"+url.PathEscape(branch), &told); err != nil {
		return err
	}
	if !told.Protection.Enabled {
		return nil
	}
	if told.Protection.Checks.Level != "off" {
		found.Checks = append(found.Checks, told.Protection.Checks.Contexts...)
	}
	if r.administers {
		protection, _, err := r.forge.api.Repositories.GetBranchProtection(ctx, r.owner, r.name, branch)
		if err == nil {
			found.protect(protection)
			return nil
		}
		if status := statusOf(err); status != http.StatusForbidden && status != http.StatusNotFound {
			return err
		}
	}
	found.Hidden = "all that the branch protection of " + branch + " asks can be read by an administrator only"
	return nil
}

// protect adds all requirements of a classic protection.
func (a *asked) protect(p *gogithub.Protection) {
	if reviews := p.GetRequiredPullRequestReviews(); reviews != nil {
		a.PullRequests = true
		a.Approvals = max(a.Approvals, reviews.RequiredApprovingReviewCount)
		a.Owners = a.Owners || reviews.RequireCodeOwnerReviews
		a.NotByPusher = a.NotByPusher || reviews.RequireLastPushApproval
	}
	a.Current = a.Current || p.GetRequiredStatusChecks() != nil && p.GetRequiredStatusChecks().Strict
	a.Linear = a.Linear || p.GetRequireLinearHistory() != nil && p.GetRequireLinearHistory().Enabled
	a.Signed = a.Signed || p.GetRequiredSignatures().GetEnabled()
}

// get fetches an object of the repository that the library does not support, or not
// well.
func (r *repository) get(ctx context.Context, path string, into any) error {
	request, err := r.forge.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/%s", r.owner, r.name, path), nil)
	if err != nil {
		return err
	}
	_, err = r.forge.api.Do(ctx, request, into)
	return err
}
