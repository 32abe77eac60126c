package giteatest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/scm/forgetest"
)

// fill adds what no client in the tests reads: keys with the same value.
func fill(drawn object, value any, keys ...string) object {
	for _, key := range keys {
		if _, has := drawn[key]; !has {
			drawn[key] = value
		}
	}
	return drawn
}

// noTime is Gitea's time of what never happened.
const noTime = "0001-01-01T00:00:00Z"

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func drawUser(c *call, u *user) object {
	drawn := object{
		"id": u.ID, "login": u.Login, "username": u.Login, "email": lower(u.Login) + "@noreply.example.com",
		"avatar_url": c.s.URL() + "/avatars/1", "html_url": c.s.URL() + "/" + u.Login, "active": true, "visibility": "public",
	}
	fill(drawn, "", "login_name", "full_name", "language", "location", "website", "description")
	fill(drawn, 0, "source_id", "followers_count", "following_count", "starred_repos_count")
	fill(drawn, false, "is_admin", "restricted", "prohibit_login")
	return fill(drawn, noTime, "created", "last_login")
}

func drawUsers(c *call, users []*user) []object {
	return forgetest.DrawAll(c, users, drawUser)
}

// drawTeam draws a team as they are created today: its permission is none, and the
// units have permissions.
func drawTeam(_ *call, t *team) object {
	return object{
		"id": t.id, "name": t.name, "description": "", "organization": nil, "permission": "none", "can_create_org_repo": false,
		"includes_all_repositories": false, "units": slices.Sorted(maps.Keys(t.units)), "units_map": t.units,
	}
}

func drawLabel(c *call, l *label) object {
	return object{"id": l.id, "name": l.name, "color": "ededed", "description": "", "url": c.s.URL(), "exclusive": false, "is_archived": false}
}

func drawLabels(c *call, p *pull) []object {
	drawn := []object{}
	for _, name := range p.Labels {
		drawn = append(drawn, drawLabel(c, own(p.Repo).labelNamed(name)))
	}
	return drawn
}

func drawRepository(c *call, r *forgetest.Repository) object {
	drawn := object{
		"id": r.ID, "owner": drawUser(c, c.s.hub.User(r.Owner)), "name": r.Name, "full_name": r.FullName(), "description": "",
		"empty": len(r.Bare.Heads()) == 0 || own(r).settling > 0, "private": r.Private, "fork": r.Fork != nil, "template": false, "mirror": false,
		"html_url": r.Page(), "url": c.s.URL() + prefix + "/repos/" + r.FullName(), "clone_url": r.Page() + ".git",
		"default_branch": r.Bare.DefaultBranch(), "archived": r.Archived,
		"permissions": object{"admin": r.Administers(c.who()), "push": r.MayPush(c.who()), "pull": true}, "has_pull_requests": true,
		"has_issues": true, "has_code": true, "has_wiki": false, "allow_merge_commits": own(r).ways["merge"], "allow_rebase": own(r).ways["rebase"],
		"allow_rebase_explicit": own(r).ways["rebase-merge"], "allow_squash_merge": own(r).ways["squash"],
		"allow_fast_forward_only_merge": own(r).ways["fast-forward-only"], "allow_rebase_update": true, "default_merge_style": own(r).preferred,
		"default_delete_branch_after_merge": r.AutoDelete, "object_format_name": "sha1", "internal": false,
		"autodetect_manual_merge": own(r).detect, "projects_mode": "all", "archived_at": "1970-01-01T00:00:00Z", "ssh_url": "git@" + r.FullName(),
		"internal_tracker": object{"enable_time_tracker": true, "allow_only_contributors_to_track_time": true, "enable_issue_dependencies": true},
	}
	fill(drawn, "", "language", "languages_url", "link", "original_url", "website", "avatar_url", "mirror_interval")
	fill(drawn, noTime, "created_at", "updated_at", "mirror_updated")
	fill(drawn, false, "has_actions", "has_packages", "has_projects", "has_releases", "ignore_whitespace_conflicts", "allow_manual_merge", "default_allow_maintainer_edit")
	fill(drawn, []string{}, "topics", "licenses")
	return fill(drawn, 0, "size", "stars_count", "forks_count", "watchers_count", "branch_count", "open_issues_count", "open_pr_counter", "release_counter")
}

// drawTeams draws the teams whose review was requested.
func drawTeams(c *call, p *pull) []object {
	drawn := []object{}
	for _, t := range c.s.teams {
		if lower(t.org) == lower(p.Repo.Owner) && slices.Contains(p.Teams, t.name) {
			drawn = append(drawn, drawTeam(c, t))
		}
	}
	return drawn
}

// drawCommit reads one commit of the repository. Its message ends with a line break.
func drawCommit(c *call, r *forgetest.Repository, commit string) object {
	one := r.Bare.ReadCommit(commit)
	parents := []object{}
	for _, parent := range one.Parents {
		parents = append(parents, object{"sha": parent, "url": c.s.URL(), "created": "0001-01-01T00:00:00Z"})
	}
	return object{
		"url": c.s.URL(), "sha": commit, "created": stamp(one.Committer.At), "html_url": r.Page() + "/commit/" + commit, "parents": parents,
		"commit": object{
			"url": c.s.URL(), "message": strings.TrimRight(one.Message, "\n") + "\n",
			"author": forgetest.DrawSignature(one.Author), "committer": forgetest.DrawSignature(one.Committer), "tree": object{"sha": one.Tree, "url": c.s.URL(), "created": stamp(one.Committer.At)}, "verification": nil,
		},
		"author": nil, "committer": nil, "files": nil, "stats": nil,
	}
}

// drawPull returns the current commit of the head's branch, even if the pull request
// was closed long ago. Only without the branch it is the head at the time of closing.
func drawPull(c *call, p *pull) object {
	headRef, headCommit := p.Head, p.From.Bare.Head(p.Head)
	if headCommit == "" {
		headRef, headCommit = p.Ref(), p.HeadCommit
	}
	base := p.Repo.Bare.Head(p.Base)
	_, clean := "", base != ""
	if clean && p.IsOpen() {
		_, clean = p.Repo.Bare.Merge(base, p.HeadCommit)
	}
	html := p.Repo.Page() + "/pulls/" + itoa(p.Number)
	drawn := object{
		"id": p.ID, "url": html, "number": p.Number, "user": drawUser(c, p.Author), "title": p.Title, "body": p.Body,
		"labels": drawLabels(c, p), "milestone": nil, "assignee": nil, "assignees": drawUsers(c, p.Assignees),
		"requested_reviewers": drawUsers(c, p.Reviewers), "requested_reviewers_teams": drawTeams(c, p), "state": "open", "draft": isDraft(p),
		"is_locked": false, "comments": len(p.Comments()), "html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch",
		"mergeable": clean && progressOf(p).waits == 0 && p.IsOpen(), "merged": p.Merged, "merged_at": nil, "merge_commit_sha": nil, "merged_by": nil,
		"allow_maintainer_edit": false, "merge_base": base, "due_date": nil, "created_at": stamp(p.Created), "updated_at": stamp(p.Updated),
		"closed_at": nil, "pin_order": 0, "content_version": 0,
		"base": object{"label": p.Base, "ref": p.Base, "sha": base, "repo_id": p.Repo.ID, "repo": drawRepository(c, p.Repo)},
		"head": object{"label": p.Head, "ref": headRef, "sha": headCommit, "repo_id": p.From.ID, "repo": drawRepository(c, p.From)},
	}
	if !c.listing {
		fill(drawn, 0, "additions", "deletions", "changed_files")
	}
	if p.Closed != nil {
		drawn["state"], drawn["closed_at"] = "closed", stamp(p.Closed.At)
	}
	if p.Merged {
		drawn["merged_at"], drawn["merge_commit_sha"], drawn["merged_by"] = stamp(p.Closed.At), p.MergeCommit, drawUser(c, p.Closed.By)
	}
	return drawn
}

// kindOf returns Gitea's name for an event.
func kindOf(e *event) string {
	return cmp.Or(map[string]string{
		forgetest.Commented: "comment", forgetest.Closed: "close", forgetest.Reopened: "reopen", forgetest.Merged: "merge_pull",
		forgetest.HeadDeleted: "delete_branch", forgetest.HeadPushed: "pull_push",
	}[e.Kind], e.Kind)
}

// drawEvent draws an entry of a timeline. A label is an object, and the body tells
// whether it was added.
func drawEvent(c *call, e *event) object {
	drawn := drawText(c, e)
	drawn["type"], drawn["ref_action"], drawn["removed_assignee"] = kindOf(e), "none", false
	if e.Kind == labeled {
		drawn["label"], drawn["body"] = drawLabel(c, own(e.Repo).labelNamed(e.Body)), "1"
	}
	if e.Kind == forgetest.HeadDeleted {
		drawn["old_ref"], drawn["body"] = e.Body, ""
	}
	fill(drawn, "", "old_title", "new_title", "old_ref", "new_ref", "ref_commit_sha")
	fill(drawn, 0, "old_project_id", "project_id", "review_id")
	return fill(drawn, nil, "old_milestone", "milestone", "tracked_time", "ref_issue", "ref_comment", "label", "assignee", "assignee_team", "resolve_doer", "dependent_issue")
}

func drawComment(c *call, e *event) object {
	drawn := drawText(c, e)
	drawn["original_author"], drawn["original_author_id"], drawn["assets"] = "", 0, []string{}
	return drawn
}

func drawText(c *call, e *event) object {
	drawn := object{
		"id": e.ID, "user": drawUser(c, e.By), "body": e.Body, "created_at": stamp(e.Created), "updated_at": stamp(e.Updated),
		"pull_request_url": "", "issue_url": "",
	}
	page := e.Repo.Page() + "/issues/" + itoa(e.Number)
	if e.Pull == nil {
		drawn["issue_url"] = page
	} else {
		page = e.Repo.Page() + "/pulls/" + itoa(e.Pull.Number)
		drawn["pull_request_url"] = page
	}
	drawn["html_url"] = page + "#issuecomment-" + itoa(int(e.ID))
	return drawn
}

func drawStatus(c *call, one *status) object {
	return object{
		"id": one.ID, "status": one.State, "target_url": one.URL, "description": one.Description, "context": one.Context, "url": c.s.URL(),
		"creator": drawUser(c, one.By), "created_at": stamp(one.At), "updated_at": stamp(one.At),
	}
}
