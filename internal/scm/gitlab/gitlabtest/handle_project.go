package gitlabtest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"promoter/internal/scm/forgetest"
)

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func stampOf(m *forgetest.Moment) any {
	if m == nil {
		return nil
	}
	return stamp(m.At)
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func drawUser(c *call, u *user) object {
	if u == nil {
		return nil
	}
	return object{
		"id": u.ID, "username": u.Login, "name": u.Login, "state": "active", "locked": false,
		"avatar_url": nil, "web_url": c.s.URL() + "/" + u.Login,
	}
}

func drawUsers(c *call, users []*user) []object {
	return forgetest.DrawAll(c, users, drawUser)
}

func drawWhole(c *call, u *user) object {
	drawn := drawUser(c, u)
	drawn["bot"], drawn["bio"] = u.Bot, ""
	return drawn
}

func getSelf(c *call) *reply {
	if c.token == nil {
		return unauthorized()
	}
	return ok(drawWhole(c, c.who()))
}

func listUsers(c *call) *reply {
	var found []*user
	if u := c.s.hub.Users[lower(c.text("username"))]; u != nil {
		found = append(found, u)
	}
	return list(c, found, drawUser)
}

func pathUser(c *call) *user {
	for _, u := range c.s.hub.Users {
		if itoa(u.ID) == c.r.PathValue("user") {
			return u
		}
	}
	return nil
}

func getUser(c *call) *reply {
	if u := pathUser(c); u != nil {
		return ok(drawWhole(c, u))
	}
	return notFound("User ")
}

func drawMember(c *call, u *user, level int) *reply {
	if u == nil || level == 0 {
		return notFound("")
	}
	drawn := drawUser(c, u)
	drawn["access_level"], drawn["membership_state"], drawn["expires_at"] = level, "active", nil
	return ok(drawn)
}

func getMember(c *call) *reply {
	u := pathUser(c)
	if u == nil {
		return notFound("")
	}
	return drawMember(c, u, c.project.level(u))
}

func getGroupMember(c *call) *reply {
	members := c.s.groups[lower(c.r.PathValue("id"))]
	if members == nil {
		return notFound("Group ")
	}
	u := pathUser(c)
	if u == nil || members[lower(u.Login)] == "" {
		return notFound("")
	}
	return drawMember(c, u, forgetest.Rank(members[lower(u.Login)]))
}

func getProject(c *call) *reply {
	p, path := c.project, c.project.model.FullName()
	page, method, squash := p.model.Page(), orElse(p.settings.Method, "merge"), orElse(p.settings.Squash, "default_off")
	group, name := p.model.Owner, p.model.Name
	drawn := object{
		"id": p.model.ID, "name": name, "path": name, "path_with_namespace": path, "name_with_namespace": path, "description": nil,
		"default_branch": orNull(defaultBranch(p)), "visibility": "private", "archived": p.model.Archived, "empty_repo": len(p.model.Heads) == 0,
		"web_url": page, "http_url_to_repo": page + ".git", "ssh_url_to_repo": "git@gitlab.example.com:" + path + ".git",
		"namespace":    object{"id": 1, "name": group, "path": group, "kind": "group", "full_path": group},
		"created_at":   stamp(p.model.Created),
		"merge_method": method, "squash_option": squash, "only_allow_merge_if_pipeline_succeeds": p.settings.Pipelines,
		"merge_requests_enabled": true, "remove_source_branch_after_merge": false,
	}
	if !c.s.options.Free {
		drawn["merge_trains_enabled"], drawn["merge_pipelines_enabled"] = p.settings.Trains, p.settings.Trains
	}
	if c.token != nil {
		access := object{"project_access": nil, "group_access": nil}
		if level := p.level(c.who()); level > 0 {
			access["project_access"] = object{"access_level": level, "notification_level": 3}
		}
		drawn["permissions"] = access
	}
	return ok(drawn)
}

func defaultBranch(p *Project) string {
	if p.model.Bare.Head("main") == "" {
		return ""
	}
	return "main"
}

func getBranch(c *call) *reply {
	name := c.r.PathValue("branch")
	commit := c.project.model.Bare.Head(name)
	if commit == "" {
		return notFound("Branch ")
	}
	_, guarded := c.project.protection(name)
	return ok(object{
		"name": name, "commit": drawCommit(c.project.model, commit), "protected": guarded, "default": name == "main", "merged": false,
		"developers_can_push": false, "developers_can_merge": false, "can_push": c.project.mayPush(c.who(), name),
		"web_url": c.project.model.Page() + "/-/tree/" + name,
	})
}

func drawCommit(p *forgetest.Repository, id string) object {
	one := p.Bare.ReadCommit(id)
	message := strings.TrimSpace(one.Message)
	title, _, _ := strings.Cut(message, "\n")
	return object{
		"id": id, "short_id": id[:8], "parent_ids": one.Parents, "title": title, "message": message,
		"author_name": one.Author.Name, "author_email": one.Author.Email, "authored_date": stamp(one.Author.At),
		"committer_name": one.Committer.Name, "committer_email": one.Committer.Email, "committed_date": stamp(one.Committer.At),
		"created_at": stamp(one.Committer.At), "web_url": p.Page() + "/-/commit/" + id, "trailers": object{},
	}
}

func getCommit(c *call) *reply {
	id, known := c.project.model.Bare.Commit(c.r.PathValue("sha"))
	if !known {
		return notFound("Commit ")
	}
	return ok(drawCommit(c.project.model, id))
}

// compare lists the commits between two revisions, oldest first, without pages.
func compare(c *call) *reply {
	from, known := c.project.model.Bare.Commit(c.text("from"))
	to, known2 := c.project.model.Bare.Commit(c.text("to"))
	if !known || !known2 {
		return notFound("Ref ")
	}
	if _, err := c.project.model.Bare.Try("merge-base", from, to); err != nil {
		return notFound("Ref ")
	}
	drawn := []object{}
	for _, one := range c.project.model.Bare.Between(from, to) {
		drawn = append(drawn, drawCommit(c.project.model, one))
	}
	return ok(object{
		"commits": drawn, "diffs": []object{}, "compare_timeout": false, "compare_same_ref": from == to,
		"web_url": c.project.model.Page() + "/-/compare/" + from + "..." + to,
	})
}

func mergeBase(c *call) *reply {
	refs, _ := c.params["refs[]"].([]string)
	if len(refs) < 2 {
		return answer(http.StatusBadRequest, object{"error": "refs is missing"})
	}
	out, err := c.project.model.Bare.Try(append([]string{"merge-base"}, refs...)...)
	if err != nil {
		return notFound("Merge Base ")
	}
	return ok(drawCommit(c.project.model, out))
}

func listReleases(c *call) *reply {
	return list(c, c.project.model.Published(true), drawRelease)
}

func getRelease(c *call) *reply {
	one, found := c.project.model.PublishedAs(c.r.PathValue("tag"))
	if !found {
		return notFound("")
	}
	return ok(drawRelease(c, one))
}

func drawRelease(c *call, one *release) object {
	return object{
		"tag_name": one.Tag, "name": one.Tag, "description": one.Notes, "created_at": stamp(one.Published), "released_at": stamp(one.Published),
		"upcoming_release": one.Published.After(c.s.hub.Now()), "author": drawUser(c, one.By),
	}
}

func listProtected(c *call) *reply {
	names := slices.Sorted(maps.Keys(c.project.guarded))
	return list(c, names, func(_ *call, name string) object {
		one := c.project.guarded[name]
		drawn := object{
			"id": 1, "name": name, "allow_force_push": false,
			"push_access_levels":  []object{{"id": 1, "access_level": forgetest.Rank(one.Push), "access_level_description": "role"}},
			"merge_access_levels": []object{{"id": 1, "access_level": forgetest.Rank(one.Merge), "access_level_description": "role"}},
		}
		if !c.s.options.Free {
			drawn["code_owner_approval_required"] = one.CodeOwners
		}
		return drawn
	})
}

func listApprovalRules(c *call) *reply {
	return list(c, c.project.settings.Rules, func(_ *call, rule ApprovalRule) object {
		branches := []object{}
		for _, name := range rule.Branches {
			branches = append(branches, object{"id": 1, "name": name})
		}
		return object{
			"id": 1, "name": rule.Name, "rule_type": orElse(rule.Type, "regular"), "approvals_required": rule.Required, "protected_branches": branches,
			"applies_to_all_protected_branches": false, "users": []object{}, "groups": []object{}, "eligible_approvers": []object{},
		}
	})
}

func getApprovalSettings(c *call) *reply {
	return ok(object{
		"reset_approvals_on_push": c.project.settings.ResetApprovals, "merge_requests_author_approval": false,
		"merge_requests_disable_committers_approval": c.project.settings.CommittersApart, "selective_code_owner_removals": false,
		"disable_overriding_approvers_per_merge_request": false, "require_password_to_approve": false,
	})
}

func getPushRule(c *call) *reply {
	return ok(object{"id": 1, "project_id": c.project.model.ID, "reject_unsigned_commits": c.project.settings.Signed})
}

func listDeployments(c *call) *reply {
	return list(c, c.project.model.DeployedTo(c.r.URL.Query().Get("environment")), drawDeployment)
}

func drawDeployment(c *call, one *forgetest.Deployment) object {
	return object{
		"id": one.ID, "iid": one.ID, "ref": "main", "sha": one.Commit, "status": one.State, "created_at": stamp(one.At), "updated_at": stamp(one.At),
		"user": drawUser(c, one.By), "environment": object{"id": 1, "name": one.Environment},
	}
}
