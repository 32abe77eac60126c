package config

import "time"

// The raw types of promoter-server.yaml, in the manner of raw.go.

// rawServer is the server's own file. It holds what a repository's writer must not decide.
type rawServer struct {
	place
	// Version of this file's format.
	Version at[int] `yaml:"version" required:"true"`
	// Listen is the address that the server listens on. Default: 127.0.0.1:8080.
	Listen at[string] `yaml:"listen"`
	// URL is where people and webhooks reach the server.
	URL at[string] `yaml:"url"`
	// Data is the folder for mirrors of repositories and for the SQLite database. Default: promoter-data.
	Data at[string] `yaml:"data"`
	// Poll is how often everything is looked at without any webhook. Default: 5m.
	Poll at[time.Duration] `yaml:"poll"`
	// Database: SQLite in the data folder by default.
	Database *rawDatabase `yaml:"database"`
	// TLS is spoken by the server itself. Default: it is not, and a proxy does.
	TLS *rawTLS `yaml:"tls"`
	// API lets commands ask the running server. Default: it does not answer them.
	API *rawAPI `yaml:"api"`
	// Traces go to a collector of OpenTelemetry. Default: none are made.
	Traces *rawTraces `yaml:"traces"`
	// Forges are the Git servers, by name.
	Forges named[*rawForge] `yaml:"forges"`
	// Repositories are the GitOps repositories. A GitHub App needs none: it works on those where it is installed.
	Repositories []*rawRepository `yaml:"repositories"`
	// Onboarding offers a config file to repositories that have none. Default: to none.
	Onboarding *rawOnboarding `yaml:"onboarding"`
	// Registries that need a credential, plain http, or times of their own. All others are asked anonymously.
	Registries []*rawRegistry `yaml:"registries"`
	// Receivers of webhooks, by name: /webhooks/NAME.
	Receivers named[*rawReceiver] `yaml:"receivers"`
	// Permissions say who may do what.
	Permissions []*rawPermission `yaml:"permissions"`
	// Bypass says who may go past conditions and gates.
	Bypass []*rawBypass `yaml:"bypass"`
	// Limits are what no repository's config file may go beyond.
	Limits []*rawLimit `yaml:"limits"`
	// RateLimits are what hosts are asked at most.
	RateLimits []*rawRateLimit `yaml:"rateLimits"`
	// Sizes are what is read at most.
	Sizes *rawSizes `yaml:"sizes"`
	// Retention is how long the database keeps things.
	Retention *rawRetention `yaml:"retention"`
	// Networks are the private networks (CIDR) that may be dialled.
	Networks list `yaml:"networks"`

	Notify     reserved   `yaml:"notify"`
	Extensions extensions `yaml:"x-*"`
}

// rawDatabase has one of path and url.
type rawDatabase struct {
	place
	// Path of the SQLite file. Default: promoter.db in the data folder.
	Path at[string] `yaml:"path"`
	// URL of a PostgreSQL database, by reference: env:NAME or file:PATH.
	URL at[string] `yaml:"url"`
}

// rawTLS is a certificate with its key.
type rawTLS struct {
	place
	// Certificate in PEM, followed by those between it and its authority: file:PATH. It is read again when the file changes.
	Certificate at[string] `yaml:"certificate" required:"true"`
	// Key of the certificate in PEM: file:PATH.
	Key at[string] `yaml:"key" required:"true"`
}

// rawRetention is how long the database keeps things.
type rawRetention struct {
	place
	// Deliveries of webhooks. Default: 30d.
	Deliveries at[time.Duration] `yaml:"deliveries"`
	// DeliveriesSize is how much deliveries may take, as in 512MiB; the oldest go first. Default: 1GiB.
	DeliveriesSize at[string] `yaml:"deliveriesSize"`
	// History of promotions. Default: for ever.
	History at[time.Duration] `yaml:"history"`
}

// rawAPI is what commands ask the running server with.
type rawAPI struct {
	place
	// Token that a command shows, by reference: env:NAME or file:PATH; at least 32 characters.
	Token at[string] `yaml:"token" required:"true"`
}

// rawTraces is a collector that traces are sent to, by OTLP over HTTP.
type rawTraces struct {
	place
	// Endpoint of the collector, without /v1/traces.
	Endpoint at[string] `yaml:"endpoint" required:"true"`
	// Headers that go with each request, by name. A value is env:NAME or file:PATH.
	Headers named[at[string]] `yaml:"headers"`
	// Ratio of the traces that are kept, above 0. Default: 1, all.
	Ratio at[float64] `yaml:"ratio"`
	// Service is the name that the collector knows promoter by. Default: promoter.
	Service at[string] `yaml:"service"`
	// Insecure allows plain http to the collector when its address lies in networks.
	Insecure at[bool] `yaml:"insecure"`
}

// rawForge is a Git server with the right to use it.
type rawForge struct {
	place
	// Kind of the server; git is plain Git, which is only pushed to.
	Kind at[string] `yaml:"kind" values:"github gitlab gitea git" required:"true"`
	// URL of the server. Default: https://github.com or https://gitlab.com, by kind.
	URL at[string] `yaml:"url"`
	// App is a GitHub App.
	App *rawApp `yaml:"app"`
	// Token by reference: env:NAME or file:PATH.
	Token at[string] `yaml:"token"`
	// Username for plain Git over https.
	Username at[string] `yaml:"username"`
	// Password for plain Git over https, by reference.
	Password at[string] `yaml:"password"`
	// SSHKey is a private key for plain Git over ssh, by reference.
	SSHKey at[string] `yaml:"sshKey"`
	// KnownHosts are the host keys for plain Git over ssh, by reference.
	KnownHosts at[string] `yaml:"knownHosts"`
	// Insecure allows plain http to this host when its address lies in networks.
	Insecure at[bool] `yaml:"insecure"`
}

// rawApp is a GitHub App: one with id and key, or one that is made with setup.
type rawApp struct {
	place
	// ID of the App.
	ID at[int] `yaml:"id"`
	// Key is the App's private key, by reference.
	Key at[string] `yaml:"key"`
	// Setup is the secret of the page /setup/FORGE/SECRET, on which a click makes the App and keeps it in the data folder, by reference; at least 32 characters.
	Setup at[string] `yaml:"setup"`
	// Organization that the App of setup belongs to. Default: the account of who clicks.
	Organization at[string] `yaml:"organization"`
}

// rawRepository is one GitOps repository.
type rawRepository struct {
	place
	// Forge by its name in forges.
	Forge at[string] `yaml:"forge" required:"true"`
	// Name on the forge, OWNER/NAME; with plain Git, the path below the forge's url.
	Name at[string] `yaml:"name" required:"true"`
}

// rawOnboarding says which repositories are offered a config file in a pull request.
type rawOnboarding struct {
	place
	// Repositories as globs: HOST/OWNER/NAME.
	Repositories list `yaml:"repositories" required:"true"`
}

// rawRegistry is what a registry, or a part of it, is asked with.
type rawRegistry struct {
	place
	// Host, with its port if it has one.
	Host at[string] `yaml:"host" required:"true"`
	// Repositories on the host, as globs. Default: all.
	Repositories list `yaml:"repositories"`
	// Credentials to ask with.
	Credentials *rawCredentials `yaml:"credentials"`
	// UsableBy are the GitOps repositories, as globs, that may use the credentials.
	UsableBy list `yaml:"usableBy"`
	// Insecure allows plain http to this host when its address lies in networks.
	Insecure at[bool] `yaml:"insecure"`
	// Poll is how often the service reads tags of this registry: an interval, or a schedule. Default: the server's poll.
	Poll rawPoll `yaml:"poll"`
}

// rawCredentials is a username with its password, a token, or a provider of logins that run out.
type rawCredentials struct {
	place
	// Username that goes with the password.
	Username at[string] `yaml:"username"`
	// Password by reference: env:NAME or file:PATH.
	Password at[string] `yaml:"password"`
	// Token by reference: env:NAME or file:PATH.
	Token at[string] `yaml:"token"`
	// TokenHost is the host of the token service that may get username and password. Default: one that belongs to the registry by its name.
	TokenHost at[string] `yaml:"tokenHost"`
	// Provider of logins: the cloud that the registry belongs to. Without more it logs in who the process is there.
	Provider at[string] `yaml:"provider" values:"aws google azure"`
	// Role to assume, an ARN, with aws.
	Role at[string] `yaml:"role"`
	// Key is the JSON file of a service account or of a workload identity federation, by reference, with google.
	Key at[string] `yaml:"key"`
	// Tenant of Microsoft Entra ID, with azure.
	Tenant at[string] `yaml:"tenant"`
	// Client ID of an application or of a managed identity, with azure.
	Client at[string] `yaml:"client"`
	// Secret of the client, by reference, with azure.
	Secret at[string] `yaml:"secret"`
}

// rawReceiver takes the webhooks of one sender. It has exactly one of secret, pathSecret, app, audience and anonymous.
type rawReceiver struct {
	place
	// Kind of the sender.
	Kind at[string] `yaml:"kind" values:"acr argocd cdevents distribution dockerhub ecr flux gar generic gitea github gitlab harbor jfrog nexus quay snapshot zot" required:"true"`
	// Secret that signs the body or stands in a header, by reference.
	Secret at[string] `yaml:"secret"`
	// PathSecret stands in the URL, /webhooks/NAME/SECRET, by reference; at least 32 characters.
	PathSecret at[string] `yaml:"pathSecret"`
	// App takes the webhook of the GitHub App that this forge has by setup, with the secret that came with it.
	App at[string] `yaml:"app"`
	// Header that holds the secret. Default: Authorization.
	Header at[string] `yaml:"header"`
	// Audience of Google's identity token.
	Audience at[string] `yaml:"audience"`
	// Email of the account in Google's identity token.
	Email at[string] `yaml:"email"`
	// Anonymous takes webhooks without any credential. A webhook is only a hint, but each one costs work.
	Anonymous at[bool] `yaml:"anonymous"`
}

// rawPermission lets people do something.
type rawPermission struct {
	place
	// Verbs that are allowed.
	Verbs list `yaml:"verbs" values:"promote hold resume reject rollback freeze thaw" required:"true"`
	// Repositories as globs. Default: all.
	Repositories list `yaml:"repositories"`
	// Applications as globs. Default: all.
	Applications list `yaml:"applications"`
	// Environments as globs. Default: all.
	Environments list `yaml:"environments"`
	// Who: NAME or team:GROUP/NAME.
	Who list `yaml:"who" required:"true"`
}

// rawBypass lets people go past what blocks.
type rawBypass struct {
	place
	// Conditions and gates that may be passed.
	Conditions list `yaml:"conditions" values:"healthy soak checks tagged windows approvals" required:"true"`
	// Repositories as globs. Default: all.
	Repositories list `yaml:"repositories"`
	// Applications as globs. Default: all.
	Applications list `yaml:"applications"`
	// Environments as globs. Default: all.
	Environments list `yaml:"environments"`
	// Who: NAME or team:GROUP/NAME.
	Who list `yaml:"who" required:"true"`
}

// rawLimit is what config files may not go beyond where it applies.
type rawLimit struct {
	place
	// Repositories as globs. Default: all.
	Repositories list `yaml:"repositories"`
	// Environments as globs. Default: all.
	Environments list `yaml:"environments"`
	// Land lists the values of land that are allowed.
	Land list `yaml:"land" values:"pr automerge push"`
	// Propose lists the values of propose that are allowed.
	Propose list `yaml:"propose" values:"automatic manual never"`
	// Approvals that are wanted at least.
	Approvals at[int] `yaml:"approvals"`
}

// rawRateLimit is what hosts are asked at most.
type rawRateLimit struct {
	place
	// Host as a glob with *.
	Host at[string] `yaml:"host" required:"true"`
	// PerSecond requests in the long run. Default: 50.
	PerSecond at[int] `yaml:"perSecond"`
	// Burst of requests after a quiet time. Default: 100.
	Burst at[int] `yaml:"burst"`
	// Concurrent requests. Default: 8.
	Concurrent at[int] `yaml:"concurrent"`
}

// rawSizes are sizes like 1MiB.
type rawSizes struct {
	place
	// File is the largest file that references are looked for in. Default: 1MiB.
	File at[string] `yaml:"file"`
	// Pack is the most that one fetch may bring. Default: 512MiB.
	Pack at[string] `yaml:"pack"`
	// Object is the largest single Git object. Default: 32MiB.
	Object at[string] `yaml:"object"`
}

func (*rawDatabase) secretive()    {}
func (*rawAPI) secretive()         {}
func (*rawForge) secretive()       {}
func (*rawApp) secretive()         {}
func (*rawCredentials) secretive() {}
func (*rawReceiver) secretive()    {}
func (*rawTLS) secretive()         {}
