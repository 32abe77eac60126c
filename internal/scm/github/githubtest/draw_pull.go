package githubtest

import (
	"time"
)

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func drawUsers(c *call, users []*user) []object {
	drawn := []object{}
	for _, u := range users {
		drawn = append(drawn, drawUser(c, u))
	}
	return drawn
}

func drawLabels(c *call, p *pull) []object {
	drawn := []object{}
	for _, name := range p.labels {
		id := p.repo.labels[name]
		drawn = append(drawn, object{
			"id": id, "node_id": node(id), "url": c.s.API() + "repos/" + p.repo.fullName() + "/labels/" + name, "name": name, "description": "",
			"color": "ededed", "default": false,
		})
	}
	return drawn
}

func drawTeams(c *call, p *pull) []object {
	drawn := []object{}
	for i, slug := range p.teams {
		url := c.s.API() + "organizations/1/team/" + itoa(i+1)
		drawn = append(drawn, object{
			"id": i + 1, "node_id": node(int64(i)), "url": url, "members_url": url + "/members{/member}", "name": slug, "description": nil, "permission": "pull",
			"html_url": c.s.URL() + "/orgs/" + p.repo.owner + "/teams/" + slug, "repositories_url": url + "/repos", "slug": slug, "parent": nil, "type": "organization",
		})
	}
	return drawn
}

// drawEnd returns the head or the base.
func drawEnd(c *call, r *Repository, branch, commit string) object {
	return object{
		"label": r.owner + ":" + branch, "ref": branch, "sha": commit, "user": drawUser(c, c.s.user(r.owner)), "repo": drawRepository(c, r, c.who()),
	}
}

// drawPull returns a pull request as in a list.
func drawPull(c *call, p *pull) object {
	url, html := c.s.API()+"repos/"+p.repo.fullName()+"/pulls/"+itoa(p.number), c.s.page(p.repo)+"/pull/"+itoa(p.number)
	issue := c.s.API() + "repos/" + p.repo.fullName() + "/issues/" + itoa(p.number)
	statuses := c.s.API() + "repos/" + p.repo.fullName() + "/statuses/" + p.headCommit
	drawn := object{
		"url": url, "id": p.id, "node_id": node(p.id), "html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch", "issue_url": issue,
		"number": p.number, "state": "open", "locked": false, "title": p.title, "user": drawUser(c, p.author), "body": orNull(p.body),
		"created_at": stamp(p.created), "updated_at": stamp(p.updated), "closed_at": nil, "merged_at": nil, "merge_commit_sha": orNull(p.mergeCommit),
		"assignee": nil, "assignees": drawUsers(c, p.assignees), "requested_reviewers": drawUsers(c, p.reviewers), "requested_teams": drawTeams(c, p),
		"labels": drawLabels(c, p), "milestone": nil, "draft": p.draft, "commits_url": url + "/commits", "review_comments_url": url + "/comments",
		"review_comment_url": url + "/comments{/number}", "comments_url": issue + "/comments", "statuses_url": statuses,
		"head": drawEnd(c, p.from, p.head, p.headCommit), "base": drawEnd(c, p.repo, p.base, p.baseCommit), "author_association": association(c, p),
		"auto_merge": nil, "active_lock_reason": nil, "_links": links(map[string]string{
			"self": url, "html": html, "issue": issue, "comments": issue + "/comments", "review_comments": url + "/comments",
			"review_comment": url + "/comments{/number}", "commits": url + "/commits", "statuses": statuses,
		}),
	}
	if len(p.assignees) > 0 {
		drawn["assignee"] = drawUser(c, p.assignees[0])
	}
	if p.closed != nil {
		drawn["state"], drawn["closed_at"] = "closed", stamp(p.closed.at)
	}
	if p.merged {
		drawn["merged_at"] = stamp(p.closed.at)
	}
	return drawn
}

func links(targets map[string]string) object {
	drawn := object{}
	for name, target := range targets {
		drawn[name] = object{"href": target}
	}
	return drawn
}

func association(c *call, p *pull) string {
	if p.repo.mayPush(p.author) {
		return "COLLABORATOR"
	}
	return "NONE"
}

// drawWholePull returns a single pull request.
func drawWholePull(c *call, p *pull) object {
	drawn := drawPull(c, p)
	for key, value := range (object{
		"merged": p.merged, "mergeable": nil, "mergeable_state": "unknown", "rebaseable": nil, "merged_by": nil, "comments": len(p.comments),
		"review_comments": 0, "maintainer_can_modify": false, "commits": 1, "additions": 1, "deletions": 1, "changed_files": 1,
	}) {
		drawn[key] = value
	}
	if p.merged {
		drawn["merged_by"] = drawUser(c, p.closed.by)
	}
	return drawn
}

// drawIssue returns a pull request as an issue.
func drawIssue(c *call, p *pull) object {
	url, html := c.s.API()+"repos/"+p.repo.fullName()+"/issues/"+itoa(p.number), c.s.page(p.repo)+"/pull/"+itoa(p.number)
	pullURL := c.s.API() + "repos/" + p.repo.fullName() + "/pulls/" + itoa(p.number)
	drawn := object{
		"url": url, "repository_url": c.s.API() + "repos/" + p.repo.fullName(), "labels_url": url + "/labels{/name}", "comments_url": url + "/comments",
		"events_url": url + "/events", "html_url": html, "id": p.id, "node_id": node(p.id), "number": p.number, "title": p.title, "user": drawUser(c, p.author),
		"labels": drawLabels(c, p), "state": "open", "locked": false, "assignee": nil, "assignees": drawUsers(c, p.assignees), "milestone": nil,
		"comments": len(p.comments), "created_at": stamp(p.created), "updated_at": stamp(p.updated), "closed_at": nil, "body": orNull(p.body),
		"author_association": association(c, p), "closed_by": nil, "state_reason": nil, "draft": p.draft,
		"pull_request": object{"url": pullURL, "html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch", "merged_at": nil},
	}
	if p.closed != nil {
		drawn["state"], drawn["closed_at"], drawn["closed_by"] = "closed", stamp(p.closed.at), drawUser(c, p.closed.by)
	}
	if p.merged {
		drawn["pull_request"].(object)["merged_at"] = stamp(p.closed.at)
	}
	return drawn
}

func drawEvent(c *call, e *event) object {
	return object{
		"id": e.id, "node_id": node(e.id), "url": c.s.API() + "repos/" + c.repo.fullName() + "/issues/events/" + itoa(int(e.id)),
		"actor": drawUser(c, e.by), "event": e.kind, "commit_id": orNull(e.commit), "commit_url": nil, "created_at": stamp(e.at),
		"performed_via_github_app": nil,
	}
}

func drawComment(c *call, one *comment) object {
	id, number, issues := itoa(int(one.id)), itoa(one.number), c.s.API()+"repos/"+one.repo.fullName()+"/issues/"
	return object{
		"id": one.id, "node_id": node(one.id), "url": issues + "comments/" + id, "issue_url": issues + number,
		"html_url": c.s.page(one.repo) + "/" + one.page + "/" + number + "#issuecomment-" + id, "user": drawUser(c, one.author), "body": one.body,
		"created_at": stamp(one.created), "updated_at": stamp(one.updated), "author_association": "NONE", "performed_via_github_app": nil,
	}
}

func drawReview(p *pull) func(*call, *review) object {
	return func(c *call, one *review) object {
		html := c.s.page(p.repo) + "/pull/" + itoa(p.number) + "#pullrequestreview-" + itoa(int(one.id))
		url := c.s.API() + "repos/" + p.repo.fullName() + "/pulls/" + itoa(p.number)
		association := "NONE"
		if p.repo.mayPush(one.author) {
			association = "COLLABORATOR"
		}
		return object{
			"id": one.id, "node_id": node(one.id), "user": drawUser(c, one.author), "body": one.body, "state": one.state, "commit_id": one.commit,
			"html_url": html, "pull_request_url": url, "submitted_at": stamp(one.at), "author_association": association,
			"_links": links(map[string]string{"html": html, "pull_request": url}),
		}
	}
}
