package app

import (
	"context"
	"net/http"

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
