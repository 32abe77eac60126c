package githubtest

import (
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/forgetest"
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
	for _, name := range p.Labels {
		id := own(p.Repo).labelID(name)
		drawn = append(drawn, object{
			"id": id, "node_id": node(id), "url": c.s.API() + "repos/" + p.Repo.FullName() + "/labels/" + name, "name": name, "description": "",
			"color": "ededed", "default": false,
		})
	}
	return drawn
}

func drawTeams(c *call, p *pull) []object {
	drawn := []object{}
	for i, slug := range p.Teams {
		url := c.s.API() + "organizations/1/team/" + itoa(i+1)
		drawn = append(drawn, object{
			"id": i + 1, "node_id": node(int64(i)), "url": url, "members_url": url + "/members{/member}", "name": slug, "description": nil, "permission": "pull",
			"html_url": c.s.URL() + "/orgs/" + p.Repo.Owner + "/teams/" + slug, "repositories_url": url + "/repos", "slug": slug, "parent": nil, "type": "organization",
		})
	}
	return drawn
}

// drawEnd returns the head or the base.
func drawEnd(c *call, r *forgetest.Repository, branch, commit string) object {
	return object{
		"label": r.Owner + ":" + branch, "ref": branch, "sha": commit, "user": drawUser(c, c.s.hub.User(r.Owner)), "repo": drawRepository(c, r, c.who()),
	}
}

// drawPull returns a pull request as in a list.
func drawPull(c *call, p *pull) object {
	url, html := c.s.API()+"repos/"+p.Repo.FullName()+"/pulls/"+itoa(p.Number), p.Repo.Page()+"/pull/"+itoa(p.Number)
	issue := c.s.API() + "repos/" + p.Repo.FullName() + "/issues/" + itoa(p.Number)
	statuses := c.s.API() + "repos/" + p.Repo.FullName() + "/statuses/" + p.HeadCommit
	drawn := object{
		"url": url, "id": p.ID, "node_id": node(p.ID), "html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch", "issue_url": issue,
		"number": p.Number, "state": "open", "locked": false, "title": p.Title, "user": drawUser(c, p.Author), "body": orNull(p.Body),
		"created_at": stamp(p.Created), "updated_at": stamp(p.Updated), "closed_at": nil, "merged_at": nil, "merge_commit_sha": orNull(p.MergeCommit),
		"assignee": nil, "assignees": drawUsers(c, p.Assignees), "requested_reviewers": drawUsers(c, p.Reviewers), "requested_teams": drawTeams(c, p),
		"labels": drawLabels(c, p), "milestone": nil, "draft": of(p).draft, "commits_url": url + "/commits", "review_comments_url": url + "/comments",
		"review_comment_url": url + "/comments{/number}", "comments_url": issue + "/comments", "statuses_url": statuses,
		"head": drawEnd(c, p.From, p.Head, p.HeadCommit), "base": drawEnd(c, p.Repo, p.Base, of(p).baseCommit), "author_association": association(c, p),
		"auto_merge": nil, "active_lock_reason": nil, "_links": links(map[string]string{
			"self": url, "html": html, "issue": issue, "comments": issue + "/comments", "review_comments": url + "/comments",
			"review_comment": url + "/comments{/number}", "commits": url + "/commits", "statuses": statuses,
		}),
	}
	if len(p.Assignees) > 0 {
		drawn["assignee"] = drawUser(c, p.Assignees[0])
	}
	if p.Closed != nil {
		drawn["state"], drawn["closed_at"] = "closed", stamp(p.Closed.At)
	}
	if p.Merged {
		drawn["merged_at"] = stamp(p.Closed.At)
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
	if p.Repo.MayPush(p.Author) {
		return "COLLABORATOR"
	}
	return "NONE"
}

// drawWholePull returns a single pull request.
func drawWholePull(c *call, p *pull) object {
	drawn := drawPull(c, p)
	for key, value := range (object{
		"merged": p.Merged, "mergeable": nil, "mergeable_state": "unknown", "rebaseable": nil, "merged_by": nil, "comments": len(p.Comments()),
		"review_comments": 0, "maintainer_can_modify": false, "commits": 1, "additions": 1, "deletions": 1, "changed_files": 1,
	}) {
		drawn[key] = value
	}
	if p.Merged {
		drawn["merged_by"] = drawUser(c, p.Closed.By)
	}
	return drawn
}

// drawIssue returns a pull request as an issue.
func drawIssue(c *call, p *pull) object {
	url, html := c.s.API()+"repos/"+p.Repo.FullName()+"/issues/"+itoa(p.Number), p.Repo.Page()+"/pull/"+itoa(p.Number)
	pullURL := c.s.API() + "repos/" + p.Repo.FullName() + "/pulls/" + itoa(p.Number)
	drawn := object{
		"url": url, "repository_url": c.s.API() + "repos/" + p.Repo.FullName(), "labels_url": url + "/labels{/name}", "comments_url": url + "/comments",
		"events_url": url + "/events", "html_url": html, "id": p.ID, "node_id": node(p.ID), "number": p.Number, "title": p.Title, "user": drawUser(c, p.Author),
		"labels": drawLabels(c, p), "state": "open", "locked": false, "assignee": nil, "assignees": drawUsers(c, p.Assignees), "milestone": nil,
		"comments": len(p.Comments()), "created_at": stamp(p.Created), "updated_at": stamp(p.Updated), "closed_at": nil, "body": orNull(p.Body),
		"author_association": association(c, p), "closed_by": nil, "state_reason": nil, "draft": of(p).draft,
		"pull_request": object{"url": pullURL, "html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch", "merged_at": nil},
	}
	if p.Closed != nil {
		drawn["state"], drawn["closed_at"], drawn["closed_by"] = "closed", stamp(p.Closed.At), drawUser(c, p.Closed.By)
	}
	if p.Merged {
		drawn["pull_request"].(object)["merged_at"] = stamp(p.Closed.At)
	}
	return drawn
}

// eventKinds are GitHub's names.
var eventKinds = map[string]string{
	forgetest.Closed: "closed", forgetest.Reopened: "reopened", forgetest.Merged: "merged",
	forgetest.HeadDeleted: "head_ref_deleted", forgetest.HeadPushed: "head_ref_force_pushed",
}

func drawEvent(c *call, e *event) object {
	return object{
		"id": e.ID, "node_id": node(e.ID), "url": c.s.API() + "repos/" + c.repo.model.FullName() + "/issues/events/" + itoa(int(e.ID)),
		"actor": drawUser(c, e.By), "event": eventKinds[e.Kind], "commit_id": orNull(e.Body), "commit_url": nil, "created_at": stamp(e.Created),
		"performed_via_github_app": nil,
	}
}

func drawComment(c *call, one *comment) object {
	id, number, issues, page := itoa(int(one.ID)), itoa(one.Number), c.s.API()+"repos/"+one.Repo.FullName()+"/issues/", "pull"
	if one.Pull == nil {
		page = "issues"
	}
	return object{
		"id": one.ID, "node_id": node(one.ID), "url": issues + "comments/" + id, "issue_url": issues + number,
		"html_url": one.Repo.Page() + "/" + page + "/" + number + "#issuecomment-" + id, "user": drawUser(c, one.By), "body": one.Body,
		"created_at": stamp(one.Created), "updated_at": stamp(one.Updated), "author_association": "NONE", "performed_via_github_app": nil,
	}
}

// reviewState returns GitHub's name for the state of a review.
func reviewState(one *review) string {
	if one.Dismissed {
		return "DISMISSED"
	}
	return map[scm.ReviewState]string{
		scm.Approved: "APPROVED", scm.ChangesRequested: "CHANGES_REQUESTED", scm.Commented: "COMMENTED",
	}[one.State]
}

func drawReview(p *pull) func(*call, *review) object {
	return func(c *call, one *review) object {
		html := p.Repo.Page() + "/pull/" + itoa(p.Number) + "#pullrequestreview-" + itoa(int(one.ID))
		url := c.s.API() + "repos/" + p.Repo.FullName() + "/pulls/" + itoa(p.Number)
		association := "NONE"
		if p.Repo.MayPush(one.Author) {
			association = "COLLABORATOR"
		}
		return object{
			"id": one.ID, "node_id": node(one.ID), "user": drawUser(c, one.Author), "body": "", "state": reviewState(one), "commit_id": one.Commit,
			"html_url": html, "pull_request_url": url, "submitted_at": stamp(one.At), "author_association": association,
			"_links": links(map[string]string{"html": html, "pull_request": url}),
		}
	}
}
