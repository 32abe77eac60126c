package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// comments replaces the repository comment list, and reactions, for a forge
// server that has only the comments of each pull request.
type comments struct {
	standIn
	forge     account
	mutex     sync.Mutex
	reactions map[string][]string // by comment
}

// lookForComments checks whether the server lists the comments of a repository.
func (g *github) lookForComments(ctx context.Context) error {
	return g.comments.learn(g.promoter.ask(ctx, "GET", g.path+"/issues/comments?per_page=1", nil, nil))
}

// before handles the requests that the server does not support.
func (c *comments) before(next http.Handler) http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /repos/{owner}/{name}/issues/comments", c.list)
	routes.HandleFunc("POST /repos/{owner}/{name}/issues/comments/{id}/reactions", c.react)
	return c.standIn.before(routes, next)
}

// comment is a comment in the API, with all its fields.
type comment struct {
	said    body
	changed time.Time
}

// list returns the comments of all pull requests on one page, the least
// recently updated first.
func (c *comments) list(w http.ResponseWriter, r *http.Request) {
	said := []body{}
	if page := r.URL.Query().Get("page"); page != "" && page != "1" {
		reply(w, http.StatusOK, said)
		return
	}
	all, err := c.all(r.Context(), strings.TrimSuffix(r.URL.Path, "/issues/comments"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	slices.SortStableFunc(all, func(a, b comment) int { return a.changed.Compare(b.changed) })
	for _, one := range all {
		if !one.changed.Before(since) {
			said = append(said, one.said)
		}
	}
	reply(w, http.StatusOK, said)
}

func (c *comments) all(ctx context.Context, path string) (all []comment, err error) {
	var pulls []pullRequest
	if err := c.forge.ask(ctx, "GET", path+"/pulls?state=all&per_page=100", nil, &pulls); err != nil {
		return nil, err
	}
	for _, pull := range pulls {
		var said []body
		if err := c.forge.ask(ctx, "GET", fmt.Sprintf("%s/issues/%d/comments?per_page=100", path, pull.Number), nil, &said); err != nil {
			return nil, err
		}
		for _, one := range said {
			text, _ := one["updated_at"].(string)
			changed, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return nil, fmt.Errorf("read when a comment was changed: %w", err)
			}
			one["issue_url"] = fmt.Sprintf("%s%s/issues/%d", c.forge.api, path, pull.Number)
			one["html_url"] = fmt.Sprintf("%s%s/pull/%d", c.forge.api, strings.TrimPrefix(path, "/repos"), pull.Number)
			all = append(all, comment{one, changed})
		}
	}
	return all, nil
}

// react stores promoter's reaction to a comment.
func (c *comments) react(w http.ResponseWriter, r *http.Request) {
	var reaction struct{ Content string }
	if err := json.NewDecoder(io.LimitReader(r.Body, maxAnswer)).Decode(&reaction); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	id, status := r.PathValue("id"), http.StatusOK
	if !slices.Contains(c.reactions[id], reaction.Content) {
		c.reactions[id], status = append(c.reactions[id], reaction.Content), http.StatusCreated
	}
	reply(w, status, body{"id": 1, "content": reaction.Content})
}
