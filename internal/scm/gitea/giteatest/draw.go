package giteatest

import (
	"strings"
	"time"
)

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// page returns the web URL of the repository.
func (s *Server) page(r *Repository) string { return s.URL() + "/" + r.fullName() }

func drawUser(c *call, u *user) object {
	return object{
		"id": u.id, "login": u.login, "login_name": "", "source_id": 0, "full_name": "", "email": lower(u.login) + "@noreply.example.com",
		"avatar_url": c.s.URL() + "/avatars/1", "html_url": c.s.URL() + "/" + u.login, "language": "", "is_admin": false, "active": true,
		"restricted": false, "prohibit_login": false, "visibility": "public", "username": u.login,
	}
}

func drawUsers(c *call, users []*user) []object {
	drawn := []object{}
	for _, u := range users {
		drawn = append(drawn, drawUser(c, u))
	}
	return drawn
}

func drawTeam(c *call, t *team) object {
	return object{"id": t.id, "name": t.name, "description": "", "organization": nil, "permission": "write", "can_create_org_repo": false, "includes_all_repositories": false, "units": []string{}}
}

func drawLabel(c *call, l *label) object {
	return object{"id": l.id, "name": l.name, "color": "ededed", "description": "", "url": c.s.URL(), "exclusive": false, "is_archived": false}
}

func drawLabels(c *call, labels []*label) []object {
	drawn := []object{}
	for _, one := range labels {
		drawn = append(drawn, drawLabel(c, one))
	}
	return drawn
}

func drawRepository(c *call, r *Repository) object {
	return object{
		"id": r.id, "owner": drawUser(c, c.s.user(r.owner)), "name": r.name, "full_name": r.fullName(), "description": "",
		"empty": len(r.bare.Heads()) == 0, "private": r.private, "fork": r.fork != nil, "template": false, "mirror": false,
		"html_url": c.s.page(r), "url": c.s.URL() + prefix + "/repos/" + r.fullName(), "clone_url": c.s.page(r) + ".git",
		"default_branch": strings.TrimPrefix(r.bare.Run("symbolic-ref", "HEAD"), "refs/heads/"), "archived": r.archived,
		"permissions": object{"admin": r.administers(c.who()), "push": r.mayPush(c.who()), "pull": true}, "has_pull_requests": true,
		"has_issues": true, "has_code": true, "has_wiki": false, "allow_merge_commits": r.ways["merge"], "allow_rebase": r.ways["rebase"],
		"allow_rebase_explicit": r.ways["rebase-merge"], "allow_squash_merge": r.ways["squash"],
		"allow_fast_forward_only_merge": r.ways["fast-forward-only"], "allow_rebase_update": true, "default_merge_style": r.preferred,
		"default_delete_branch_after_merge": r.autoDelete, "object_format_name": "sha1", "internal": false, "topics": []string{},
	}
}

// drawCommit reads one commit of the repository. Its message ends with a line break.
func drawCommit(c *call, r *Repository, commit string) object {
	const format = "--format=%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
	part := strings.SplitN(r.bare.Run("log", "-1", format, commit), "\x00", 9)
	parents := []object{}
	for parent := range strings.FieldsSeq(part[1]) {
		parents = append(parents, object{"sha": parent, "url": c.s.URL(), "created": "0001-01-01T00:00:00Z"})
	}
	return object{
		"url": c.s.URL(), "sha": commit, "created": part[7], "html_url": c.s.page(r) + "/commit/" + commit, "parents": parents,
		"commit": object{
			"url": c.s.URL(), "message": strings.TrimRight(part[8], "\n") + "\n",
			"author":    object{"name": part[2], "email": part[3], "date": part[4]},
			"committer": object{"name": part[5], "email": part[6], "date": part[7]}, "tree": object{"sha": part[0]},
		},
		"author": nil, "committer": nil, "files": nil,
	}
}

// drawPull returns the current commit of the head's branch, even if the pull request
// was closed long ago. Only without the branch it is the head at the time of closing.
func drawPull(c *call, p *pull) object {
	headRef, headCommit := p.head, p.from.bare.Head(p.head)
	if headCommit == "" {
		headRef, headCommit = p.ref(), p.headCommit
	}
	base := p.repo.bare.Head(p.base)
	_, clean := "", base != ""
	if clean && p.open() {
		_, clean = p.repo.bare.Merge(base, p.headCommit)
	}
	html := c.s.page(p.repo) + "/pulls/" + itoa(p.number)
	drawn := object{
		"id": p.id, "url": html, "number": p.number, "user": drawUser(c, p.author), "title": p.title, "body": p.body,
		"labels": drawLabels(c, p.labels), "milestone": nil, "assignee": nil, "assignees": drawUsers(c, p.assignees),
		"requested_reviewers": drawUsers(c, p.reviewers), "requested_reviewers_teams": nil, "state": "open", "draft": p.draft(),
		"is_locked": false, "comments": len(p.comments()), "html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch",
		"mergeable": clean && p.waits == 0 && p.open(), "merged": p.merged, "merged_at": nil, "merge_commit_sha": nil, "merged_by": nil,
		"allow_maintainer_edit": false, "merge_base": base, "due_date": nil, "created_at": stamp(p.created), "updated_at": stamp(p.updated),
		"closed_at": nil, "pin_order": 0,
		"base": object{"label": p.base, "ref": p.base, "sha": base, "repo_id": p.repo.id, "repo": drawRepository(c, p.repo)},
		"head": object{"label": p.head, "ref": headRef, "sha": headCommit, "repo_id": p.from.id, "repo": drawRepository(c, p.from)},
	}
	if p.closed != nil {
		drawn["state"], drawn["closed_at"] = "closed", stamp(p.closed.at)
	}
	if p.merged {
		drawn["merged_at"], drawn["merge_commit_sha"], drawn["merged_by"] = stamp(p.closed.at), p.mergeCommit, drawUser(c, p.closed.by)
	}
	return drawn
}

func drawEvent(c *call, e *event) object {
	drawn := object{
		"id": e.id, "user": drawUser(c, e.by), "body": e.body, "created_at": stamp(e.created), "updated_at": stamp(e.updated), "type": e.kind,
		"pull_request_url": "", "issue_url": "",
	}
	page := c.s.page(e.repo) + "/issues/" + itoa(e.issue)
	if e.pull == nil {
		drawn["issue_url"] = page
	} else {
		page = c.s.page(e.repo) + "/pulls/" + itoa(e.pull.number)
		drawn["pull_request_url"] = page
	}
	drawn["html_url"] = page + "#issuecomment-" + itoa(int(e.id))
	return drawn
}

func drawStatus(c *call, one *status) object {
	return object{
		"id": one.id, "status": one.state, "target_url": one.url, "description": one.words, "context": one.context, "url": c.s.URL(),
		"creator": drawUser(c, one.by), "created_at": stamp(one.at), "updated_at": stamp(one.at),
	}
}
