package giteatest

import (
	"net/http"

	"promoter/internal/git/gittest"
)

// serveGit serves /OWNER/NAME.git over smart HTTP.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	s.front.ServeGit(s.git, w, r, s.admitGit)
}

// admitGit finds the repository and checks the permissions of the token, with Gitea's
// messages. The password is the token; the user name is ignored.
func (s *Server) admitGit(visit gittest.Visit) gittest.Admission {
	_, password, given := visit.Request.BasicAuth()
	key := s.tokens[password]
	if !given {
		key = s.anonymous()
	}
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
	case key == nil, key.anonymous() && (visit.Pushes || repo == nil || !key.sees(repo)):
		return gittest.Unknown("Gitea", "Failed to authenticate user")
	case repo == nil || repo.removed || !key.sees(repo):
		return gittest.Refuse(http.StatusNotFound, "Repository not found")
	case lower(repo.fullName()) != lower(visit.Name):
		return func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/"+repo.fullName()+r.URL.RequestURI()[len("/"+visit.Name):], http.StatusTemporaryRedirect)
		}
	case visit.Pushes && repo.archived:
		return gittest.Refuse(http.StatusForbidden, "This repo is archived. You can view files and clone it, but cannot push or open issues/pull-requests.")
	case !key.anonymous() && !key.has(visit.Pushes, "repository"), visit.Pushes && !repo.mayPush(key.owner):
		return gittest.Refuse(http.StatusForbidden, "User permission denied")
	}
	return nil
}
