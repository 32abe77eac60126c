package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"promoter/internal/fault"
	"promoter/internal/glob"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/secret"
)

// Credential is an entry of `registries` in the server file.
type Credential struct {
	// Host is the registry, with its port if it has one.
	Host string
	// Repositories are the image repositories that it is for. Empty: all of the host.
	Repositories []image.Pattern
	// UsableBy are globs over the keys of the GitOps repositories that may use it: *
	// is any text without a slash, ** any text. Empty: none may.
	UsableBy []string
	// UsableAs is the original form of UsableBy where that is computed. Responses are
	// kept under it, so that a GitOps repository that comes or goes does not cost the
	// others theirs. Empty: UsableBy.
	UsableAs []string
	// Username may be empty: the secret is then a token that is sent unchanged.
	Username string
	Secret   secret.String
	// Source provides logins instead of Username and Secret. Identity names who it
	// logs in, without any secret: responses are kept under it.
	Source   Source
	Identity string
	// TokenHost is the host of the token service that may get the credential, if it
	// does not belong to the registry's host by its name.
	TokenHost string
}

// entry is a credential that is ready for use.
type entry struct {
	Credential
	id        string
	refresher *refresher // nil: the secret does not change
}

// The IDs of credentials without an entry.
const (
	anonymousID = "anonymous"
	dockerID    = "docker"
)

func newEntries(credentials []Credential, logins *Logins, now func() time.Time) ([]entry, error) {
	entries := make([]entry, 0, len(credentials))
	for _, c := range credentials {
		known, err := image.ParseRepository(c.Host + "/any")
		if err != nil || c.Host == "" || strings.Contains(c.Host, "/") {
			return nil, fault.New(fault.Invalid, "registries: %q is not the host of a registry", c.Host)
		}
		c.Host = known.Host()
		id, err := identify(c)
		if err != nil {
			return nil, err
		}
		made := entry{Credential: c, id: id}
		if c.Source != nil {
			made.refresher = logins.refresher(id, c, now)
		}
		entries = append(entries, made)
	}
	logins.keepOnly(entries)
	return entries, nil
}

// identify names an entry by everything but its secret, which may change: the name is
// in the cache folder, and a hash would reveal a weak password.
func identify(c Credential) (string, error) {
	patterns := make([]string, len(c.Repositories))
	for i, p := range c.Repositories {
		patterns[i] = p.String()
	}
	usable := c.UsableBy
	if len(c.UsableAs) > 0 {
		usable = c.UsableAs
	}
	parts := []any{c.Host, patterns, usable, c.Username}
	if c.Source != nil {
		parts = append(parts, c.Identity)
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return "", fault.Wrap(fault.Internal, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// matches reports whether the entry is for the image and the GitOps repository may use
// it.
func (e entry) matches(key identity.RepositoryKey, r image.Repository) bool {
	return e.Host == r.Host() &&
		(len(e.Repositories) == 0 || slices.ContainsFunc(e.Repositories, func(p image.Pattern) bool { return p.Match(r) })) &&
		slices.ContainsFunc(e.UsableBy, func(pattern string) bool { return glob.Match(pattern, string(key)) })
}

// authenticator converts the entry to the library's type.
func (e entry) authenticator() authn.Authenticator {
	switch {
	case e.refresher != nil:
		return e.refresher
	case e.Secret.IsZero():
		return authn.Anonymous
	}
	return presentSecret{username: e.Username, secret: e.Secret}
}

// presentSecret authenticates with a secret as it is at each request: its file may be replaced.
type presentSecret struct {
	username string // empty: the secret is a token
	secret   secret.String
}

// Authorization implements authn.Authenticator.
func (p presentSecret) Authorization() (*authn.AuthConfig, error) {
	if p.username == "" {
		return &authn.AuthConfig{RegistryToken: p.secret.Reveal()}, nil
	}
	return &authn.AuthConfig{Username: p.username, Password: p.secret.Reveal()}, nil
}

// grant is the credential that a GitOps repository may use for an image repository.
type grant struct {
	id        string
	auth      authn.Authenticator
	docker    bool       // the Docker and Podman configurations were read
	refresher *refresher // nil: the login does not expire
	secret    secret.String
	tokenHost string // see Credential.TokenHost
}

// grantFor selects the credential: the first entry that matches, the user's Docker
// configuration if it is enabled, or none.
func (c *Client) grantFor(key identity.RepositoryKey, r image.Repository) (grant, error) {
	for _, e := range c.credentials {
		if e.matches(key, r) {
			return grant{id: e.id, auth: e.authenticator(), refresher: e.refresher, secret: e.Secret, tokenHost: e.TokenHost}, nil
		}
	}
	if c.options.UserEnv == nil {
		return grant{id: anonymousID, auth: authn.Anonymous}, nil
	}
	// Once for each repository, because it may run a credential helper.
	c.dockerMu.Lock()
	defer c.dockerMu.Unlock()
	if known, ok := c.dockerGrants[r]; ok {
		return known, nil
	}
	auth, err := userLogin(c.options.UserEnv, r)
	if err != nil {
		const advice = "check config.json, auth.json, and their credential helpers, or log in again with `docker login %s`"
		return grant{}, fault.New(fault.Invalid, "the Docker configuration cannot be read for %s: "+advice, r.Host(), r.Host())
	}
	found := grant{id: dockerID, auth: auth, docker: true}
	if auth == authn.Anonymous {
		found.id = anonymousID
	}
	c.dockerGrants[r] = found
	return found, nil
}
