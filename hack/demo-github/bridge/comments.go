package bridge

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

// comments lists the comments of a repository and keeps reactions.
type comments struct {
	connect   func(authorization string) api
	mutex     sync.Mutex
	reactions map[string][]string // by comment
}

// comment is a comment in the API, with all its fields.
type comment struct {
	fields  object
	updated time.Time
}

// list returns the comments of all pull requests on one page, the least recently
// updated first.
func (c *comments) list(w http.ResponseWriter, r *http.Request) {
	listed := []object{}
	if page := r.URL.Query().Get("page"); page != "" && page != "1" {
		reply(w, http.StatusOK, listed)
		return
	}
	all, err := collect(r.Context(), c.connect(r.Header.Get("Authorization")), strings.TrimSuffix(r.URL.Path, "/issues/comments"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	slices.SortStableFunc(all, func(a, b comment) int { return a.updated.Compare(b.updated) })
	for _, one := range all {
		if !one.updated.Before(since) {
			listed = append(listed, one.fields)
		}
	}
	reply(w, http.StatusOK, listed)
}

// collect reads the comments of all pull requests of a repository.
func collect(ctx context.Context, emulator api, path string) (all []comment, err error) {
	var pulls []struct{ Number int }
	if err := emulator.call(ctx, "GET", path+"/pulls?state=all&per_page=100", nil, &pulls); err != nil {
		return nil, err
	}
	for _, pull := range pulls {
		var listed []object
		if err := emulator.call(ctx, "GET", fmt.Sprintf("%s/issues/%d/comments?per_page=100", path, pull.Number), nil, &listed); err != nil {
			return nil, err
		}
		for _, fields := range listed {
			text, _ := fields["updated_at"].(string)
			updated, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return nil, fmt.Errorf("updated_at of a comment: %w", err)
			}
			fields["issue_url"] = fmt.Sprintf("%s%s/issues/%d", emulator.url, path, pull.Number)
			fields["html_url"] = fmt.Sprintf("%s%s/pull/%d", emulator.url, strings.TrimPrefix(path, "/repos"), pull.Number)
			all = append(all, comment{fields, updated})
		}
	}
	return all, nil
}

// react adds a reaction to a comment.
func (c *comments) react(w http.ResponseWriter, r *http.Request) {
	var reaction struct{ Content string }
	if err := json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(&reaction); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	id, status := r.PathValue("id"), http.StatusOK
	if !slices.Contains(c.reactions[id], reaction.Content) {
		c.reactions[id], status = append(c.reactions[id], reaction.Content), http.StatusCreated
	}
	reply(w, status, object{"id": 1, "content": reaction.Content})
}
