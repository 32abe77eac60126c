package app

import (
	"context"
	"net/http"
	"strings"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/git"
	"promoter/internal/scm/gitea"
	"promoter/internal/secret"
)

// wireGitea wires a Gitea or a Forgejo. Git takes the token as a password.
func (w *work) wireGitea(f *forge) error {
	token, err := w.secret(f.config.Token)
	if err != nil {
		return err
	}
	f.credential = git.Credential{Password: token}
	if f.scm, err = w.gitea(f.config, token); err != nil {
		return err
	}
	f.public, err = w.gitea(f.config, secret.String{})
	return err
}

func (w *work) gitea(c config.Forge, token secret.String) (scm.Forge, error) {
	made, err := gitea.New(gitea.Options{
		URL:   c.URL,
		Token: func(context.Context) (secret.String, error) { return token, nil },
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
	return target{
		name: strings.TrimSuffix(strings.Trim(name, "/"), ".git"), forge: forge, rights: "the token in " + giteaTokenVariable,
	}, nil
}
