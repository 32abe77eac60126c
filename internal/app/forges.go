package app

import (
	"context"
	"net/http"
	"os"
	"path/filepath"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/scm"
	"promoter/internal/scm/github"
	"promoter/internal/scm/gitlab"
	"promoter/internal/scm/plain"
	"promoter/internal/secret"
)

// forge is one forge of a run, wired. One that cannot be used has an error, which
// is that of its repositories and of no other.
type forge struct {
	config     config.Forge
	scm        scm.Forge
	public     scm.Forge // the same, asked without a credential; nil: there is no such
	credential git.Credential
	token      func(context.Context) (secret.String, error) // in place of credential, where one ends; nil: none does
	app        *installations                               // whose forges are used in place of this one; nil: it has no App
	knownHosts string                                       // a file
	err        error
}

// wireForges wires the forges of the targets, each once, by name. Files that Git
// wants go into dir.
func (w *work) wireForges() {
	w.forges = map[string]*forge{}
	for _, t := range w.server.allForges() {
		if _, known := w.forges[t.Name]; !known {
			w.forges[t.Name] = w.wireForge(t)
		}
	}
	w.server.standing.follow(w.forges)
}

// allForges are those of the file, also where no repository is on them: releases
// may be followed there. Without a file they are those of the targets.
func (s *Server) allForges() []config.Forge {
	forges := s.file.Forges
	if s.own {
		for _, t := range s.targets {
			forges = append(forges, t.forge)
		}
	}
	return forges
}

func (w *work) wireForge(c config.Forge) *forge {
	f := &forge{config: c}
	switch c.Kind {
	case config.ForgeGitHub:
		f.err = w.wireGitHub(f)
	case config.ForgeGitLab:
		f.err = w.wireToken(f, gitlab.GitUser, w.gitlab) // whichever kind of token it is
	case config.ForgeGitea:
		f.err = w.wireToken(f, "", w.gitea)
	case config.ForgeGit:
		f.err = w.wireGit(f)
	default:
		f.err = fault.New(fault.Internal, "the forge %s is of kind %s, which nothing was made for", c.Name, c.Kind)
	}
	return f
}

func (w *work) wireGitHub(f *forge) error {
	if f.config.App != nil {
		return w.wireApp(f)
	}
	return w.wireToken(f, "", w.github)
}

// wireToken wires a forge that is asked with a token, and without one. Git takes the
// token as a password, beside the user's name that the forge wants.
func (w *work) wireToken(f *forge, gitUser string, open func(config.Forge, secret.String) (scm.Forge, error)) error {
	token, err := w.secret(f.config.Token)
	if err != nil {
		return err
	}
	f.credential = git.Credential{User: gitUser, Password: token}
	if f.scm, err = open(f.config, token); err != nil {
		return err
	}
	f.public, err = open(f.config, secret.String{})
	return err
}

// always gives the one token that there is.
func always(token secret.String) func(context.Context) (secret.String, error) {
	return func(context.Context) (secret.String, error) { return token, nil }
}

func (w *work) github(c config.Forge, token secret.String) (scm.Forge, error) {
	made, err := github.New(github.Options{
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

func (w *work) wireGit(f *forge) (err error) {
	f.scm = plain.New(plain.Options{Base: f.config.URL})
	f.credential.User = f.config.Username
	if f.credential.Password, err = w.secret(f.config.Password); err != nil {
		return err
	}
	if f.credential.Key, err = w.secret(f.config.SSHKey); err != nil {
		return err
	}
	hosts, err := w.secret(f.config.KnownHosts)
	if err != nil || hosts.IsZero() {
		return err
	}
	f.knownHosts = filepath.Join(w.dir, "known-hosts-"+f.config.Name)
	return os.WriteFile(f.knownHosts, []byte(hosts.Reveal()+"\n"), 0o600)
}

func (w *work) secret(reference config.Reference) (secret.String, error) {
	return w.server.secret(reference)
}

// secret fetches what a reference names; the zero reference names nothing.
func (s *Server) secret(reference config.Reference) (secret.String, error) {
	if reference.IsZero() {
		return secret.String{}, nil
	}
	return reference.Resolve(s.sources())
}

// right is what Git shows. A token that ends is asked for by every session anew.
func (f *forge) right(ctx context.Context) (git.Credential, error) {
	if f.token == nil {
		return f.credential, nil
	}
	token, err := f.token(ctx)
	return git.Credential{Password: token}, err
}

// remote says how Git reaches a repository of the forge.
func (w *work) remote(f *forge, info scm.Info) git.Remote {
	return git.Remote{
		URL:        info.CloneURL,
		Credential: f.right,
		HTTP:       &http.Client{Transport: w.ways.git},
		Dial:       w.ways.git.DialContext,
		KnownHosts: f.knownHosts,
		AllowFile:  w.server.own,
		Now:        w.server.now,
	}
}
