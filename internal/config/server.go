package config

import (
	"net/netip"
	"time"

	"promoter/internal/image"
	"promoter/internal/schedule"
	"promoter/internal/verb"
)

// Server is a loaded promoter-server.yaml. It holds references to secrets and
// never a secret, so it may be printed.
type Server struct {
	File         string
	Listen       string
	URL          string // without a slash at the end; empty: not known
	Data         string
	Poll         time.Duration
	Database     Database
	Retention    Retention
	TLS          TLS
	API          Reference // the token of the API; zero: there is none
	Traces       Traces
	Forges       []Forge
	Repositories []Repository
	Onboarding   Onboarding
	Registries   []Registry
	Receivers    []Receiver
	Permissions  []Permission
	Bypass       []Bypass
	Limits       []Limit
	RateLimits   []RateLimit
	Sizes        Sizes
	Networks     []netip.Prefix
}

// Database is SQLite in a file, or PostgreSQL when URL is set.
type Database struct {
	Path string // empty: promoter.db in the data folder
	URL  Reference
}

// ForgeKind is the kind of a Git server.
type ForgeKind string

// The kinds of forges.
const (
	ForgeGitHub ForgeKind = "github"
	ForgeGitLab ForgeKind = "gitlab"
	ForgeGitea  ForgeKind = "gitea" // and Forgejo
	ForgeGit    ForgeKind = "git"   // plain Git, push only
)

// Forge is a Git server with the right to use it.
type Forge struct {
	Position
	Name       string
	Kind       ForgeKind
	URL        string // without a slash at the end
	App        *App
	Token      Reference
	Username   string
	Password   Reference
	SSHKey     Reference
	KnownHosts Reference
	Insecure   bool
}

// App is a GitHub App: one with ID and Key, or with Setup one that promoter makes
// and keeps in its data folder.
type App struct {
	ID           int64
	Key          Reference
	Setup        Reference // the secret of the page that makes it
	Organization string    // that the made one belongs to; empty: who makes it
}

// Repository is one GitOps repository.
type Repository struct {
	Position
	Forge string
	Name  string // OWNER/NAME; with plain Git, the path below the forge's URL
}

// Onboarding says which repositories are offered a config file in a pull request.
// Its zero value offers none.
type Onboarding struct {
	Repositories []string // globs of GitOps repositories
}

// Registry is what a registry, or a part of it, is asked with.
type Registry struct {
	Position
	Host         string
	Repositories []image.Pattern // with the host; nil: all of it
	Username     string
	Password     Reference // with Username
	TokenHost    string    // with Username; empty: what belongs to the host
	Token        Reference
	Login        Login
	UsableBy     []string // globs of GitOps repositories
	Insecure     bool
	Poll         schedule.Times // when its tags are read; zero: with each poll
}

// Provider gives logins for the registries of its cloud.
type Provider string

// The providers.
const (
	ProviderAWS    Provider = "aws"
	ProviderGoogle Provider = "google"
	ProviderAzure  Provider = "azure"
)

// Login is a login that a provider gives. Its zero value is none.
type Login struct {
	Provider Provider
	Role     string    // with aws: the role to assume
	Key      Reference // with google
	Tenant   string    // with azure
	Client   string    // with azure
	Secret   Reference // with azure, of the client
}

// HasCredentials says that the registry is not asked anonymously by whoever may use
// the entry.
func (r Registry) HasCredentials() bool {
	return r.Username != "" || !r.Token.IsZero() || r.Login.Provider != ""
}

// ReceiverKind is the sender of a webhook.
type ReceiverKind string

// Receiver takes the webhooks of one sender.
type Receiver struct {
	Position
	Name       string
	Kind       ReceiverKind
	Secret     Reference
	PathSecret Reference
	App        string // the forge whose made App sends them
	Header     string
	Audience   string
	Email      string
	Anonymous  bool
}

// Scope is where a rule of the server's file holds. Lists are globs; nil means
// everywhere.
type Scope struct {
	Repositories []string
	Applications []string
	Environments []string
}

// Permission lets people do something.
type Permission struct {
	Position
	Scope
	Verbs []verb.Verb
	Who   []string // NAME or team:GROUP/NAME
}

// Bypass lets people go past conditions and gates.
type Bypass struct {
	Position
	Scope
	Conditions []string
	Who        []string // NAME or team:GROUP/NAME
}

// Limit is what config files may not go beyond.
type Limit struct {
	Position
	Scope
	Land      []Land    // nil: any
	Propose   []Propose // nil: any
	Approvals int       // at least
}

// RateLimit is what hosts are asked at most. Zero means the default.
type RateLimit struct {
	Position
	Host       string // glob
	PerSecond  int
	Burst      int
	Concurrent int
}

// Sizes are what is read at most, in bytes.
type Sizes struct {
	File, Pack, Object int64
}

// Defaults of the server's file.
const (
	DefaultListen     = "127.0.0.1:8080"
	DefaultData       = "promoter-data"
	DefaultPoll       = 5 * time.Minute
	DefaultFileSize   = 1 << 20
	DefaultPackSize   = 512 << 20
	DefaultObjectSize = 32 << 20
	DefaultHeader     = "Authorization"
)
