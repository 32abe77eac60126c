package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm/rest"
)

// rule is one rule of a ruleset that applies to a branch. The library fails on
// unknown rule types.
type rule struct {
	Type       string `json:"type"`
	Ruleset    int64  `json:"ruleset_id"`
	Parameters struct {
		Approvals int      `json:"required_approving_review_count"`
		Owners    bool     `json:"require_code_owner_review"`
		LastPush  bool     `json:"require_last_push_approval"`
		Methods   []string `json:"allowed_merge_methods"`
		Strict    bool     `json:"strict_required_status_checks_policy"`
		Checks    []struct {
			Context string `json:"context"`
		} `json:"required_status_checks"`
	} `json:"parameters"`
}

// rulesets reads the rules of all rulesets that apply to a branch, including those of
// the organization. A server that is too old for rulesets has none.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (r *repository) rulesets(ctx context.Context, branch string, found *asked) error {
	rules, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]rule, *gogithub.Response, error) {
		path := fmt.Sprintf("repos/%s/%s/rules/branches/%s?per_page=%d&page=%d", r.owner, r.name, url.PathEscape(branch), page.PerPage, max(page.Page, 1))
		request, err := r.forge.api.NewRequest(http.MethodGet, path, nil)
		if err != nil {
			return nil, nil, err
		}
		var some []rule
		response, err := r.forge.api.Do(ctx, request, &some)
		return some, response, err
	})
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	passes := map[int64]bool{} // rulesets that promoter may bypass
	for _, one := range rules {
		if one.isForm() {
			if _, known := passes[one.Ruleset]; !known {
				passes[one.Ruleset] = r.mayBypass(ctx, one.Ruleset)
			}
		}
		found.take(one, passes[one.Ruleset])
	}
	return nil
}

// isForm reports whether a rule is about how changes are merged. A permission to
// bypass is used only for those rules: preconditions of a merge apply to promoter
// too.
func (one rule) isForm() bool {
	return slices.Contains([]string{"merge_queue", "required_signatures", "required_linear_history"}, one.Type)
}

// mayBypass reports whether our account may bypass a ruleset. If that cannot be read,
// the ruleset applies.
func (r *repository) mayBypass(ctx context.Context, ruleset int64) bool {
	var told struct {
		Bypass string `json:"current_user_can_bypass"`
	}
	err := r.get(ctx, fmt.Sprintf("rulesets/%d", ruleset), &told)
	return err == nil && slices.Contains([]string{"always", "pull_requests_only", "exempt"}, told.Bypass)
}

// take adds a rule. Rule types not listed here are noticed when a merge is refused.
func (a *asked) take(one rule, bypassed bool) {
	asks := one.Parameters
	switch one.Type {
	case "pull_request":
		a.PullRequests = true
		a.Approvals = max(a.Approvals, asks.Approvals)
		a.Owners = a.Owners || asks.Owners
		a.NotByPusher = a.NotByPusher || asks.LastPush
		a.narrow(asks.Methods)
	case "required_status_checks":
		for _, check := range asks.Checks {
			a.Checks = append(a.Checks, check.Context)
		}
		a.Current = a.Current || asks.Strict
	case "merge_queue":
		a.Queue = a.Queue || !bypassed
	case "required_signatures":
		a.Signed = a.Signed || !bypassed
	case "required_linear_history":
		a.Linear = a.Linear || !bypassed
	}
}

// narrow keeps the methods that one more rule allows; an empty list allows all.
func (a *asked) narrow(methods []string) {
	switch {
	case len(methods) == 0:
	case a.methods == nil:
		a.methods = slices.Clone(methods)
	default:
		a.methods = slices.DeleteFunc(a.methods, func(method string) bool { return !slices.Contains(methods, method) })
	}
}
