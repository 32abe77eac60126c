package demo

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
)

// statuses replaces commit statuses for a server without them.
type statuses struct {
	standIn
	by    string // the author of the statuses
	mutex sync.Mutex
	said  map[string][]body // by commit, newest first
}

// lookForStatuses checks, with an existing commit, whether the server has
// statuses.
func (g *github) lookForStatuses(ctx context.Context, commit string) error {
	return g.statuses.learn(g.promoter.ask(ctx, "GET", g.path+"/commits/"+commit+"/statuses", nil, nil))
}

// before handles the requests that the server does not support.
func (s *statuses) before(next http.Handler) http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /repos/{owner}/{name}/commits/{commit}/statuses", s.list)
	routes.HandleFunc("POST /repos/{owner}/{name}/statuses/{commit}", s.set)
	return s.standIn.before(routes, next)
}

func (s *statuses) list(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	said := s.said[r.PathValue("commit")]
	if said == nil {
		said = []body{}
	}
	reply(w, http.StatusOK, said)
}

func (s *statuses) set(w http.ResponseWriter, r *http.Request) {
	var status body
	if err := json.NewDecoder(io.LimitReader(r.Body, maxAnswer)).Decode(&status); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	status["creator"] = body{"login": s.by, "type": "User"}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	commit := r.PathValue("commit")
	s.said[commit] = append([]body{status}, s.said[commit]...)
	reply(w, http.StatusCreated, status)
}

func reply(w http.ResponseWriter, status int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(what) // the client may have disconnected
}
