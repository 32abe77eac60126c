package githubtest

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/forgetest"
)

func node(id int64) string { return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "node:%d", id)) }

// orNull returns the text, or null if it is empty.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func avatar(c *call, u *user) string { return fmt.Sprintf("%s/avatars/u/%d", c.s.URL(), u.ID) }

// addresses adds NAME_url for every name.
func addresses(into object, base string, names string) {
	for name := range strings.FieldsSeq(names) {
		into[name+"_url"] = base + "/" + name
	}
}

func drawUser(c *call, u *user) object {
	kind := "User"
	if u.Bot {
		kind = "Bot"
	}
	if u.Organization {
		kind = "Organization"
	}
	url := c.s.API() + "users/" + u.Login
	drawn := object{
		"login": u.Login, "id": u.ID, "node_id": node(u.ID), "avatar_url": avatar(c, u), "gravatar_id": "", "url": url,
		"html_url": c.s.URL() + "/" + u.Login, "type": kind, "site_admin": false,
	}
	addresses(drawn, url, "events followers following gists organizations received_events repos starred subscriptions")
	return drawn
}

// drawSelf returns a full account.
func drawSelf(c *call, u *user) object {
	drawn := drawUser(c, u)
	for _, key := range strings.Fields("bio blog company email hireable location name") {
		drawn[key] = nil
	}
	for _, key := range strings.Fields("followers following public_gists public_repos") {
		drawn[key] = 0
	}
	drawn["user_view_type"] = "public" // without the scope user
	drawn["created_at"], drawn["updated_at"] = "2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"
	return drawn
}

func drawApp(c *call, u *user) object {
	return object{
		"id": u.ID, "node_id": node(u.ID), "slug": u.Login, "owner": drawUser(c, u), "name": u.Login, "description": nil,
		"external_url": "https://ci.example.com", "html_url": c.s.URL() + "/apps/" + u.Login, "created_at": "2020-01-01T00:00:00Z",
		"updated_at": "2020-01-01T00:00:00Z", "permissions": object{"checks": "write"}, "events": []string{},
	}
}

func drawPermissions(r *forgetest.Repository, u *user) object {
	own := r.Permission(u)
	return object{
		"admin": own == "admin", "maintain": own == "admin", "push": r.MayPush(u), "triage": r.MayPush(u), "pull": own != "none",
	}
}

const (
	repositoryAddresses = "archive assignees blobs branches collaborators comments commits compare contents contributors deployments " +
		"downloads events forks git_commits git_refs git_tags hooks issue_comment issue_events issues keys labels languages merges " +
		"milestones notifications pulls releases stargazers statuses subscribers subscription tags teams trees"
	repositoryCounts = "forks forks_count open_issues open_issues_count size stargazers_count watchers watchers_count"
)

func drawRepository(c *call, r *forgetest.Repository, seenBy *user) object {
	url := c.s.API() + "repos/" + r.FullName()
	host := strings.TrimPrefix(c.s.URL(), "http://")
	drawn := object{
		"id": r.ID, "node_id": node(r.ID), "name": r.Name, "full_name": r.FullName(), "private": r.Private, "owner": drawUser(c, c.s.hub.User(r.Owner)),
		"html_url": r.Page(), "description": nil, "fork": r.Fork != nil, "url": url, "homepage": nil, "language": nil, "license": nil, "mirror_url": nil,
		"clone_url": r.Page() + ".git", "git_url": "git://" + host + "/" + r.FullName() + ".git", "ssh_url": "git@" + host + ":" + r.FullName() + ".git",
		"svn_url": r.Page(), "default_branch": r.Bare.DefaultBranch(), "archived": r.Archived, "disabled": false, "visibility": map[bool]string{true: "private", false: "public"}[r.Private],
		"has_issues": true, "has_projects": false, "has_downloads": false, "has_wiki": false, "has_pages": false, "has_discussions": false,
		"created_at": r.Created.Format(time.RFC3339), "updated_at": r.Created.Format(time.RFC3339), "pushed_at": r.Pushed.Format(time.RFC3339),
		"permissions": drawPermissions(r, seenBy),
	}
	addresses(drawn, url, repositoryAddresses)
	for key := range strings.FieldsSeq(repositoryCounts) {
		drawn[key] = 0
	}
	return drawn
}

func drawFullRepository(c *call, r *forgetest.Repository, seenBy *user) object {
	drawn := drawRepository(c, r, seenBy)
	drawn["network_count"], drawn["subscribers_count"] = 0, 0
	if c.token.pushes(r) { // GitHub returns these to users who may push
		drawn["allow_merge_commit"], drawn["allow_squash_merge"], drawn["allow_rebase_merge"] = own(r).methods["merge"], own(r).methods["squash"], own(r).methods["rebase"]
		drawn["allow_auto_merge"], drawn["delete_branch_on_merge"] = false, r.AutoDelete
	}
	return drawn
}

// drawCommit reads one commit of the repository.
func drawCommit(c *call, r *forgetest.Repository, commit string) object {
	one := r.Bare.ReadCommit(commit)
	url := c.s.API() + "repos/" + r.FullName() + "/git/commits/"
	parents := []object{}
	for _, parent := range one.Parents {
		parents = append(parents, object{"sha": parent, "url": url + parent, "html_url": r.Page() + "/commit/" + parent})
	}
	unsigned := object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
	return object{
		"sha": commit, "node_id": node(r.ID), "url": url + commit, "html_url": r.Page() + "/commit/" + commit, "comments_url": url + commit + "/comments",
		"commit": object{
			"url": url + commit, "message": strings.TrimRight(one.Message, "\n"), "comment_count": 0, "verification": unsigned,
			"author": forgetest.DrawSignature(one.Author), "committer": forgetest.DrawSignature(one.Committer),
			"tree": object{"sha": one.Tree, "url": c.s.API() + "repos/" + r.FullName() + "/git/trees/" + one.Tree},
		},
		"author": account(c, one.Author.Email), "committer": account(c, one.Committer.Email), "parents": parents,
	}
}

// account returns the account of an email address, null for an unknown one.
func account(c *call, email string) any {
	login, known := strings.CutSuffix(email, "@users.noreply.github.com")
	if u := c.s.hub.Users[lower(login)]; known && u != nil {
		return drawUser(c, u)
	}
	return nil
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func drawUsers(c *call, users []*user) []object {
	return forgetest.DrawAll(c, users, drawUser)
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
		"head": drawEnd(c, p.From, p.Head, p.HeadCommit), "base": drawEnd(c, p.Repo, p.Base, of(p).baseCommit), "author_association": association(p.Repo, p.Author),
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

func association(r *forgetest.Repository, u *user) string {
	return map[bool]string{true: "COLLABORATOR", false: "NONE"}[r.MayPush(u)]
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
		"author_association": association(p.Repo, p.Author), "closed_by": nil, "state_reason": nil, "draft": of(p).draft,
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
		"created_at": stamp(one.Created), "updated_at": stamp(c.s.updated(one)), "author_association": "NONE", "performed_via_github_app": nil,
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
		return object{
			"id": one.ID, "node_id": node(one.ID), "user": drawUser(c, one.Author), "body": "", "state": reviewState(one), "commit_id": one.Commit,
			"html_url": html, "pull_request_url": url, "submitted_at": stamp(one.At), "author_association": association(p.Repo, one.Author),
			"_links": links(map[string]string{"html": html, "pull_request": url}),
		}
	}
}
