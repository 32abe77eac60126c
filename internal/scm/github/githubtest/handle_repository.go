package githubtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

func (c *call) getRepository() *reply { return ok(c.drawFullRepository(c.repo, c.who())) }

func (c *call) getBranch() *reply {
	name := c.r.PathValue("branch")
	commit := c.repo.bare.Head(name)
	if commit == "" {
		return refuse(http.StatusNotFound, "Branch not found")
	}
	url := c.API() + "repos/" + c.repo.fullName() + "/branches/" + name
	protection, protected := c.drawProtection(name)
	return ok(object{
		"name": name, "commit": c.drawCommit(c.repo, commit), "protected": protected, "protection_url": url + "/protection",
		"_links": object{"self": url, "html": c.page(c.repo) + "/tree/" + name}, "protection": protection,
	})
}

func (c *call) getGitCommit() *reply {
	id, known := c.repo.bare.Commit(c.r.PathValue("sha"))
	if !known || id != c.r.PathValue("sha") {
		return refuse(http.StatusNotFound, "Not Found")
	}
	drawn := c.drawCommit(c.repo, id)
	inner := drawn["commit"].(object)
	for _, key := range []string{"sha", "node_id", "html_url", "parents"} {
		inner[key] = drawn[key]
	}
	delete(inner, "comment_count")
	return ok(inner)
}

// compare returns BASE...HEAD in pages, like GitHub: the commits of a page and the
// total number.
func (c *call) compare() *reply {
	base, head, dotted := strings.Cut(c.r.PathValue("basehead"), "...")
	from, known := c.repo.bare.Commit(base)
	to, known2 := c.repo.bare.Commit(head)
	if !dotted || !known || !known2 {
		return refuse(http.StatusNotFound, "Not Found")
	}
	meeting, err := c.repo.bare.Try("merge-base", from, to)
	if err != nil {
		return refuse(http.StatusNotFound, "No common ancestor between "+base+" and "+head+".")
	}
	ahead, behind := c.repo.bare.Between(from, to), c.repo.bare.Between(to, from)
	part, header := page(c, ahead)
	drawn := []object{}
	for _, commit := range part {
		drawn = append(drawn, c.drawCommit(c.repo, commit))
	}
	html := c.page(c.repo) + "/compare/" + base + "..." + head
	url := c.API() + "repos/" + c.repo.fullName() + "/compare/" + base + "..." + head
	return &reply{Status: http.StatusOK, Header: header, Body: object{
		"url": url, "html_url": html, "permalink_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch",
		"base_commit": c.drawCommit(c.repo, from), "merge_base_commit": c.drawCommit(c.repo, meeting), "status": relation(len(ahead), len(behind)),
		"ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead), "commits": drawn, "files": []object{},
	}}
}

func relation(ahead, behind int) string {
	switch {
	case ahead > 0 && behind > 0:
		return "diverged"
	case ahead > 0:
		return "ahead"
	case behind > 0:
		return "behind"
	}
	return "identical"
}

// listReleases returns drafts to users who may push, newest first.
func (c *call) listReleases() *reply {
	var shown []*release
	for _, one := range c.repo.releases {
		if !one.draft || c.token.pushes(c.repo) {
			shown = append(shown, one)
		}
	}
	slices.SortStableFunc(shown, func(a, b *release) int { return b.published.Compare(a.published) })
	return list(c, shown, c.drawRelease)
}

func (c *call) drawRelease(one *release) object {
	url := c.API() + "repos/" + c.repo.fullName() + "/releases/" + itoa(int(one.id))
	var published any = one.published.Format(time.RFC3339)
	if one.draft {
		published = nil
	}
	return object{
		"id": one.id, "node_id": node(one.id), "url": url, "assets_url": url + "/assets", "upload_url": url + "/assets{?name,label}",
		"html_url": c.page(c.repo) + "/releases/tag/" + one.tag, "tarball_url": url + "/tarball", "zipball_url": url + "/zipball",
		"tag_name": one.tag, "target_commitish": "main", "name": one.tag, "body": "", "draft": one.draft, "prerelease": one.prerelease,
		"created_at": one.published.Format(time.RFC3339), "published_at": published, "author": c.drawUser(one.by), "assets": []object{},
	}
}
