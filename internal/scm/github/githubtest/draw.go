package githubtest

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

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

// page returns the web URL of the repository.
func (s *Server) page(r *forgetest.Repository) string { return s.URL() + "/" + r.FullName() }

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

func drawPermissions(c *call, r *forgetest.Repository, u *user) object {
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
		"svn_url": r.Page(), "default_branch": defaultBranch(c, r), "archived": r.Archived, "disabled": false, "visibility": visibility(r.Private),
		"has_issues": true, "has_projects": false, "has_downloads": false, "has_wiki": false, "has_pages": false, "has_discussions": false,
		"created_at": r.Created.Format(time.RFC3339), "updated_at": r.Created.Format(time.RFC3339), "pushed_at": r.Pushed.Format(time.RFC3339),
		"permissions": drawPermissions(c, r, seenBy),
	}
	addresses(drawn, url, repositoryAddresses)
	for key := range strings.FieldsSeq(repositoryCounts) {
		drawn[key] = 0
	}
	return drawn
}

func visibility(private bool) string {
	if private {
		return "private"
	}
	return "public"
}

// defaultBranch returns the branch of HEAD.
func defaultBranch(c *call, r *forgetest.Repository) string {
	return strings.TrimPrefix(r.Bare.Run("symbolic-ref", "HEAD"), "refs/heads/")
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
	const format = "--format=%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
	part := strings.SplitN(r.Bare.Run("log", "-1", format, commit), "\x00", 9)
	url := c.s.API() + "repos/" + r.FullName() + "/git/commits/"
	parents := []object{}
	for parent := range strings.FieldsSeq(part[1]) {
		parents = append(parents, object{"sha": parent, "url": url + parent, "html_url": r.Page() + "/commit/" + parent})
	}
	unsigned := object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
	return object{
		"sha": commit, "node_id": node(r.ID), "url": url + commit, "html_url": r.Page() + "/commit/" + commit, "comments_url": url + commit + "/comments",
		"commit": object{
			"url": url + commit, "message": strings.TrimRight(part[8], "\n"), "comment_count": 0, "verification": unsigned,
			"author": object{"name": part[2], "email": part[3], "date": part[4]}, "committer": object{"name": part[5], "email": part[6], "date": part[7]},
			"tree": object{"sha": part[0], "url": c.s.API() + "repos/" + r.FullName() + "/git/trees/" + part[0]},
		},
		"author": account(c, part[3]), "committer": account(c, part[6]), "parents": parents,
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
