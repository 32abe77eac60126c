package githubtest

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"path"
)

// getContents returns one file. Directories, symbolic links and submodules are not
// supported.
func getContents(c *call) *reply {
	branch := cmp.Or(c.r.URL.Query().Get("ref"), defaultBranch(c, c.repo.model))
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
