package app

import (
	"net/http"
	"strings"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea"
	"promoter/internal/secret"
)

func (w *work) gitea(c config.Forge, token secret.String) (scm.Forge, error) {
	made, err := gitea.New(gitea.Options{
		URL:   c.URL,
		Token: always(token),
		HTTP:  &http.Client{Transport: w.ways.forges},
		Now:   w.server.now,
	})
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err)
	}
	return made, nil
}

// The variables of a run without a server's file: the token, and the pages of the
// server that it belongs to.
const (
	giteaTokenVariable = "PROMOTER_GITEA_TOKEN"
	giteaURLVariable   = "PROMOTER_GITEA_URL"
)

// onGitea says that an address lies on the server that the environment names, and
// which repository it is there. Any server may be a Gitea, so none is known by its
// name.
func (s *Server) onGitea(address string) (name string, found bool) {
	base, set := s.env(giteaURLVariable)
	if !set || base == "" {
		return "", false
	}
	return strings.CutPrefix(address, strings.TrimRight(base, "/")+"/")
}

func (s *Server) ownGitea(name string) (target, error) {
	base, _ := s.env(giteaURLVariable)
	forge := config.Forge{Name: "gitea", Kind: config.ForgeGitea, URL: strings.TrimRight(base, "/")}
	if forge.Token = s.ownReference(giteaTokenVariable); forge.Token.IsZero() {
		return target{}, fault.New(fault.Invalid, "--repo: %s is set: set %s to a token with the scopes of docs/gitea.md", giteaURLVariable, giteaTokenVariable)
	}
	return tokenTarget(name, forge, giteaTokenVariable), nil
}
