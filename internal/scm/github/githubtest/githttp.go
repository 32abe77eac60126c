package githubtest

import (
	"net/http"

	"promoter/internal/git/gittest"
)

// serveGit serves /OWNER/NAME.git over smart HTTP.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	s.front.ServeGit(s.git, w, r, s.admitGit)
}

// admitGit finds the repository and checks the permissions of the token, with
// GitHub's messages.
func (s *Server) admitGit(visit gittest.Visit) gittest.Admission {
	_, password, given := visit.Request.BasicAuth()
	key := s.tokens[password]
	if !given {
		key = s.anonymous()
	}
	if key != nil && key.ended(s.now()) {
		key = nil
	}
	s.asked = append(s.asked, Asked{Route: visit.Route(), Repository: visit.Name, By: key.name()})
	repo := s.repos[s.names[lower(visit.Name)]]
	if refused := s.refuseGit(visit, repo, key); refused != nil {
		return gittest.Admission{Refused: refused}
	}
	return gittest.Admission{
		Repository: repo.bare, Login: key.owner.login, Pushed: func() { repo.look(key.owner) },
	}
}

func (s *Server) refuseGit(visit gittest.Visit, repo *Repository, key *token) http.HandlerFunc {
	switch {
	case key != nil && key.installation != nil && !key.installation.suspended.IsZero():
		return gittest.Refuse(http.StatusForbidden, "This installation has been suspended")
	case key == nil, key.anonymous() && (visit.Pushes || repo == nil || !key.sees(repo)):
		return gittest.Unknown("GitHub", "Invalid username or token. Password authentication is not supported for Git operations.")
	case repo == nil || repo.removed || !key.sees(repo):
		return gittest.Refuse(http.StatusNotFound, "Repository not found.")
	case lower(repo.fullName()) != lower(visit.Name):
		return visit.Moved(s.URL(), repo.fullName())
	case visit.Pushes && repo.archived:
		return gittest.Refuse(http.StatusForbidden, "This repository was archived so it is read-only.")
	case visit.Pushes && !key.pushes(repo):
		return gittest.Refuse(http.StatusForbidden, "Permission to "+repo.fullName()+".git denied to "+key.owner.login+".")
	}
	return nil
}

// sees reports whether the token may read a repository.
func (k *token) sees(repo *Repository) bool {
	if k.installation != nil {
		return !repo.private || k.installation.has(repo)
	}
	return !repo.private || k.has("repo") && repo.permission(k.owner) != "none"
}

func (k *token) pushes(repo *Repository) bool {
	if k.installation != nil {
		return k.installation.has(repo) && k.permits("contents=write")
	}
	return k.has("repo") && repo.mayPush(k.owner)
}
