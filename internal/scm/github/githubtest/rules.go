package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"promoter/internal/scm"
)

// Demands holds the requirements of a branch for a merge, from classic protection or
// a ruleset.
type Demands struct {
	Checks        []string // required contexts
	From          string   // login of the app that has to report them; empty: any account
	Strict        bool     // the head must be up to date with the base
	Approvals     int
	Owner         string // required approver: the code owner of all files
	LastPush      bool   // the last push must be approved by another user
	Conversations bool   // must be resolved; one is not until Resolve
	Queue         bool   // merges only through the merge queue
	Signed        bool   // commits must have verified signatures
	Linear        bool   // no merge commits
}

// Ruleset holds the requirements of a ruleset for a branch, and who may bypass it.
type Ruleset struct {
	Demands
	Methods []string // allowed merge methods; none: all
	Bypass  []string // logins that may bypass it
}

// ruleset is one ruleset of a repository.
type ruleset struct {
	id     int64
	branch string // empty: all branches
	Ruleset
}

// Rule creates a ruleset for a branch.
func (r *Repository) Rule(branch string, rules Ruleset) {
	r.s.act(func() {
		r.rulesets = append(r.rulesets, &ruleset{id: r.s.hub.NextID(), branch: branch, Ruleset: rules})
	})
}

// Resolve resolves the conversations of a pull request as a user. GitHub does not count that as an update of it.
func (r *Repository) Resolve(who string, number int) {
	r.Pulls.With(who, number, func(p *pull, _ *user) { of(p).resolved = true })
}

// RequireQueue requires the merge queue for all branches.
func (r *Repository) RequireQueue() { r.Rule("", Ruleset{Demands: Demands{Queue: true}}) }

// rulesOn returns the rulesets that apply to a branch.
func (r *Repository) rulesOn(branch string) []*ruleset {
	var found []*ruleset
	for _, one := range r.rulesets {
		if one.branch == "" || one.branch == branch {
			found = append(found, one)
		}
	}
	return found
}

func (one *ruleset) binds(by *user) bool {
	return by == nil || !slices.ContainsFunc(one.Bypass, func(login string) bool { return lower(login) == lower(by.Login) })
}

// violation returns GitHub's message for a violation of a ruleset.
func violation(words string) string { return "Repository rule violations found\n\n" + words + "\n\n" }

// refusal returns why the rules forbid a merge by an account, empty if they do not.
func refusal(p *pull, by *user) string {
	if words := lacking(p, own(p.Repo).protection[p.Base].Demands); words != "" {
		return words
	}
	for _, one := range own(p.Repo).rulesOn(p.Base) {
		if words := lacking(p, one.Demands); words != "" && one.binds(by) {
			return violation(words)
		}
	}
	return ""
}

// lacking returns which requirement is not met.
func lacking(p *pull, d Demands) string {
	for _, context := range d.Checks {
		switch own(p.Repo).latest(p.HeadCommit, context, d.From) {
		case "success":
		case "failure", "error":
			return fmt.Sprintf("Required status check %q is failing.", context)
		default:
			return fmt.Sprintf("Required status check %q is expected.", context)
		}
	}
	switch all, current := approvals(p), approvers(p, p.HeadCommit); {
	case len(all) < d.Approvals:
		return fmt.Sprintf("At least %d approving review is required by reviewers with write access.", d.Approvals)
	case d.Owner != "" && !slices.Contains(all, d.Owner):
		return "Waiting on code owner review from " + d.Owner + "."
	case d.LastPush && len(current) == 0:
		return "New changes require approval from someone other than the last pusher."
	case d.Conversations && !of(p).resolved:
		return "A conversation must be resolved before this pull request can be merged."
	case d.Queue:
		return "Changes must be made through the merge queue"
	}
	return ""
}

// approvals returns the users whose latest review is an approval.
func approvals(p *pull) []string { return approvers(p, "") }

// approvers returns those of them who approved a commit; empty: any.
func approvers(p *pull, commit string) []string {
	last := map[string]*review{}
	for _, r := range p.Reviews {
		if r.State != scm.Commented && p.Repo.MayPush(r.Author) && r.Author != p.Author {
			last[r.Author.Login] = r
		}
	}
	var people []string
	for login, r := range last {
		if r.State == scm.Approved && !r.Dismissed && (commit == "" || r.Commit == commit) {
			people = append(people, login)
		}
	}
	return people
}

// strict reports whether the head must be up to date with the base.
func strict(p *pull) bool {
	return own(p.Repo).protection[p.Base].Strict || slices.ContainsFunc(own(p.Repo).rulesOn(p.Base), func(one *ruleset) bool { return one.Strict })
}

// refuseMethod returns why a merge method is not allowed for the base. GitHub signs
// merge and squash commits; promoter's own commits, which a merge includes, are not
// signed, and neither are rebased ones.
func refuseMethod(p *pull, by *user, method string) string {
	if words := unformed(own(p.Repo).protection[p.Base].Demands, method); words != "" {
		return words
	}
	for _, one := range own(p.Repo).rulesOn(p.Base) {
		words := unformed(one.Demands, method)
		if len(one.Methods) > 0 && !slices.Contains(one.Methods, method) {
			words = fmt.Sprintf("The merge method '%s' is not allowed.", method)
		}
		if words != "" && one.binds(by) {
			return violation(words)
		}
	}
	return ""
}

func unformed(d Demands, method string) string {
	switch {
	case d.Signed && method == "rebase":
		return "Base branch requires signed commits. Rebase merges cannot be automatically signed by GitHub"
	case d.Signed && method == "merge":
		return "Commits must have verified signatures."
	case d.Linear && method == "merge":
		return "This branch must not contain merge commits."
	}
	return ""
}

// listRules returns the rules of all rulesets of a branch, including those that the
// caller may bypass.
func listRules(c *call) *reply {
	if c.repo.free {
		return refuse(http.StatusForbidden, "Upgrade to GitHub Pro or make this repository public to enable this feature.")
	}
	var all []object
	for _, one := range c.repo.rulesOn(c.r.PathValue("branch")) {
		for _, rule := range one.draw(c) {
			rule["ruleset_id"], rule["ruleset_source_type"], rule["ruleset_source"] = one.id, "Repository", c.repo.model.FullName()
			all = append(all, rule)
		}
	}
	return list(c, all, func(_ *call, rule object) object { return rule })
}

// draw converts requirements to rules.
func (one *ruleset) draw(c *call) []object {
	var rules []object
	add := func(wanted bool, kind string, parameters object) {
		if rule := (object{"type": kind}); wanted {
			if parameters != nil {
				rule["parameters"] = parameters
			}
			rules = append(rules, rule)
		}
	}
	d := one.Demands
	checks := []object{}
	for _, name := range d.Checks {
		check := object{"context": name}
		if d.From != "" {
			check["integration_id"] = c.s.hub.User(d.From).ID
		}
		checks = append(checks, check)
	}
	review := object{
		"required_approving_review_count": d.Approvals, "dismiss_stale_reviews_on_push": false, "require_code_owner_review": d.Owner != "",
		"require_last_push_approval": d.LastPush, "required_review_thread_resolution": d.Conversations,
	}
	if len(one.Methods) > 0 {
		review["allowed_merge_methods"] = one.Methods
	}
	add(d.Approvals > 0 || d.Owner != "" || d.LastPush || d.Conversations || len(one.Methods) > 0, "pull_request", review)
	add(len(checks) > 0, "required_status_checks", object{"required_status_checks": checks, "strict_required_status_checks_policy": d.Strict})
	add(d.Signed, "required_signatures", nil)
	add(d.Linear, "required_linear_history", nil)
	add(d.Queue, "merge_queue", object{
		"check_response_timeout_minutes": 60, "grouping_strategy": "ALLGREEN", "max_entries_to_build": 5, "max_entries_to_merge": 5,
		"merge_method": "SQUASH", "min_entries_to_merge": 1, "min_entries_to_merge_wait_minutes": 5,
	})
	return rules
}

// getRuleset returns a ruleset, including whether the caller may bypass it.
func getRuleset(c *call) *reply {
	id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
	i := slices.IndexFunc(c.repo.rulesets, func(one *ruleset) bool { return one.id == id })
	if i < 0 {
		return refuse(http.StatusNotFound, "Not Found")
	}
	bypass := "never"
	if !c.repo.rulesets[i].binds(c.who()) {
		bypass = "always"
	}
	return ok(object{
		"id": id, "name": "rules", "target": "branch", "source_type": "Repository", "source": c.repo.model.FullName(), "enforcement": "active",
		"current_user_can_bypass": bypass,
	})
}

// drawProtection returns the part of the classic protection of a branch that every
// user sees.
func drawProtection(c *call, branch string) (object, bool) {
	p, protected := c.repo.protection[branch]
	level := "off"
	if len(p.Checks) > 0 {
		level = "non_admins"
	}
	return object{
		"enabled":                protected,
		"required_status_checks": object{"enforcement_level": level, "contexts": append([]string{}, p.Checks...), "checks": []object{}},
	}, protected
}

// getProtection is for administrators.
func getProtection(c *call) *reply {
	branch := c.r.PathValue("branch")
	p, protected := c.repo.protection[branch]
	switch {
	case c.token.installation == nil && c.repo.model.Permission(c.who()) != "admin":
		return refuse(http.StatusNotFound, "Not Found")
	case !protected:
		return refuse(http.StatusNotFound, "Branch not protected")
	}
	url := c.s.API() + "repos/" + c.repo.model.FullName() + "/branches/" + branch + "/protection"
	on := func(enabled bool) object { return object{"enabled": enabled} }
	drawn := object{
		"url": url, "required_linear_history": on(p.Linear), "required_conversation_resolution": on(p.Conversations),
		"required_signatures": object{"url": url + "/required_signatures", "enabled": p.Signed},
		"enforce_admins":      object{"url": url + "/enforce_admins", "enabled": false}, "allow_force_pushes": on(false), "allow_deletions": on(false),
	}
	if len(p.Checks) > 0 {
		drawn["required_status_checks"] = object{
			"url": url + "/required_status_checks", "strict": p.Strict, "contexts": p.Checks, "contexts_url": url + "/required_status_checks/contexts",
			"checks": []object{},
		}
	}
	if p.Approvals > 0 || p.Owner != "" || p.LastPush {
		drawn["required_pull_request_reviews"] = object{
			"url": url + "/required_pull_request_reviews", "dismiss_stale_reviews": false, "require_code_owner_reviews": p.Owner != "",
			"required_approving_review_count": p.Approvals, "require_last_push_approval": p.LastPush,
		}
	}
	return ok(drawn)
}
