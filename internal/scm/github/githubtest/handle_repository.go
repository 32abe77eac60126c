package githubtest

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"path"
	"strings"
	"time"
)

func getRepository(c *call) *reply { return ok(drawFullRepository(c, c.repo.model, c.who())) }

func getBranch(c *call) *reply {
	name := c.r.PathValue("branch")
	commit := c.repo.model.Bare.Head(name)
	if commit == "" {
		return refuse(http.StatusNotFound, "Branch not found")
	}
	url := c.s.API() + "repos/" + c.repo.model.FullName() + "/branches/" + name
	protection, protected := drawProtection(c, name)
	return ok(object{
		"name": name, "commit": drawCommit(c, c.repo.model, commit), "protected": protected, "protection_url": url + "/protection",
		"_links": object{"self": url, "html": c.repo.model.Page() + "/tree/" + name}, "protection": protection,
	})
}

func getGitCommit(c *call) *reply {
	id, known := c.repo.model.Bare.Commit(c.r.PathValue("sha"))
	if !known || id != c.r.PathValue("sha") {
		return refuse(http.StatusNotFound, "Not Found")
	}
	drawn := drawCommit(c, c.repo.model, id)
	inner := drawn["commit"].(object)
	for _, key := range []string{"sha", "node_id", "html_url", "parents"} {
		inner[key] = drawn[key]
	}
	delete(inner, "comment_count")
	return ok(inner)
}

// compare returns BASE...HEAD in pages, like GitHub: the commits of a page and the
// total number.
func compare(c *call) *reply {
	base, head, dotted := strings.Cut(c.r.PathValue("basehead"), "...")
	from, known := c.repo.model.Bare.Commit(base)
	to, known2 := c.repo.model.Bare.Commit(head)
	if !dotted || !known || !known2 {
		return refuse(http.StatusNotFound, "Not Found")
	}
	meeting, err := c.repo.model.Bare.Try("merge-base", from, to)
	if err != nil {
		return refuse(http.StatusNotFound, "No common ancestor between "+base+" and "+head+".")
	}
	ahead, behind := c.repo.model.Bare.Between(from, to), c.repo.model.Bare.Between(to, from)
	drawn, header := page(c, ahead, func(c *call, commit string) object { return drawCommit(c, c.repo.model, commit) })
	html := c.repo.model.Page() + "/compare/" + base + "..." + head
	url := c.s.API() + "repos/" + c.repo.model.FullName() + "/compare/" + base + "..." + head
	return &reply{Status: http.StatusOK, Header: header, Body: object{
		"url": url, "html_url": html, "permalink_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch",
		"base_commit": drawCommit(c, c.repo.model, from), "merge_base_commit": drawCommit(c, c.repo.model, meeting), "status": relation(len(ahead), len(behind)),
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
func listReleases(c *call) *reply {
	return list(c, c.repo.model.Published(c.token.pushes(c.repo.model)), drawRelease)
}

func getRelease(c *call) *reply {
	one, found := c.repo.model.PublishedAs(c.r.PathValue("tag"))
	if !found {
		return refuse(http.StatusNotFound, "Not Found")
	}
	return ok(drawRelease(c, one))
}

func drawRelease(c *call, one *release) object {
	url := c.s.API() + "repos/" + c.repo.model.FullName() + "/releases/" + itoa(int(one.ID))
	var published any = one.Published.Format(time.RFC3339)
	if one.Draft {
		published = nil
	}
	return object{
		"id": one.ID, "node_id": node(one.ID), "url": url, "assets_url": url + "/assets", "upload_url": url + "/assets{?name,label}",
		"html_url": c.repo.model.Page() + "/releases/tag/" + one.Tag, "tarball_url": url + "/tarball", "zipball_url": url + "/zipball",
		"tag_name": one.Tag, "target_commitish": "main", "name": one.Tag, "body": one.Notes, "draft": one.Draft, "prerelease": one.Prerelease,
		"created_at": one.Published.Format(time.RFC3339), "published_at": published, "author": drawUser(c, one.By), "assets": []object{},
	}
}

// getContents returns one file. Directories, symbolic links and submodules are not
// supported.
func getContents(c *call) *reply {
	branch := cmp.Or(c.r.URL.Query().Get("ref"), c.repo.model.Bare.DefaultBranch())
	name := c.r.PathValue("path")
	blob, err := c.repo.model.Bare.Try("rev-parse", "--verify", "--quiet", "refs/heads/"+branch+":"+name)
	if err != nil {
		return refuse(http.StatusNotFound, "Not Found")
	}
	if kind := c.repo.model.Bare.Run("cat-file", "-t", blob); kind != "blob" {
		c.s.t.Errorf("githubtest: %s is a %s, which is not drawn", name, kind)
		return refuse(http.StatusNotImplemented, "githubtest draws files only")
	}
	text := c.repo.model.Bare.Run("cat-file", "blob", blob)
	self := c.s.API() + "repos/" + c.repo.model.FullName() + "/contents/" + name + "?ref=" + branch
	git, html := c.s.API()+"repos/"+c.repo.model.FullName()+"/git/blobs/"+blob, c.repo.model.Page()+"/blob/"+branch+"/"+name
	return ok(object{
		"type": "file", "encoding": "base64", "size": len(text), "name": path.Base(name), "path": name, "sha": blob,
		"content": base64.StdEncoding.EncodeToString([]byte(text)), "url": self, "git_url": git, "html_url": html,
		"download_url": c.s.URL() + "/raw/" + name, "_links": object{"self": self, "git": git, "html": html},
	})
}
