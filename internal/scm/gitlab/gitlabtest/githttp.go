package gitlabtest

import (
	"net/http"

	"promoter/internal/git/gittest"
)

// serveGit serves /GROUP/NAME.git over smart HTTP.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	s.front.ServeGit(s.git, w, r, s.admitGit)
}

// admitGit finds the project and checks the permissions of the token, with GitLab's
// messages. A former path works for Git like the current one.
func (s *Server) admitGit(visit gittest.Visit) gittest.Admission {
	name, password, given := visit.Request.BasicAuth()
	if given && name == "" {
		s.t.Errorf("gitlabtest: Git gives a token without a name")
	}
	key := s.tokens[password]
	p := s.projects[s.paths[lower(visit.Name)]]
	if refused := s.refuseGit(visit, p, key, given); refused != nil {
		return gittest.Admission{Refused: refused}
	}
	by := &user{}
	if key != nil {
		by = key.owner
	}
	if visit.Pushes {
		p.guardAgainst(by)
	}
	return gittest.Admission{Repository: p.bare, Login: by.name, Pushed: func() { p.look(by) }}
}

// guardAgainst makes Git reject what an account may not push. Git has no accounts:
// this applies to the next push.
func (p *Project) guardAgainst(by *user) {
	var denied []string
	for branch := range p.bare.Heads() {
		if !p.mayPush(by, branch) {
			denied = append(denied, branch)
		}
	}
	p.bare.Protect(denied...)
}

func (s *Server) refuseGit(visit gittest.Visit, p *Project, key *token, given bool) http.HandlerFunc {
	unknown := key == nil || key.revoked || !key.has("api", "write_repository", "read_repository")
	by := &user{}
	if key != nil {
		by = key.owner
	}
	seen := p != nil && !p.removed && p.visible(by)
	switch {
	case given && unknown, !given && (visit.Pushes || !seen):
		return gittest.Unknown("GitLab", "HTTP Basic: Access denied. If a password was provided for Git authentication, the password was incorrect or you're required to use a token instead of a password.")
	case !seen:
		return gittest.Refuse(http.StatusNotFound, "The project you were looking for could not be found or you don't have permission to view it.")
	case visit.Pushes && p.archived:
		return gittest.Refuse(http.StatusForbidden, "You can't push code to an archived project.")
	case visit.Pushes && (p.level(by) < Developer || !key.has("api", "write_repository")):
		return gittest.Refuse(http.StatusForbidden, "You are not allowed to push code to this project.")
	}
	return nil
}
