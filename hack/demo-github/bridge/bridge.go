// Package bridge makes an emulator of GitHub's API look like a GitHub Enterprise
// server. The emulator has no Git endpoint, no commit statuses, no list of the
// comments of a repository, and no reactions; the bridge adds them:
//
//   - Git is served from memory. Branches and objects are synchronized with the
//     emulator through its Git objects API, with the same IDs on both sides.
//   - Statuses and reactions are kept in memory.
//   - The comments of a repository are collected from its pull requests.
//
// All other requests to the API are forwarded. The bridge has no credentials: it uses
// those of each request.
package bridge

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"promoter/internal/demo/githttp"
)

// apiPath is the path of the API of a GitHub Enterprise server.
const apiPath = "/api/v3"

// New returns a handler for the emulator whose API has this URL.
func New(emulator string, client *http.Client) (http.Handler, error) {
	target, err := url.Parse(strings.TrimRight(emulator, "/"))
	if err != nil || target.Host == "" {
		return nil, fmt.Errorf("the emulator's URL is %.60q, not http://HOST:PORT", emulator)
	}
	connect := func(authorization string) api {
		return api{client: client, url: target.String(), authorization: authorization}
	}
	statuses := &statuses{connect: connect, byCommit: map[string][]object{}}
	comments := &comments{connect: connect, reactions: map[string][]string{}}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /repos/{owner}/{name}/commits/{commit}/statuses", statuses.list)
	routes.HandleFunc("POST /repos/{owner}/{name}/statuses/{commit}", statuses.create)
	routes.HandleFunc("GET /repos/{owner}/{name}/issues/comments", comments.list)
	routes.HandleFunc("POST /repos/{owner}/{name}/issues/comments/{id}/reactions", comments.react)
	routes.Handle("/", &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: client.Transport,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	})
	all := http.NewServeMux()
	all.Handle(apiPath+"/", http.StripPrefix(apiPath, routes))
	all.Handle("/{owner}/{name}/", &gitHost{connect: connect, repositories: map[string]repository{}})
	return all, nil
}

// gitHost serves /OWNER/NAME.git, one request at a time.
type gitHost struct {
	connect      func(authorization string) api
	mutex        sync.Mutex
	repositories map[string]repository // by path in the API
}

// ServeHTTP uses the password as the token for the emulator, which decides what it
// permits.
func (g *gitHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, token, _ := r.BasicAuth()
	name, isGit := strings.CutSuffix(r.PathValue("name"), ".git")
	switch {
	case !isGit:
		http.NotFound(w, r)
		return
	case token == "":
		w.Header().Set("WWW-Authenticate", `Basic realm="bridge"`)
		http.Error(w, "a token is required as the password", http.StatusUnauthorized)
		return
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	path := "/repos/" + r.PathValue("owner") + "/" + name
	repository, known := g.repositories[path]
	if !known {
		repository = newRepository(path)
		g.repositories[path] = repository
	}
	repository.emulator = g.connect("Bearer " + token)
	git := githttp.Server{Storer: repository.storer, Refresh: repository.fetch, Push: repository.push}
	git.ServeHTTP(w, r)
}
