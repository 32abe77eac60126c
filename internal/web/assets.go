package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"mime"
	"net/http"
	"path"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
)

//go:embed static templates
var files embed.FS

// staticPath is the path of the files that pages use. They need no session.
const staticPath = "/static/"

// serveStatic answers with a file. A page names it with the first digits of its hash, so that
// browsers may keep it forever.
func serveStatic(c echo.Context) error {
	name := c.Param("file")
	content, err := files.ReadFile(path.Join("static", path.Base(name)))
	if err != nil {
		return fault.New(fault.NotFound, "there is no file %.100q", name)
	}
	header := c.Response().Header()
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	return c.Blob(http.StatusOK, mime.TypeByExtension(path.Ext(name)), content)
}

// staticURLs returns the URLs of all files, by name.
func staticURLs() (map[string]string, error) {
	entries, err := files.ReadDir("static")
	if err != nil {
		return nil, err
	}
	urls := make(map[string]string, len(entries))
	for _, entry := range entries {
		content, err := files.ReadFile(path.Join("static", entry.Name()))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		urls[entry.Name()] = staticPath + entry.Name() + "?" + hex.EncodeToString(sum[:6])
	}
	return urls, nil
}

// templates are the pages by name, each with the layout around it.
type templates map[string]*template.Template

func parseTemplates() (templates, error) {
	urls, err := staticURLs()
	if err != nil {
		return nil, err
	}
	static := func(name string) (string, error) {
		url, known := urls[name]
		if !known {
			return "", fault.New(fault.Internal, "there is no file %s", name)
		}
		return url, nil
	}
	layout, err := template.New("layout.html").Funcs(template.FuncMap{
		"static": static, "time": timeElement, "age": ageElement, "status": statusElement, "repositoryURL": repositoryURL,
	}).ParseFS(files, "templates/layout.html")
	if err != nil {
		return nil, err
	}
	parsed := templates{}
	for _, name := range []string{
		"sign-in", "error", "overview", "application", "decide", "repository", "history", "delivery", "where", "activity",
	} {
		clone, err := layout.Clone()
		if err != nil {
			return nil, err
		}
		if parsed[name], err = clone.ParseFS(files, "templates/"+name+".html"); err != nil {
			return nil, err
		}
	}
	return parsed, nil
}
