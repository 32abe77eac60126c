package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/secret"
)

// Credential is an entry of `registries` in the server's file.
type Credential struct {
	// Host is the registry, with its port if it has one.
	Host string
	// Repositories are the image repositories it is for. Empty: all of the host.
	Repositories []image.Pattern
	// UsableBy are globs over the keys of the GitOps repositories that may use
	// it: * is any text without a slash, ** any text. Empty: none may.
	UsableBy []string
	// UsableAs is how UsableBy was written, where that is worked out anew each time.
	// Answers are kept under it, so that a repository that comes or goes does not cost
	// the others theirs. Empty: they are kept under UsableBy.
	UsableAs []string
	// Username may be empty: the secret is then a token that is sent as it is.
	Username string
	Secret   secret.String
	// Source gives logins in place of Username and Secret. Identity says whom it
	// logs in, without any secret: answers are kept under it.
	Source   Source
	Identity string
	// TokenHost is the host of the token service that may get the credential,
	// where it is none that belongs to the registry's host by its name.
	TokenHost string
}

// entry is a credential ready for use.
type entry struct {
	Credential
	id      string
	refresher *refresher // nil: the secret does not change
}

// The identities of rights without an entry.
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

// identify names an entry by all but its secret, which may change: the name stands in the cache
// folder, and a hash of a weak password would give it away.
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

// fits says that the entry is for the image and may be used by the repository.
func (e entry) fits(key identity.RepositoryKey, r image.Repository) bool {
	return e.Host == r.Host() && e.covers(r) &&
		slices.ContainsFunc(e.UsableBy, func(glob string) bool { return globMatch(glob, string(key)) })
}

func (e entry) covers(r image.Repository) bool {
	return len(e.Repositories) == 0 ||
		slices.ContainsFunc(e.Repositories, func(p image.Pattern) bool { return p.Match(r) })
}

// authenticator gives the entry the library's form.
func (e entry) authenticator() authn.Authenticator {
	if e.refresher != nil {
		return e.refresher
	}
	if e.Secret.IsZero() {
		return authn.Anonymous
	}
	if e.Username == "" {
		return authn.FromConfig(authn.AuthConfig{RegistryToken: e.Secret.Reveal()})
	}
	return authn.FromConfig(authn.AuthConfig{Username: e.Username, Password: e.Secret.Reveal()})
}

// grant is what a question is asked with.
type grant struct {
	id    string
	auth  authn.Authenticator
	docker bool // the Docker configuration was asked
	// refresher is where the login comes from; nil: it does not change.
	refresher   *refresher
	tokenHost string // see Credential.TokenHost
}

// grantFor finds what a GitOps repository may ask an image repository with: an
// entry that fits, the person's Docker configuration where that is asked, or
// nothing.
func (c *Client) grantFor(key identity.RepositoryKey, r image.Repository, n name.Repository) (grant, error) {
	for _, e := range c.credentials {
		if e.fits(key, r) {
			return grant{id: e.id, auth: e.authenticator(), refresher: e.refresher, tokenHost: e.TokenHost}, nil
		}
	}
	if c.keychain == nil {
		return grant{id: anonymousID, auth: authn.Anonymous}, nil
	}
	return c.docker(r, n)
}

// docker asks the Docker configuration, once for each repository: it may run a
// credential helper.
func (c *Client) docker(r image.Repository, n name.Repository) (grant, error) {
	c.dockerMu.Lock()
	defer c.dockerMu.Unlock()
	if known, ok := c.dockerGrants[r]; ok {
		return known, nil
	}
	auth, err := c.keychain.Resolve(n)
	if err != nil {
		return grant{}, fault.New(fault.Invalid, "the Docker configuration cannot be read for %s: check config.json and its credential helpers, or log in again with `docker login %s`", r.Host(), r.Host())
	}
	found := grant{id: dockerID, auth: auth, docker: true}
	if auth == authn.Anonymous {
		found.id = anonymousID
	}
	c.dockerGrants[r] = found
	return found, nil
}

// globMatch matches a glob over the text of a key: * is any text without a
// slash, ** any text. It takes at most len(glob)*len(text) steps.
func globMatch(glob, text string) bool {
	reached := make([]bool, len(text)+1)
	reached[0] = true
	for i := 0; i < len(glob); i++ {
		switch {
		case strings.HasPrefix(glob[i:], "**"):
			spread(reached, text, true)
			i++
		case glob[i] == '*':
			spread(reached, text, false)
		default:
			step(reached, text, glob[i])
		}
	}
	return reached[len(text)]
}

// spread lets every reached place reach all behind it, over slashes or not.
func spread(reached []bool, text string, slashes bool) {
	for i := 1; i < len(reached); i++ {
		reached[i] = reached[i] || reached[i-1] && (slashes || text[i-1] != '/')
	}
}

// step reads one byte at every reached place.
func step(reached []bool, text string, c byte) {
	for i := len(reached) - 1; i > 0; i-- {
		reached[i] = reached[i-1] && text[i-1] == c
	}
	reached[0] = false
}
