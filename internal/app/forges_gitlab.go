package app

import (
	"net/http"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/gitlab"
	"promoter/internal/secret"
)

func (w *work) gitlab(c config.Forge, token secret.String) (scm.Forge, error) {
	made, err := gitlab.New(gitlab.Options{
		URL:   c.URL,
		Token: always(token),
		HTTP:  &http.Client{Transport: w.ways.forges},
		Now:   w.server.now,
		Pace:  w.server.pace,
	})
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err)
	}
	return made, nil
}

// gitlabTokenVariable holds the token of a run without a server's file.
const gitlabTokenVariable = "PROMOTER_GITLAB_TOKEN"

// publicGitLab is a forge that is known without a server's file.
const publicGitLab = gitlab.PublicURL + "/"

// onlyGit says that a password for Git is given and no token for GitLab: then a
// repository there is one of plain Git.
func (s *Server) onlyGit() bool {
	return s.ownReference(gitlabTokenVariable).IsZero() && !s.ownReference(gitPasswordVariable).IsZero()
}

func (s *Server) ownGitLab(name string) (target, error) {
	forge := config.Forge{Name: "gitlab", Kind: config.ForgeGitLab, URL: gitlab.PublicURL}
	if forge.Token = s.ownReference(gitlabTokenVariable); forge.Token.IsZero() {
		return target{}, fault.New(fault.Invalid, "--repo %s%s: set %s to a token with the scope api and the role Developer", publicGitLab, name, gitlabTokenVariable)
	}
	return tokenTarget(name, forge, gitlabTokenVariable), nil
}
