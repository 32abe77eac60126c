package connect

import (
	"net/http"
	"slices"
	"strings"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/outbound"
	"promoter/internal/registry"
	"promoter/internal/registry/auth"
	"promoter/internal/registry/auth/aws"
	"promoter/internal/registry/auth/azure"
	"promoter/internal/registry/auth/google"
	"promoter/internal/secret"
	"promoter/internal/serverfile"
)

// brokenCredential is an entry of the server file whose secret could not be read. The
// repositories that may use it get the error: the registry is not asked without it.
type brokenCredential struct {
	entry serverconfig.Registry
	keys  []identity.RepositoryKey
	err   error
}

// wireRegistries makes the client that all repositories share. The server file names
// the repositories that may use a credential; the client knows their keys.
func (s *Session) wireRegistries() error {
	var credentials []registry.Credential
	for _, entry := range s.Server.File.Registries {
		if !entry.HasCredentials() {
			continue
		}
		var keys []identity.RepositoryKey
		for _, r := range s.Repositories {
			// The client takes a key with a star for a glob. No forge makes one.
			if r.SCM != nil && r.Matches(entry.UsableBy) && !strings.Contains(string(r.Key()), "*") {
				keys = append(keys, r.Key())
			}
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		credential, err := s.connections.registryCredential(entry, keys)
		if err != nil {
			s.broken = append(s.broken, brokenCredential{entry, keys, err})
			continue
		}
		credentials = append(credentials, credential)
	}
	options := registry.Options{
		Outbound:     s.connections.HTTP.Registries,
		Credentials:  credentials,
		Logins:       s.connections.logins,
		Cache:        s.connections.facts,
		CacheDir:     s.CacheFolder("registries"),
		ObserveCache: s.connections.hooks.DigestCached,
		Now:          s.Server.Now,
	}
	if s.Server.Standalone {
		options.UserEnv = s.Server.Env
	}
	client, err := registry.New(options)
	if err != nil {
		return err
	}
	s.registries, s.answers = client, client.Batch()
	return nil
}

func (c *Connections) registryCredential(entry serverconfig.Registry, keys []identity.RepositoryKey) (registry.Credential, error) {
	credential := registry.Credential{
		Host: entry.Host, Repositories: entry.Repositories, Username: entry.Username, TokenHost: entry.TokenHost,
		UsableAs: entry.UsableBy,
	}
	for _, key := range keys {
		credential.UsableBy = append(credential.UsableBy, string(key))
	}
	var err error
	if login := entry.Login; login.Provider != "" {
		credential.Source, err = c.cloudLogin(entry.Host, login)
		// The cache is kept under the identity: it changes with it, and not with a login.
		credential.Identity = strings.Join([]string{
			string(login.Provider), login.Role, login.Key.String(), login.Tenant, login.Client,
		}, " ")
		return credential, err
	}
	reference := entry.Password
	if reference.IsZero() {
		reference = entry.Token
	}
	credential.Secret, err = c.Server.Secret(reference)
	return credential, err
}

// cloudLogin makes the login of a cloud registry. Its provider is asked with the HTTP
// client of registries.
func (c *Connections) cloudLogin(host string, login serverconfig.Login) (registry.Source, error) {
	clients := c.HTTP
	machine := auth.Machine{
		Vendor: clients.Registries, Metadata: clients.machine,
		Env: c.Server.Env, Open: c.Server.SecretSources().Open, Now: c.Server.Now,
	}
	switch login.Provider {
	case serverconfig.ProviderAWS:
		return aws.New(machine, host, login.Role)
	case serverconfig.ProviderGoogle:
		key, err := c.Server.Secret(login.Key)
		if err != nil {
			return nil, err
		}
		key, err = secret.Checked(key, "registry "+host, func(key secret.String) error {
			_, err := google.New(machine, host, key)
			return err
		})
		if err != nil {
			return nil, err
		}
		return google.New(machine, host, key)
	case serverconfig.ProviderAzure:
		value, err := c.Server.Secret(login.Secret)
		if err != nil {
			return nil, err
		}
		return azure.New(machine, host, azure.Settings{Tenant: login.Tenant, Client: login.Client, Secret: value})
	default:
		return nil, fault.New(fault.Invalid, "there is no provider %s", login.Provider)
	}
}

// Registry returns the registries with the permissions of one repository.
func (s *Session) Registry(key identity.RepositoryKey) *registry.View { return s.answers.For(key) }

// CheckCredential returns an error if the credential with which the repository would
// ask for an image could not be read.
func (s *Session) CheckCredential(key identity.RepositoryKey, asked image.Repository) error {
	for _, b := range s.broken {
		if b.entry.Covers(asked) && slices.Contains(b.keys, key) {
			return fault.Wrap(fault.Invalid, b.err)
		}
	}
	return nil
}

// ForgetAnswers makes the session ask again about images that changed, and about
// everything that failed.
func (s *Session) ForgetAnswers(changed func(image.Repository) bool) { s.answers.Forget(changed) }

// TakeChangedImages returns the images that registries answered about differently than
// before, since the last call.
func (c *Connections) TakeChangedImages() []image.Repository { return c.facts.TakeChanged() }

// Flush writes the registry cache, so that a process that ends early does not ask again.
func (s *Session) Flush() error { return s.registries.Flush() }

// RegistryOptions configure NewLocalRegistries.
type RegistryOptions struct {
	CacheDir string   // keeps immutable facts between runs; empty: nothing is kept
	Networks []string // private networks, as CIDR, in which registries may be
	Env      func(name string) (value string, set bool)
	Now      func() time.Time
}

// NewLocalRegistries returns the registries as the machine of a user may ask them: with its
// Docker configuration, also on loopback. It sends no request. A command asks with a view for
// no repository.
func NewLocalRegistries(options RegistryOptions) (*registry.Client, error) {
	networks, err := serverfile.ParseNetworks(options.Networks)
	if err != nil {
		return nil, err
	}
	client, err := outbound.New(outbound.Options{
		AllowLoopback: true,
		Networks:      networks,
		Proxy:         http.ProxyFromEnvironment,
		RateLimitOf:   func(host string) outbound.RateLimit { return outbound.RateLimit{Most: registry.MostPerSecond(host)} },
		Now:           options.Now,
	})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err)
	}
	return registry.New(registry.Options{
		Outbound: client,
		UserEnv:  options.Env,
		CacheDir: options.CacheDir,
		Now:      options.Now,
	})
}
