package giteatest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

func getRepository(c *call) *reply { return ok(drawRepository(c, c.repo.model)) }

func getBranch(c *call) *reply {
	if accident := c.repo.settled(); accident != nil {
		return accident
	}
	name := c.r.PathValue("branch")
	commit := c.repo.model.Bare.Head(name)
	if commit == "" {
		return notFound()
	}
	rule, protected := c.repo.protection[name]
	drawn := object{
		"name": name, "commit": object{"id": commit}, "protected": protected, "required_approvals": rule.Approvals,
		"enable_status_check": len(rule.Checks) > 0, "status_check_contexts": rule.Checks, "effective_branch_protection_name": "",
		"user_can_push": c.repo.model.MayPush(c.who()) && !rule.PushDenied, "user_can_merge": c.repo.model.MayPush(c.who()),
	}
	if protected && c.repo.model.Administers(c.who()) {
		drawn["effective_branch_protection_name"] = name
	}
	return ok(drawn)
}

// listProtections is not paginated and for administrators only.
func listProtections(c *call) *reply {
	if !c.repo.model.Administers(c.who()) {
		return refuse(http.StatusForbidden, "user should be an owner or a collaborator with admin write of a repository")
	}
	drawn := []object{}
	for name, rule := range c.repo.protection {
		drawn = append(drawn, object{
			"branch_name": name, "rule_name": name, "enable_push": !rule.PushDenied, "enable_push_whitelist": false,
			"enable_merge_whitelist": len(rule.MergeAllowed) > 0, "merge_whitelist_usernames": rule.MergeAllowed,
			"enable_status_check": len(rule.Checks) > 0, "status_check_contexts": rule.Checks, "required_approvals": rule.Approvals,
			"block_on_rejected_reviews": rule.Rejected, "block_on_official_review_requests": rule.Requests,
			"block_on_outdated_branch": rule.Outdated, "require_signed_commits": rule.Signed, "dismiss_stale_approvals": false,
		})
	}
	return ok(drawn)
}

// getRefs returns one ref, or all refs below a name.
func getRefs(c *call) *reply {
	if accident := c.repo.settled(); accident != nil {
		return accident
	}
	wanted := "refs/" + c.r.PathValue("ref")
	var found []object
	for line := range strings.Lines(c.repo.model.Bare.Run("for-each-ref", "--format=%(refname) %(objectname) %(objecttype)", wanted)) {
		if part := strings.Fields(line); len(part) == 3 {
			found = append(found, object{"ref": part[0], "url": c.s.URL(), "object": object{"type": part[2], "sha": part[1], "url": c.s.URL()}})
		}
	}
	switch {
	case len(found) == 0:
		return notFound()
	case len(found) == 1 && found[0]["ref"] == wanted:
		return ok(found[0])
	}
	return ok(found)
}

func getCommit(c *call) *reply {
	if accident := c.repo.settled(); accident != nil {
		return accident
	}
	id, known := c.repo.model.Bare.Commit(c.r.PathValue("sha"))
	if !known {
		return notFound()
	}
	return ok(drawCommit(c, c.repo.model, id))
}

// compare returns all commits of BASE...HEAD, newest first, and a 5xx error for a
// commit that does not exist.
func compare(c *call) *reply {
	base, head, _ := strings.Cut(c.r.PathValue("basehead"), "...")
	from, known := c.repo.model.Bare.Commit(base)
	to, known2 := c.repo.model.Bare.Commit(head)
	switch {
	case !known && !isID(base) || !known2 && !isID(head):
		return notFound()
	case !known || !known2:
		return refuse(http.StatusInternalServerError, "exit status 128 - fatal: bad object")
	}
	drawn := []object{}
	for _, commit := range slices.Backward(c.repo.model.Bare.Between(from, to)) {
		drawn = append(drawn, drawCommit(c, c.repo.model, commit))
	}
	return ok(object{"total_commits": len(drawn), "commits": drawn})
}

func isID(name string) bool { return len(name) == 40 }

// listReleases returns drafts to users who may push, unless they are excluded.
func listReleases(c *call) *reply {
	draft := c.r.URL.Query().Get("draft")
	shown := slices.DeleteFunc(c.repo.model.Published(c.repo.model.MayPush(c.who()) && draft != "false"), func(one *release) bool {
		return draft == "true" && !one.Draft
	})
	return list(c, shown, true, func(_ *call, one *release) object {
		return object{
			"id": one.ID, "tag_name": one.Tag, "name": one.Tag, "body": "", "draft": one.Draft, "prerelease": one.Prerelease,
			"created_at": one.Published.Format(time.RFC3339), "published_at": one.Published.Format(time.RFC3339), "author": drawUser(c, one.By),
		}
	})
}
