// Package serverconfig loads promoter-server.yaml, the file of the operator. It has the
// settings that writers of a repository must not control: forges, registries, and their
// credentials, receivers of webhooks, permissions, and limits.
//
// Loading works as in package config: strict, with all problems at once. The package
// never holds a secret: the file has references to secrets, and Reference.Resolve
// fetches one through functions that the caller passes.
package serverconfig

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"

	"promoter/internal/config"
	"promoter/internal/config/field"
	"promoter/internal/schedule"
	"promoter/internal/strictyaml"
)

//go:generate go test . -run ^TestSchema_isCurrent$ -update

// Config is a loaded promoter-server.yaml. It has references to secrets and never a
// secret, so it may be printed.
type Config struct {
	File         string
	Listen       string
	URL          string // without a slash at the end; empty: not known
	Data         string
	Poll         time.Duration
	Timeout      time.Duration // of one reconciliation
	Incremental  bool          // between polls, decide only about what an event touches
	Committer    Committer
	Signing      Signing
	Database     Database
	Retention    Retention
	TLS          TLS
	Metrics      Metrics
	API          API
	Seal         Seal
	Traces       Traces
	Forges       []Forge
	Repositories []Repository
	Onboarding   []string // patterns of GitOps repositories that get a pull request with a config file; nil: none
	Rendering    []string // patterns of those whose pull requests may show rendered manifests; nil: none
	Registries   []Registry
	Sources      []Source
	Receivers    []Receiver
	AfterLanding []AfterLanding
	Destinations []Destination // of notifications, by name
	Permissions  []Permission
	Bots         []string // logins of accounts that are bots, although no forge shows it
	TrustedBots  []string // logins of bots that act for users
	Bypass       []Bypass
	Limits       []Limit
	Verify       []Verify
	RateLimits   []RateLimit
	Sizes        Sizes
	Networks     []netip.Prefix
	Proxies      []netip.Prefix // whose X-Forwarded-For is believed
}

// Committer is the author and committer of all commits. Its zero value is that of the
// forge, or the default.
type Committer struct{ Name, Email string }

// Database is SQLite in a file, or PostgreSQL when URL is set.
type Database struct {
	Path string // empty: promoter.db in the data folder
	URL  Reference
}

// TLS is a certificate with its key, both in files. Its zero value is none: a proxy
// terminates TLS.
type TLS struct {
	config.Position
	Certificate, Key Reference
}

// On reports whether the server terminates TLS itself.
func (t TLS) On() bool { return !t.Certificate.IsZero() }

// Defaults of the server file.
const (
	DefaultListen = "127.0.0.1:8080"
	DefaultData   = "promoter-data"
	DefaultPoll   = 5 * time.Minute

	// DefaultTimeout is how long one reconciliation may take.
	DefaultTimeout = 5 * time.Minute
)

// rawServer is the server's own file. It has what writers of a repository must not control.
type rawServer struct {
	strictyaml.Origin
	// Version of the file format.
	Version strictyaml.Located[int] `yaml:"version" required:"true"`
	// Address that the service listens on: `HOST:PORT`. Default: `127.0.0.1:8080`.
	Listen strictyaml.Located[string] `yaml:"listen"`
	// URL where users and webhooks reach the service.
	URL strictyaml.Located[string] `yaml:"url"`
	// Folder for the mirrors of repositories and the SQLite database. Default: `promoter-data`.
	Data strictyaml.Located[string] `yaml:"data"`
	// How often everything is reconciled without webhooks. Default: `5m`.
	Poll strictyaml.Located[time.Duration] `yaml:"poll"`
	// Author and committer of promoter's commits: `NAME <EMAIL>`. Default: the account of the GitHub App, else
	// `promoter <promoter@noreply.invalid>`. See docs/git.md#author-of-commits.
	Committer strictyaml.Located[string] `yaml:"committer"`
	// How promoter signs its commits. See docs/guides/signed-commits.md. Default: not at all.
	Signing *rawSigning `yaml:"signing"`
	// Database of the service. See docs/database.md. Default: SQLite in the data folder.
	Database *rawDatabase `yaml:"database"`
	// Certificate of the service. See docs/service.md#tls. Default: none, a proxy terminates TLS.
	TLS *rawTLS `yaml:"tls"`
	// Metrics of the service, at an address of their own. See docs/operate/metrics.md. Default: none.
	Metrics *rawMetrics `yaml:"metrics"`
	// Tokens of the HTTP API, which `promoter status`, `history`, and `replay` use. See docs/service.md#api. Default: disabled.
	API *rawAPI `yaml:"api"`
	// OpenTelemetry collector that receives traces. See docs/operate/metrics.md#traces. Default: disabled.
	Traces *rawTraces `yaml:"traces"`
	// Git hosts, by name.
	Forges strictyaml.Map[*rawForge] `yaml:"forges"`
	// GitOps repositories. A forge with an `app` needs none: promoter works on all repositories where the App is installed.
	Repositories []*rawRepository `yaml:"repositories"`
	// Pull requests that add a config file. See docs/service.md#onboarding. Default: disabled.
	Onboarding *rawOnboarding `yaml:"onboarding"`
	// Repositories whose pull requests may show rendered manifests. See docs/configuration.md#rendered-manifests. Default: none.
	Rendering *rawRendering `yaml:"rendering"`
	// Registries that need credentials, plain http, or a poll of their own. Others are accessed anonymously.
	Registries []*rawRegistry `yaml:"registries"`
	// Private source repositories whose commits and releases GitOps repositories may read. Others are read without
	// a credential. See docs/operate/security.md#sources-and-releases. Default: none.
	Sources []*rawSource `yaml:"sources"`
	// Receivers of webhooks, by name: the URL is `/webhooks/NAME`. Each has exactly one of `secret`, `pathSecret`,
	// `app`, `audience`, and `anonymous`. See docs/webhooks.md.
	Receivers strictyaml.Map[*rawReceiver] `yaml:"receivers"`
	// Argo CD servers and Receivers of Flux, by name, that promoter notifies of landed versions. See
	// docs/service.md#after-a-landing. Default: none.
	AfterLanding strictyaml.Map[*rawAfterLanding] `yaml:"afterLanding"`
	// Who can use commands in comments. See docs/configuration.md#permissions-and-limits. Default: all users with write access.
	Permissions []*rawPermission `yaml:"permissions"`
	// Accounts that are bots, in addition to those that the forge shows as bots. What bots do to pull requests and write
	// in comments decides nothing. See docs/operate/security.md#bots. Default: none.
	Bots strictyaml.List `yaml:"bots"`
	// Bots that act for users: what they do to pull requests and write in comments counts as that of users, within
	// `permissions`. Their approvals never count. See docs/operate/security.md#bots. Default: none.
	TrustedBots strictyaml.List `yaml:"trustedBots"`
	// Who can bypass conditions and gates, with `promoter promote --bypass` or in a comment. See docs/guides/hotfix.md. Default: no user.
	Bypass []*rawBypass `yaml:"bypass"`
	// Restrictions of all config files. See docs/configuration.md#permissions-and-limits. Default: none.
	Limits []*rawLimit `yaml:"limits"`
	// Signatures that images must have, in addition to `verify` of the config files. See docs/guides/signatures.md. Default: none.
	Verify []*rawVerify `yaml:"verify"`
	// Maximum request rates for each host.
	RateLimits []*rawRateLimit `yaml:"rateLimits"`
	// Maximum sizes of what promoter reads.
	Sizes *rawSizes `yaml:"sizes"`
	// Limits of one reconciliation.
	Reconciliation *rawReconciliation `yaml:"reconciliation"`
	// Keys by which promoter recognizes what it wrote to `promoter/_state`. See docs/operate/security.md#the-state-branch.
	Seal *rawSeal `yaml:"seal"`
	// How long the database keeps data.
	Retention *rawRetention `yaml:"retention"`
	// Private networks (CIDR) that promoter may connect to. Default: none.
	Networks strictyaml.List `yaml:"networks"`
	// Networks (CIDR) of the proxies in front of the server. Their header X-Forwarded-For names the address of a client. Default: none.
	TrustedProxies strictyaml.List `yaml:"trustedProxies"`

	// Messages about promotions. See docs/guides/notifications.md. Default: none.
	Notify *rawNotify `yaml:"notify"`

	Extensions strictyaml.Extensions `yaml:"x-*"`
}

// rawDatabase is the database of the service. Set path or url.
type rawDatabase struct {
	strictyaml.Origin `holds:"secrets"`
	// Path of the SQLite file. Default: `promoter.db` in the data folder.
	Path strictyaml.Located[string] `yaml:"path"`
	// URL of a PostgreSQL database, by reference.
	URL strictyaml.Located[string] `yaml:"url"`
}

// rawTLS is a certificate with its key.
type rawTLS struct {
	strictyaml.Origin `holds:"secrets"`
	// Certificate in PEM with its intermediates: `file:/PATH`. A changed file is read again.
	Certificate strictyaml.Located[string] `yaml:"certificate" required:"true"`
	// Key of the certificate in PEM: `file:/PATH`.
	Key strictyaml.Located[string] `yaml:"key" required:"true"`
}

// Load reads a promoter-server.yaml; file is the name that problems refer to. PROMOTER_*
// variables of the environment take precedence over the file; data nil means that there
// is no file. The Config is nil when a problem is an error.
func Load(file string, data []byte, env func(string) (string, bool)) (*Config, config.Problems) {
	in := &input{report: &strictyaml.Report{}}
	if data != nil {
		if !strictyaml.Decode(file, data, &in.raw, nil, in.report) {
			return nil, in.report.Problems()
		}
		field.CheckVersion(in.report, in.raw.Version, in.raw.Origin)
	}
	applyVariables(in, env)
	c := &Config{File: file}
	loadListener(in, c)
	c.Database = loadDatabase(in)
	c.TLS = loadTLS(in)
	c.Metrics = loadMetrics(in, c.Listen)
	c.Retention = loadRetention(in)
	c.API = loadAPI(in)
	c.Seal = loadSeal(in)
	if variable := SealFromEnvironment(env); len(variable.Keys) > 0 {
		c.Seal.Keys = variable.Keys
	}
	c.Traces = loadTraces(in)
	c.Networks = loadNetworks(in, in.raw.Networks, "name the networks of your registries and forges",
		"%q allows dialing every private address")
	c.Proxies = loadNetworks(in, in.raw.TrustedProxies, "name the networks of your proxies", "%q lets every client choose its address")
	c.Forges = loadForges(in)
	c.Repositories = loadRepositories(in, c.Forges)
	c.Onboarding = loadOnboarding(in)
	c.Rendering = loadRendering(in)
	c.Registries = loadRegistries(in, c.Poll)
	c.Sources = loadSources(in)
	c.Receivers = append(loadReceivers(in), loadReporters(in, c.API.Tokens)...)
	c.AfterLanding = loadAfterLanding(in)
	c.Destinations = loadDestinations(in)
	c.Permissions = loadPermissions(in)
	c.Bots, c.TrustedBots = loadBots(in)
	c.Bypass = loadBypass(in)
	c.Limits = loadLimits(in)
	c.Verify = loadVerify(in)
	c.RateLimits = loadRateLimits(in)
	c.Sizes = loadSizes(in)
	c.Timeout, c.Incremental = loadTimeout(in), loadIncremental(in)
	c.Committer = loadCommitter(in)
	c.Signing = loadSigning(in, c.Forges, env)
	if in.report.Failed() {
		return nil, in.report.Problems()
	}
	return c, in.report.Problems()
}

// input is the raw file and the report that the steps of loading write to.
type input struct {
	report *strictyaml.Report
	raw    rawServer
}

// variables are the environment variables that set keys that differ between machines
// which share a file.
var variables = []struct {
	name, key string
	set       func(in *input, at strictyaml.Position, value string)
}{
	{"PROMOTER_LISTEN", "listen", func(in *input, at strictyaml.Position, v string) { in.raw.Listen = strictyaml.At(at, v) }},
	{"PROMOTER_METRICS_LISTEN", "metrics.listen", func(in *input, at strictyaml.Position, v string) {
		in.raw.Metrics = &rawMetrics{Origin: strictyaml.Origin{Position: at}, Listen: strictyaml.At(at, v)}
	}},
	{"PROMOTER_URL", "url", func(in *input, at strictyaml.Position, v string) { in.raw.URL = strictyaml.At(at, v) }},
	{"PROMOTER_DATA", "data", func(in *input, at strictyaml.Position, v string) { in.raw.Data = strictyaml.At(at, v) }},
	{"PROMOTER_POLL", "poll", func(in *input, at strictyaml.Position, v string) {
		parsed, err := schedule.ParseDuration(v)
		if err != nil {
			in.report.Errorf(at, "write a number and a unit: 90s, 15m, 24h", "%v", err)
		}
		in.raw.Poll = strictyaml.At(at, parsed)
		in.raw.Poll.Invalid = err != nil
	}},
	{"PROMOTER_COMMITTER", "committer", func(in *input, at strictyaml.Position, v string) { in.raw.Committer = strictyaml.At(at, v) }},
	{"PROMOTER_DATABASE_PATH", "database.path", func(in *input, at strictyaml.Position, v string) {
		in.raw.Database = &rawDatabase{Origin: strictyaml.Origin{Position: at}, Path: strictyaml.At(at, v)}
	}},
	// The variable has the secret itself, so that the key becomes a reference to the
	// variable.
	{"PROMOTER_DATABASE_URL", "database.url", func(in *input, at strictyaml.Position, _ string) {
		in.raw.Database = &rawDatabase{Origin: strictyaml.Origin{Position: at}, URL: strictyaml.At(at, "env:"+at.File)}
	}},
}

// applyVariables puts the variables that are set, and not empty, over the file.
func applyVariables(in *input, env func(string) (string, bool)) {
	for _, v := range variables {
		if value, found := env(v.name); found && value != "" {
			v.set(in, strictyaml.Position{File: v.name}, value)
		}
	}
}

func loadListener(in *input, c *Config) {
	raw := &in.raw
	c.Listen = raw.Listen.Or(DefaultListen)
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		in.report.Errorf(raw.Listen.Position, "write HOST:PORT or :PORT", "listen is not an address")
	}
	c.URL = in.url(raw.URL, "url")
	c.Data = raw.Data.Or(DefaultData)
	in.report.ErrorIf(raw.Data.Valid() && raw.Data.Value == "", raw.Data.Position, "name a folder", "data is empty")
	c.Poll = raw.Poll.Or(DefaultPoll)
	in.report.ErrorIf(raw.Poll.Valid() && raw.Poll.Value <= 0, raw.Poll.Position, "write how often to poll, as in 5m",
		"poll must be longer than 0")
}

// maxIdentity is the most bytes of a name or an address in commits.
const maxIdentity = 250

func loadCommitter(in *input) Committer {
	raw := in.raw.Committer
	if !raw.Valid() {
		return Committer{}
	}
	committer, ok := ParseCommitter(raw.Value)
	in.report.ErrorIf(!ok, raw.Position, "write NAME <EMAIL>, as in promoter <promoter@example.com>",
		"committer is not a name and an address")
	return committer
}

// ParseCommitter parses NAME <EMAIL>. Neither may contain what Git drops from an identity.
func ParseCommitter(text string) (Committer, bool) {
	name, rest, found := strings.Cut(text, " <")
	email, isEmail := strings.CutSuffix(rest, ">")
	local, domain, _ := strings.Cut(email, "@")
	unusable := func(r rune) bool { return r == '<' || r == '>' || !unicode.IsPrint(r) }
	switch {
	case !found, !isEmail, strings.ContainsFunc(name+email, unusable), max(len(name), len(email)) > maxIdentity:
		return Committer{}, false
	case name == "", name != strings.TrimSpace(name), local == "", domain == "", strings.Contains(email, " "):
		return Committer{}, false
	}
	return Committer{Name: name, Email: email}, true
}

func loadDatabase(in *input) Database {
	raw := in.raw.Database
	if raw == nil || raw.Invalid {
		return Database{}
	}
	in.report.ErrorIf(raw.Path.IsSet() && raw.URL.IsSet(), strictyaml.Last(raw.Path.Origin, raw.URL.Origin),
		"keep path for SQLite or url for PostgreSQL", "database has both path and url")
	return Database{Path: raw.Path.Value, URL: in.reference(raw.URL, "database.url")}
}

// loadTLS requires files: they are read again when a certificate is renewed.
func loadTLS(in *input) TLS {
	raw := in.raw.TLS
	switch {
	case raw == nil || raw.Invalid:
		return TLS{}
	case !raw.Certificate.IsSet() || !raw.Key.IsSet():
		missing := "certificate"
		if raw.Certificate.IsSet() {
			missing = "key"
		}
		in.report.Errorf(raw.Position, "write certificate and key, or remove tls and let a proxy terminate it", "tls has no %s", missing)
		return TLS{}
	}
	file := func(raw strictyaml.Located[string], key string) Reference {
		reference := in.reference(raw, key)
		in.report.ErrorIf(!reference.IsZero() && reference.File() == "", raw.Position, "write file:/PATH",
			"%s is not in a file, which can be read again when it is renewed", key)
		return reference
	}
	return TLS{Position: raw.Position, Certificate: file(raw.Certificate, "tls.certificate"), Key: file(raw.Key, "tls.key")}
}

// loadNetworks reads networks, and warns with the given texts about one that contains
// every address.
func loadNetworks(in *input, list strictyaml.List, advice, warning string) []netip.Prefix {
	var networks []netip.Prefix
	for _, raw := range list.Items {
		if !raw.Valid() {
			continue
		}
		network, err := netip.ParsePrefix(raw.Value)
		switch {
		case err != nil:
			in.report.Errorf(raw.Position, "write an address and its length, as in 10.0.0.0/8", "%q is not a network", raw.Value)
			continue
		case network != network.Masked():
			in.report.Errorf(raw.Position, "write "+network.Masked().String(), "%q has an address inside of the network", raw.Value)
		case network.Bits() == 0:
			in.report.Warnf(raw.Position, advice, warning, raw.Value)
		}
		networks = append(networks, network.Masked())
	}
	return networks
}

// reference reads where a secret is. Its problems do not quote what is written: it may
// be the secret itself.
func (in *input) reference(raw strictyaml.Located[string], key string) Reference {
	if !raw.Valid() {
		return Reference{}
	}
	reference, err := ParseReference(raw.Value)
	if err != nil {
		in.report.Errorf(raw.Position, "write env:NAME, or file:/PATH with the secret in that file; if this was a secret, replace it",
			"%s must be a reference: %v", key, err)
	}
	return reference
}

// url validates the address of a server. Its problems do not quote it: it may have a
// password.
func (in *input) url(raw strictyaml.Located[string], key string) string {
	if !raw.Valid() {
		return ""
	}
	parsed, err := url.Parse(raw.Value)
	if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" && parsed.Scheme != "ssh" {
		advice := "write https://HOST"
		if err == nil && parsed.Scheme == "file" {
			advice = "file: URLs work only with --repo"
		}
		in.report.Errorf(raw.Position, advice, "%s is not the address of a server", key)
		return ""
	}
	if _, password := parsed.User.Password(); password || parsed.User != nil && parsed.Scheme != "ssh" {
		in.report.Errorf(raw.Position, "remove what is before @; name credentials by reference", "%s has a user or a password", key)
		return ""
	}
	in.report.ErrorIf(parsed.RawQuery != "" || parsed.Fragment != "", raw.Position, "remove what follows the path",
		"%s has a query or a fragment", key)
	return strings.TrimRight(raw.Value, "/")
}

// checkHTTP allows plain http only where the entry enables it and some network is named:
// the address must be in one.
func (in *input) checkHTTP(what string, address strictyaml.Located[string], insecure strictyaml.Located[bool]) {
	parsed, err := url.Parse(address.Value)
	http := err == nil && parsed.Scheme == "http"
	switch {
	case http && !insecure.Value:
		in.report.Errorf(address.Position, "write https, or add insecure: true", "%s uses plain http", what)
	case insecure.Value && address.Valid() && !http:
		in.report.Errorf(insecure.Position, "remove insecure, or write http", "%s is insecure, but its url is not http", what)
	}
	if insecure.Value && len(in.raw.Networks.Items) == 0 {
		in.report.Errorf(insecure.Position, "add networks with the network of the host",
			"%s is insecure, but plain http is only allowed to addresses in networks, which is empty", what)
	}
}
