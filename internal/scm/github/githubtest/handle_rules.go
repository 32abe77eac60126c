package githubtest

import (
	"net/http"
	"slices"
	"strconv"
)

// listRules returns the rules of all rulesets of a branch, including those that the
// caller may bypass.
func listRules(c *call) *reply {
	var all []object
	for _, one := range c.repo.rulesOn(c.r.PathValue("branch")) {
		for _, rule := range one.draw() {
			rule["ruleset_id"], rule["ruleset_source_type"], rule["ruleset_source"] = one.id, "Repository", c.repo.model.FullName()
			all = append(all, rule)
		}
	}
	return list(c, all, func(_ *call, rule object) object { return rule })
}

// draw converts requirements to rules.
func (one *ruleset) draw() []object {
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
		checks = append(checks, object{"context": name})
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
		"required_status_checks": object{"enforcement_level": level, "contexts": orNone(p.Checks), "checks": []object{}},
	}, protected
}

func orNone(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
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
