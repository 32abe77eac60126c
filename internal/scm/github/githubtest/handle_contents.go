package githubtest

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"path"
)

// getContents returns one file. Directories, symbolic links and submodules are not
// supported.
func (c *call) getContents() *reply {
	branch := cmp.Or(c.r.URL.Query().Get("ref"), c.defaultBranch(c.repo))
	name := c.r.PathValue("path")
	blob, err := c.repo.bare.Try("rev-parse", "--verify", "--quiet", "refs/heads/"+branch+":"+name)
	if err != nil {
		return refuse(http.StatusNotFound, "Not Found")
	}
	if kind := c.repo.bare.Run("cat-file", "-t", blob); kind != "blob" {
		c.t.Errorf("githubtest: %s is a %s, which is not drawn", name, kind)
		return refuse(http.StatusNotImplemented, "githubtest draws files only")
	}
	text := c.repo.bare.Run("cat-file", "blob", blob)
	self := c.API() + "repos/" + c.repo.fullName() + "/contents/" + name + "?ref=" + branch
	git, html := c.API()+"repos/"+c.repo.fullName()+"/git/blobs/"+blob, c.page(c.repo)+"/blob/"+branch+"/"+name
	return ok(object{
		"type": "file", "encoding": "base64", "size": len(text), "name": path.Base(name), "path": name, "sha": blob,
		"content": base64.StdEncoding.EncodeToString([]byte(text)), "url": self, "git_url": git, "html_url": html,
		"download_url": c.URL() + "/raw/" + name, "_links": object{"self": self, "git": git, "html": html},
	})
}
