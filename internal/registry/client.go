package registry

import (
	"cmp"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/outbound"
)

// Options configure a Client.
type Options struct {
	// Outbound is the guarded HTTP client.
	Outbound *outbound.Client
	// Credentials are the entries of the server file. The first that matches is
	// used.
	Credentials []Credential
	// Logins are those of an earlier client with the same entries. Nil: none.
	Logins *Logins
	// Cache is that of an earlier client with the same CacheDir. Nil: an empty one.
	Cache *Cache
	// UserEnv is the environment of the user who runs the command, whose Docker and Podman
	// logins are used where no entry matches. Nil: none are. Their credential helpers are
	// run, so never set it for a server.
	UserEnv func(name string) (value string, set bool)
	// CacheDir keeps the cache on disk. Empty: in memory only. Client.Flush writes it.
	CacheDir string
	// ObserveCache is called for each lookup of a digest's metadata. May be nil.
	ObserveCache func(hit bool)
	// Limits bound one Batch.
	Limits Limits
	// Now is the clock.
	Now func() time.Time
}

// Limits bound what one Batch requests about one image repository.
type Limits struct {
	// Tags is how many tags are read. A repository with more is incomplete until
	// later batches have read the rest. Zero: 20,000.
	Tags int
	// PageSize is how many tags are requested at once. Zero: 1,000.
	PageSize int
	// Dates is how many unknown created times are requested for `newest`. Zero: 500.
	Dates int
}

func (l Limits) withDefaults() Limits {
	return Limits{Tags: cmp.Or(l.Tags, 20_000), PageSize: cmp.Or(l.PageSize, 1000), Dates: cmp.Or(l.Dates, 500)}
}

// Client holds what outlives a Batch: connections, logins, and the cache. It is safe
// for many goroutines.
type Client struct {
	options     Options
	transport   *transport
	credentials []entry

	dockerMu     sync.Mutex
	dockerGrants map[image.Repository]grant // of a user's few repositories

	mu       sync.Mutex
	sessions map[scope]*session
}

// scope is what a response is kept under: the credential and the image repository.
type scope struct {
	credential string
	repository image.Repository
}

// maxSessions bounds the sessions, because config files name the repositories. It is
// more than a thousand GitOps repositories follow; beyond it each poll logs in again.
const maxSessions = 1 << 15

// New makes a Client. Options.Outbound and Options.Now are required.
func New(options Options) (*Client, error) {
	if options.Outbound == nil || options.Now == nil {
		return nil, errors.New("registry: a client needs an outbound client and a clock")
	}
	options.Limits = options.Limits.withDefaults()
	if options.ObserveCache == nil {
		options.ObserveCache = func(bool) {}
	}
	if options.Logins == nil {
		options.Logins = NewLogins()
	}
	if options.Cache == nil {
		options.Cache = NewCache()
	}
	options.Cache.begin()
	entries, err := newEntries(options.Credentials, options.Logins, options.Now)
	if err != nil {
		return nil, err
	}
	return &Client{
		options:      options,
		transport:    &transport{inner: options.Outbound, now: options.Now, pings: map[string]ping{}},
		credentials:  entries,
		dockerGrants: map[image.Repository]grant{},
		sessions:     map[scope]*session{},
	}, nil
}

// Batch begins the requests of one reconciliation.
func (c *Client) Batch() *Batch { return &Batch{client: c} }

// For returns the view of one GitOps repository in a Batch of its own.
func (c *Client) For(repository identity.RepositoryKey) *View { return c.Batch().For(repository) }

// Flush writes what changed in the cache to its folder, if there is one. A failure only costs later
// processes requests.
func (c *Client) Flush() error { return c.options.Cache.save() }

// Close is Flush at the end of the client, and keeps the folder within its size. That reads the whole
// folder, so it does not happen after each reconciliation, nor where nothing was written.
func (c *Client) Close() error {
	err := c.Flush()
	if c.options.CacheDir == "" || !c.options.Cache.written.Swap(false) {
		return err
	}
	pruning := prune(filepath.Join(c.options.CacheDir, cacheFolder), maxCacheFolder) // also if a file could not be written
	return errors.Join(err, pruning)
}

// access is an image repository as one view may read it.
type access struct {
	scope
	grant   grant
	session *session
	cache   *cacheEntry
}

// access selects the credential, the session and the cache entry for an image
// repository.
func (c *Client) access(key identity.RepositoryKey, r image.Repository) (*access, error) {
	if r.IsZero() {
		return nil, fault.New(fault.Invalid, "no image repository is named")
	}
	repository, err := c.name(r)
	if err != nil {
		return nil, err
	}
	granted, err := c.grantFor(key, r)
	if err != nil {
		return nil, err
	}
	at := scope{credential: granted.id, repository: r}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &access{scope: at, grant: granted, session: c.session(at, granted, repository), cache: c.options.Cache.entry(at, c.options)}, nil
}

// name converts a repository to the library's type. Plain HTTP is only for hosts that
// the operator listed: the outbound client refuses it for all others, whatever the
// library decides.
func (c *Client) name(r image.Repository) (name.Repository, error) {
	var options []name.Option
	if c.options.Outbound.Insecure(r.Host()) {
		options = append(options, name.Insecure)
	}
	registry, err := name.NewRegistry(r.Host(), options...)
	if err != nil {
		return name.Repository{}, fault.New(fault.Invalid, "%s is not the host of a registry", r.Host())
	}
	return registry.Repo(r.Path()), nil
}

// session returns the session of a scope. The caller holds the lock.
func (c *Client) session(at scope, granted grant, repository name.Repository) *session {
	if known, ok := c.sessions[at]; ok {
		return known
	}
	if len(c.sessions) >= maxSessions {
		for one := range c.sessions { // any one
			delete(c.sessions, one)
			break
		}
	}
	made := &session{
		repository: repository, auth: granted.auth, realm: granted.realm(repository), base: c.transport,
	}
	made.pageSize.Store(int64(c.options.Limits.PageSize))
	c.sessions[at] = made
	return made
}

// renew gives an access a new session.
func (c *Client) renew(a *access) {
	c.closeSession(a)
	c.mu.Lock()
	defer c.mu.Unlock()
	a.session = c.session(a.scope, a.grant, a.session.repository)
}

// closeSession drops a session that was refused, so that the next request asks the
// registry how to log in.
func (c *Client) closeSession(a *access) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[a.scope] == a.session {
		delete(c.sessions, a.scope)
		c.transport.forget(a.session.repository.RegistryStr())
	}
}
