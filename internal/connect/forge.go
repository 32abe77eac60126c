package connect

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/git/wire"
	"promoter/internal/outbound"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea"
	"promoter/internal/scm/github"
	"promoter/internal/scm/gitlab"
	"promoter/internal/scm/plain"
	"promoter/internal/scm/rest"
	"promoter/internal/secret"
	"promoter/internal/serverfile"
)

// Forge is a Git host of a session. One that cannot be used has an error, which is that
// of its repositories.
type Forge struct {
	Config serverconfig.Forge
	App    *App      // whose installations are used instead of SCM; nil: it has none
	SCM    scm.Forge // nil for an App, which opens nothing itself
	Err    error

	public     scm.Forge // the same, without a credential; nil if there is none
	credential wire.Credential
	wired      string                                       // the password of credential when SCM was made
	token      func(context.Context) (secret.String, error) // instead of credential, for one that expires
	knownHosts string                                       // a file
}

// Host returns the host of the forge.
func (f *Forge) Host() string { return outbound.Host(f.Config.URL) }

// wireForge wires a forge of the server file for a session, which keeps files in dir. Each
// kind of forge is a case.
func (c *Connections) wireForge(config serverconfig.Forge, dir string) *Forge {
	f := &Forge{Config: config}
	switch {
	case config.Kind == serverconfig.ForgeGitHub && config.App != nil:
		f.Err = c.wireApp(f)
	case config.Kind == serverconfig.ForgeGit:
		f.Err = c.wireGit(f, dir)
	default:
		f.Err = c.wireToken(f)
	}
	return f
}

// wireToken wires a forge that is asked with a token, and without one. Git takes the
// token as a password, beside the user name that the forge requires.
func (c *Connections) wireToken(f *Forge) error {
	token, err := c.Server.Secret(f.Config.Token)
	if err != nil {
		return err
	}
	f.credential, f.wired = wire.Credential{Password: token}, token.Reveal()
	if f.Config.Kind == serverconfig.ForgeGitLab {
		f.credential.User = gitlab.GitUser
	}
	if f.SCM, err = c.openForge(f.Config, token); err != nil {
		return err
	}
	f.public, err = c.openForge(f.Config, secret.String{})
	return err
}

// openForge makes the adapter of a kind of forge. The zero token is none.
func (c *Connections) openForge(config serverconfig.Forge, token secret.String) (forge scm.Forge, err error) {
	client, signs := &http.Client{Transport: c.HTTP.Forges}, !c.signing.Value().IsZero()
	if token.IsZero() {
		client.Transport = c.HTTP.Public
	}
	robots := c.robots()
	switch config.Kind {
	case serverconfig.ForgeGitHub:
		forge, err = github.New(github.Options{
			URL: config.URL, Token: fixed(token), HTTP: client, Now: c.Server.Now, Pace: c.Server.WritePace, Signs: signs, Robots: robots,
		})
	case serverconfig.ForgeGitLab:
		forge, err = gitlab.New(gitlab.Options{
			URL: config.URL, Token: fixed(token), HTTP: client, Now: c.Server.Now, Pace: c.Server.WritePace, Signs: signs, Robots: robots,
		})
	case serverconfig.ForgeGitea:
		forge, err = gitea.New(gitea.Options{
			URL: config.URL, Token: fixed(token), HTTP: client, Now: c.Server.Now, Robots: robots,
		})
	default:
		return nil, fault.New(fault.Internal, "the forge %s is of kind %s, which is not implemented", config.Name, config.Kind)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err)
	}
	return forge, nil
}

// robots are the accounts that the server file lists.
func (c *Connections) robots() rest.Robots {
	return rest.Robots{Bots: c.Server.File.Bots, Trusted: c.Server.File.TrustedBots}
}

// fixed is the source of a token that does not expire.
func fixed(token secret.String) func(context.Context) (secret.String, error) {
	return func(context.Context) (secret.String, error) { return token, nil }
}

// wireApp wires a GitHub App.
func (c *Connections) wireApp(f *Forge) error {
	id, key, err := c.Server.AppCredential(f.Config)
	if err != nil {
		return err
	}
	app, err := github.NewApp(github.AppOptions{
		URL: f.Config.URL, ID: strconv.FormatInt(id, 10), Key: key,
		HTTP: &http.Client{Transport: c.HTTP.Forges}, Now: c.Server.Now, Pace: c.Server.WritePace,
		Signs: c.Server.File.Signing.GitHubApp || !c.signing.Value().IsZero(), Robots: c.robots(),
	})
	if err != nil {
		from := f.Config.App.Key.String()
		if from == "" {
			from = c.Server.AppFolder(f.Config.Name).Path(serverfile.AppKeyFile)
		}
		return fmt.Errorf("the App of the forge %s, %s: %w", f.Config.Name, from, fault.Wrap(fault.Invalid, err))
	}
	if f.public, err = c.openForge(f.Config, secret.String{}); err != nil {
		return err
	}
	f.App = &App{GitHub: app, forge: f, used: map[int64]*installation{}}
	return nil
}

// wireGit wires plain Git. The known hosts are a file, because Git takes no other.
func (c *Connections) wireGit(f *Forge, dir string) (err error) {
	f.SCM = plain.New(plain.Options{Base: f.Config.URL})
	f.credential.User = f.Config.Username
	if f.credential.Password, err = c.Server.Secret(f.Config.Password); err != nil {
		return err
	}
	key, err := c.Server.Secret(f.Config.SSHKey)
	if err != nil {
		return err
	}
	if !key.IsZero() {
		if key, err = secret.Checked(key, "forge "+f.Config.Name, wire.CheckKey); err != nil {
			return err
		}
	}
	f.credential.Key = key
	hosts, err := c.Server.Secret(f.Config.KnownHosts)
	if err != nil || hosts.IsZero() {
		return err
	}
	f.knownHosts = filepath.Join(dir, "known-hosts-"+f.Config.Name)
	return os.WriteFile(f.knownHosts, []byte(hosts.Reveal()+"\n"), 0o600)
}

// Remote is how Git reaches a repository that is open. Each Git session asks again for
// a token that expires.
func (s *Session) Remote(r *Repository) wire.Remote {
	f, client := r.Forge, s.connections.HTTP.Git
	return wire.Remote{
		URL: r.SCM.Info().CloneURL,
		Credential: func(ctx context.Context) (wire.Credential, error) {
			if f.token == nil {
				return f.credential, nil
			}
			token, err := f.token(ctx)
			return wire.Credential{Password: token}, err
		},
		HTTP:       &http.Client{Transport: client},
		Dial:       client.DialContext,
		KnownHosts: f.knownHosts,
		AllowFile:  s.Server.Standalone,
		Now:        s.Server.Now,
	}
}
