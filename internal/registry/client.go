package registry

import (
	"errors"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/outbound"
)

// Options wire a Client.
type Options struct {
	// Outbound is the guarded way out.
	Outbound *outbound.Client
	// Credentials are the entries of the server's file. The first that fits is
	// used.
	Credentials []Credential
	// Logins are those of an earlier client with the same entries. Nil: none.
	Logins *Logins
	// Cache are those of an earlier client with the same CacheDir. Nil: none.
	Cache *Cache
	// Docker asks the Docker configuration of the person who runs the command
	// where no entry fits; its credential helpers are run. Never for a server.
	Docker bool
	// CacheDir keeps what cannot change between processes. Empty: in memory
	// only. Client.Flush writes it.
	CacheDir string
	// ObserveCache is told of each question about a digest, whether the answer was
	// known. Nil: nobody is.
	ObserveCache func(known bool)
	// Limits bound one Pass.
	Limits Limits
	// Now is the clock.
	Now func() time.Time
}

// Limits bound what one Pass asks about one repository.
type Limits struct {
	// Tags is how many tags are read. A repository with more is incomplete until
	// later passes have read the rest. Zero: 20,000.
	Tags int
	// PageSize is how many tags are asked for at once. Zero: 1,000.
	PageSize int
	// Dates is how many images are asked for their created time that was not
	// known before, for `newest`. Zero: 500.
	Dates int
}

func (l Limits) withDefaults() Limits {
	if l.Tags <= 0 {
		l.Tags = 20_000
	}
	if l.PageSize <= 0 {
		l.PageSize = 1000
	}
	if l.Dates <= 0 {
		l.Dates = 500
	}
	return l
}

// Client holds what outlives a Pass: connections, logins, and what cannot
// change. It is safe for many goroutines.
type Client struct {
	options     Options
	transport   *transport
	credentials []entry
	keychain    authn.Keychain // nil: the Docker configuration is not asked

	dockerMu     sync.Mutex
	dockerGrants map[image.Repository]grant // of a person's few repositories

	mu       sync.Mutex
	sessions map[scope]*session
}

// scope is what an answer is kept under: the credential it was got with and the
// repository it is about.
type scope struct {
	credential string
	repository image.Repository
}

// maxSessions bounds what a Client remembers; a config file names the repositories,
// so their number must not be theirs to choose. It is above what a thousand GitOps
// repositories follow: beyond it each poll logs in anew.
const maxSessions = 1 << 15

// New makes a Client. Options.Outbound and Options.Now are required.
func New(options Options) (*Client, error) {
	if options.Outbound == nil || options.Now == nil {
		return nil, errors.New("registry: a client needs a way out and a clock")
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
	c := &Client{
		options:     options,
		transport:   newTransport(options.Outbound, options.Now),
		credentials: entries,

		dockerGrants: map[image.Repository]grant{},
		sessions:     map[scope]*session{},
	}
	if options.Docker {
		c.keychain = authn.DefaultKeychain
	}
	return c, nil
}

// Batch begins a look at the registries: what can change is asked once in it and
// shared by the views of all repositories with the same right. A Pass is for
// one round of work and is dropped after it.
func (c *Client) Batch() *Batch {
	return &Batch{client: c}
}

// For is the view of one repository in a Pass of its own.
func (c *Client) For(repository identity.RepositoryKey) *View {
	return c.Batch().For(repository)
}

// Batch is one round of work, see Client.Pass. It is safe for many goroutines.
type Batch struct {
	client *Client
	tags   flight[listing]
	heads  flight[string]
	facts  flight[metadata]
}

// For returns what the repository may see.
func (p *Batch) For(repository identity.RepositoryKey) *View {
	return &View{batch: p, key: repository}
}

// View answers with the rights of one GitOps repository.
type View struct {
	batch *Batch
	key  identity.RepositoryKey
}

// access is a repository of a registry as one view may see it.
type access struct {
	scope
	grant   grant
	session *session
	cache  *cacheEntry
}

// at finds the credential, the login and the memory for a repository.
func (v *View) at(r image.Repository) (*access, error) {
	if r.IsZero() {
		return nil, fault.New(fault.Invalid, "no image repository is named")
	}
	c := v.batch.client
	repository, err := c.name(r)
	if err != nil {
		return nil, err
	}
	right, err := c.grantFor(v.key, r, repository)
	if err != nil {
		return nil, err
	}
	at := scope{credential: right.id, repository: r}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &access{scope: at, grant: right, session: c.session(at, right, repository), cache: c.options.Cache.of(at, c.options)}, nil
}

// name gives a repository the library's form. Plain http is for hosts that the
// operator listed; the way out refuses it for all others, whatever the library
// thinks of an address.
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

// session returns the login of a scope. The caller holds the lock.
func (c *Client) session(at scope, r grant, repository name.Repository) *session {
	if known, ok := c.sessions[at]; ok {
		return known
	}
	dropOne(c.sessions, maxSessions)
	made := &session{repository: repository, auth: r.auth, realm: r.realm(repository), base: c.transport, pageSize: c.options.Limits.PageSize}
	c.sessions[at] = made
	return made
}

// dropOne makes room in a map that is full, and returns what went. Which entry does
// not matter: it is asked for again.
func dropOne[V any](m map[scope]V, limit int) (dropped V, full bool) {
	if len(m) < limit {
		return dropped, false
	}
	for key, value := range m {
		delete(m, key)
		return value, true
	}
	return dropped, false
}

// reopen gives a target a login that is made anew.
func (c *Client) reopen(t *access) {
	c.forget(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	t.session = c.session(t.scope, t.grant, t.session.repository)
}

// forget drops the login of a target that was refused, so that the next
// question asks how the registry wants one and logs in again.
func (c *Client) forget(t *access) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[t.scope] == t.session {
		delete(c.sessions, t.scope)
		c.transport.forget(t.session.repository.RegistryStr())
	}
}

// Flush writes what was learnt to the cache folder. Without one it does
// nothing. A failure costs later processes questions and nothing else.
func (c *Client) Flush() error { return c.options.Cache.save() }
