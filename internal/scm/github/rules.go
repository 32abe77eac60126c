package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// asked holds the requirements of a branch, with the merge methods that its rules
// allow; nil: all.
type asked struct {
	scm.Rules
	methods []string
	signs   bool // our commits are signed
}

// Rules reads the rulesets of a branch, which every user with read access sees, and
// of classic branch protection what the token can read: the required checks, and
// everything for an administrator. The result is cached for the merge.
func (r *repository) Rules(ctx context.Context, branch string) (scm.Rules, error) {
	noun := r.noun("rules of branch %s", rest.OneLine(branch))
	found := asked{signs: r.forge.signs}
	if err := r.applyRulesets(ctx, branch, &found); err != nil {
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

// leaves returns the methods that satisfy the rules. GitHub signs merges and squash commits,
// and never rebased ones; a merge includes our own commits.
// https://docs.github.com/en/authentication/managing-commit-signature-verification/about-commit-signature-verification
func (a asked) leaves(methods []string) []string {
	return slices.DeleteFunc(slices.Clone(methods), func(method string) bool {
		unsigned := a.Signed && (method == "rebase" || method == "merge" && !a.signs)
		return unsigned || a.Linear && method == "merge" || a.methods != nil && !slices.Contains(a.methods, method)
	})
}

// stuck returns why no method is allowed.
func (a asked) stuck(branch string, methods []string) string {
	switch {
	case len(a.leaves(methods)) > 0:
		return ""
	case len(methods) == 0:
		return "the repository allows no merge method: allow one in its settings"
	case a.Signed && a.signs:
		return branch + " wants signed commits: allow merge commits or squash merges, which GitHub signs"
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
	var response struct {
		Protection struct {
			Enabled bool `json:"enabled"`
			Checks  struct {
				Level    string   `json:"enforcement_level"`
				Contexts []string `json:"contexts"`
				Checks   []struct {
					Context string `json:"context"`
					App     int64  `json:"app_id"`
				} `json:"checks"`
			} `json:"required_status_checks"`
		} `json:"protection"`
	}
	err := r.get(ctx, "branches/"+url.PathEscape(branch), &response)
	if statusOf(err) == http.StatusNotFound {
		return nil // rulesets apply to branches that do not exist
	}
	if err != nil {
		return err
	}
	if !response.Protection.Enabled {
		return nil
	}
	if response.Protection.Checks.Level != "off" {
		for _, name := range response.Protection.Checks.Contexts {
			app := int64(0)
			for _, check := range response.Protection.Checks.Checks {
				if check.Context == name {
					app = check.App
				}
			}
			found.require(name, app)
		}
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
	return r.forge.get(ctx, fmt.Sprintf("repos/%s/%s/%s", r.owner, r.name, path), into)
}

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
			App     int64  `json:"integration_id"` // the only one whose result counts
		} `json:"required_status_checks"`
	} `json:"parameters"`
}

// applyRulesets adds the rules of all rulesets that apply to a branch.
func (r *repository) applyRulesets(ctx context.Context, branch string, found *asked) error {
	rules, err := r.rulesets(ctx, branch, found)
	if err != nil {
		return err
	}
	passes := map[int64]bool{} // rulesets that promoter may bypass
	for _, one := range rules {
		if one.isForm() {
			if _, known := passes[one.Ruleset]; !known {
				passes[one.Ruleset] = slices.Contains([]string{"always", "pull_requests_only", "exempt"}, r.bypass(ctx, one.Ruleset))
			}
		}
		found.take(one, passes[one.Ruleset])
	}
	return nil
}

// rulesets reads the rules of all rulesets that apply to a branch, including those of
// the organization. A server that is too old for rulesets has none, and neither has a
// private repository of a free plan, which is noted.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (r *repository) rulesets(ctx context.Context, branch string, found *asked) ([]rule, error) {
	rules, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]rule, *gogithub.Response, error) {
		path := fmt.Sprintf("repos/%s/%s/rules/branches/%s?%s", r.owner, r.name, url.PathEscape(branch), query(page))
		return readPage[rule](ctx, r.forge, path)
	})
	if answer := refused(err); answer != nil && statusOf(err) == http.StatusForbidden &&
		strings.Contains(answer.Message, "Upgrade to GitHub") {
		found.Note = "its plan has no rulesets: " + wordsOf(answer)
		return nil, nil
	}
	if statusOf(err) == http.StatusNotFound {
		return nil, nil
	}
	return rules, err
}

// Unpushable returns why the rulesets for a branch, which need not exist, reject our
// commits, unless they are signed. Rulesets of an organization often apply to all branches.
func (r *repository) Unpushable(ctx context.Context, branch string) (string, error) {
	if r.forge.signs {
		return "", nil
	}
	rules, err := r.rulesets(ctx, branch, &asked{})
	if err != nil {
		return "", explain(r.noun("rules of branch %s", rest.OneLine(branch)), err)
	}
	for _, one := range rules {
		if one.Type == "required_signatures" && !slices.Contains([]string{"always", "exempt"}, r.bypass(ctx, one.Ruleset)) {
			return "a ruleset requires signed commits on " + branch + ", and promoter signs none: " +
				"set signing in the server file, exclude promoter/** from it, or let promoter bypass it", nil
		}
	}
	return "", nil
}

// isForm reports whether a rule is about how changes are merged. A permission to
// bypass is used only for those rules: preconditions of a merge apply to promoter
// too.
func (one rule) isForm() bool {
	return slices.Contains([]string{"merge_queue", "required_signatures", "required_linear_history"}, one.Type)
}

// bypass returns how our account may bypass a ruleset. If that cannot be read, it is
// empty, and the ruleset applies.
func (r *repository) bypass(ctx context.Context, ruleset int64) string {
	var response struct {
		Bypass string `json:"current_user_can_bypass"`
	}
	if err := r.get(ctx, fmt.Sprintf("rulesets/%d", ruleset), &response); err != nil {
		return ""
	}
	return response.Bypass
}

// take adds a rule. Rule types not listed here are noticed when a merge is refused.
func (a *asked) take(one rule, bypassed bool) {
	parameters := one.Parameters
	switch one.Type {
	case "pull_request":
		a.PullRequests = true
		a.Approvals = max(a.Approvals, parameters.Approvals)
		a.Owners = a.Owners || parameters.Owners
		a.NotByPusher = a.NotByPusher || parameters.LastPush
		a.narrow(parameters.Methods)
	case "required_status_checks":
		for _, check := range parameters.Checks {
			a.require(check.Context, check.App)
		}
		a.Current = a.Current || parameters.Strict
	case "merge_queue":
		a.Queue = a.Queue || !bypassed
	case "required_signatures":
		a.Signed = a.Signed || !bypassed
	case "required_linear_history":
		a.Linear = a.Linear || !bypassed
	}
}

// require adds a required check, and the app that has to report it; zero or less: any.
func (a *asked) require(name string, app int64) {
	a.Checks = append(a.Checks, name)
	if app > 0 {
		if a.Sources == nil {
			a.Sources = map[string]string{}
		}
		a.Sources[name] = strconv.FormatInt(app, 10)
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
