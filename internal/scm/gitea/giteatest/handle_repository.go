package giteatest

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"promoter/internal/scm/forgetest"
)

func getRepository(c *call) *reply { return ok(drawRepository(c, c.repo.model)) }

// drawPayloadCommit draws a commit as webhooks do.
func drawPayloadCommit(c *call, commit string) object {
	one := c.repo.model.Bare.ReadCommit(commit)
	drawn := object{"id": commit, "message": one.Message, "url": c.repo.model.Page() + "/commit/" + commit, "timestamp": stamp(one.Committer.At)}
	fill(drawn, object{"name": one.Author.Name, "email": one.Author.Email, "username": ""}, "author", "committer")
	fill(drawn, object{"verified": false, "reason": "gpg.error.not_signed_commit", "signature": "", "signer": nil, "payload": ""}, "verification")
	return fill(drawn, nil, "added", "removed", "modified")
}

func getBranch(c *call) *reply {
	if c.repo.settles() {
		answer := forgetest.Answer(http.StatusInternalServerError, forgetest.Plain("Internal Server Error"))
		answer.Header.Set("Content-Type", "text/plain; charset=utf-8")
		return answer
	}
	name := c.r.PathValue("branch")
	commit := c.repo.model.Bare.Head(name)
	if commit == "" {
		return notFound()
	}
	rule, protected := c.repo.protection[name]
	drawn := object{
		"name": name, "commit": drawPayloadCommit(c, commit), "protected": protected, "required_approvals": rule.Approvals,
		"enable_status_check": len(rule.Checks) > 0, "status_check_contexts": names(rule.Checks), "effective_branch_protection_name": "",
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
		one := object{
			"branch_name": name, "rule_name": name, "enable_push": !rule.PushDenied, "enable_push_whitelist": false,
			"enable_merge_whitelist": len(rule.MergeAllowed) > 0, "merge_whitelist_usernames": names(rule.MergeAllowed),
			"enable_status_check": len(rule.Checks) > 0, "status_check_contexts": rule.Checks, "required_approvals": rule.Approvals,
			"block_on_rejected_reviews": rule.Rejected, "block_on_official_review_requests": rule.Requests,
			"block_on_outdated_branch": rule.Outdated, "require_signed_commits": rule.Signed, "dismiss_stale_approvals": rule.DismissStale,
		}
		fill(one, 0, "priority")
		fill(one, "", "protected_file_patterns", "unprotected_file_patterns")
		fill(one, noTime, "created_at", "updated_at")
		fill(one, []string{}, "push_whitelist_usernames", "push_whitelist_teams", "force_push_allowlist_usernames", "force_push_allowlist_teams",
			"merge_whitelist_teams", "approvals_whitelist_username", "approvals_whitelist_teams")
		drawn = append(drawn, fill(one, false, "push_whitelist_deploy_keys", "enable_force_push", "enable_force_push_allowlist",
			"force_push_allowlist_deploy_keys", "enable_approvals_whitelist", "ignore_stale_approvals", "block_admin_merge_override"))
	}
	return ok(drawn)
}

// names returns an empty list for none.
func names(all []string) []string { return append([]string{}, all...) }

// getRefs returns all refs whose names begin so, also a single one as a list.
func getRefs(c *call) *reply {
	if c.repo.settles() {
		return notFound()
	}
	wanted := "refs/" + c.r.PathValue("ref")
	var found []object
	for line := range strings.Lines(c.repo.model.Bare.Run("for-each-ref", "--format=%(refname) %(objectname) %(objecttype)")) {
		if part := strings.Fields(line); len(part) == 3 && strings.HasPrefix(part[0], wanted) {
			found = append(found, object{"ref": part[0], "url": c.s.URL(), "object": object{"type": part[2], "sha": part[1], "url": c.s.URL()}})
		}
	}
	if len(found) == 0 {
		return notFound()
	}
	return ok(found)
}

func getCommit(c *call) *reply {
	id, known := c.repo.model.Bare.Commit(c.r.PathValue("sha"))
	if !known || c.repo.settles() {
		return unknown("commit doesn't exist: " + c.r.PathValue("sha"))
	}
	return ok(drawCommit(c, c.repo.model, id))
}

// compare returns all commits of BASE...HEAD, newest first.
func compare(c *call) *reply {
	base, head, _ := strings.Cut(c.r.PathValue("basehead"), "...")
	from, known := c.repo.model.Bare.Commit(base)
	to, known2 := c.repo.model.Bare.Commit(head)
	if !known || !known2 {
		return notFound()
	}
	drawn := []object{}
	for _, commit := range slices.Backward(c.repo.model.Bare.Between(from, to)) {
		one := drawCommit(c, c.repo.model, commit)
		one["stats"] = object{"total": 1, "additions": 1, "deletions": 0} // also if they are not wanted
		drawn = append(drawn, one)
	}
	return ok(object{"total_commits": len(drawn), "commits": drawn})
}

// listReleases returns drafts to users who may push, unless they are excluded.
func listReleases(c *call) *reply {
	draft := c.r.URL.Query().Get("draft")
	shown := slices.DeleteFunc(c.repo.model.Published(c.repo.model.MayPush(c.who()) && draft != "false"), func(one *release) bool {
		return draft == "true" && !one.Draft
	})
	return list(c, shown, true, drawRelease)
}

func getRelease(c *call) *reply {
	one, found := c.repo.model.PublishedAs(c.r.PathValue("tag"))
	if !found {
		return notFound()
	}
	return ok(drawRelease(c, one))
}

func drawRelease(c *call, one *release) object {
	drawn := object{
		"id": one.ID, "tag_name": one.Tag, "name": one.Tag, "body": one.Notes, "draft": one.Draft, "prerelease": one.Prerelease,
		"created_at": one.Published.Format(time.RFC3339), "published_at": one.Published.Format(time.RFC3339), "author": drawUser(c, one.By), "assets": []string{},
	}
	return fill(drawn, "", "target_commitish", "url", "html_url", "tarball_url", "zipball_url", "upload_url")
}
