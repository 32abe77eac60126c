package bridge

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
)

// statuses keeps the commit statuses of all repositories.
type statuses struct {
	connect  func(authorization string) api
	mutex    sync.Mutex
	byCommit map[string][]object // newest first
}

func (s *statuses) list(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := s.byCommit[r.PathValue("commit")]
	if all == nil {
		all = []object{}
	}
	reply(w, http.StatusOK, all)
}

func (s *statuses) create(w http.ResponseWriter, r *http.Request) {
	var status object
	if err := json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(&status); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var creator struct{ Login string }
	if err := s.connect(r.Header.Get("Authorization")).call(r.Context(), "GET", "/user", nil, &creator); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	status["creator"] = object{"login": creator.Login, "type": "User"}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	commit := r.PathValue("commit")
	s.byCommit[commit] = append([]object{status}, s.byCommit[commit]...)
	reply(w, http.StatusCreated, status)
}
