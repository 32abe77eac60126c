// Package connect turns a server file into connections: Git hosts and their repositories,
// registries, HTTP clients, and senders of notifications.
//
// Connections are what a process keeps: HTTP clients, registry logins, and what each
// forge may be asked again for free. A Session is one refresh of them: its repositories
// are open, and each registry is asked at most once for what can change.
//
// A credential never reaches a host or a repository that the server file does not give
// it to: see Sources, Session.CheckCredential, and registry.Credential.
package connect

import (
	"context"
	"fmt"
	"os"
	"time"

	"promoter/internal/git"
	"promoter/internal/git/signing"
	"promoter/internal/memory"
	"promoter/internal/outbound"
	"promoter/internal/registry"
	"promoter/internal/rendered"
	"promoter/internal/seal"
	"promoter/internal/secret"
	"promoter/internal/serverfile"
)

// Hooks observe connections. Each may be nil.
type Hooks struct {
	// Request is called for each request that was sent, retries included, with what it
	// was sent to and the context of the request.
	Request func(ctx context.Context, to string, answer outbound.Exchange)
	// DigestCached is called when a registry is asked about a digest, with whether the
	// answer was cached.
	DigestCached func(hit bool)
}

// Connections are what a process keeps between sessions: HTTP clients with the pauses
// that hosts asked for, registry logins and caches, and forges with their ETags, rate
// limits, and installation tokens.
type Connections struct {
	Server  *serverfile.Server
	HTTP    HTTPClients
	seals   *secret.Derived[seal.Keys]   // of the branch promoter/_state; none: there are no seals
	signing *secret.Derived[signing.Key] // of commits; zero: none

	hooks   Hooks
	forges  forgeCache
	sources sourceCache
	logins  *registry.Logins
	facts   *registry.Cache

	memory     memory.Division // with the child processes that render
	renderings *rendered.Pool
	disk       git.Disk // of mirrors
}

// Connect opens a server and makes its connections, for a command.
func Connect(options serverfile.Options) (*Connections, error) {
	server, err := serverfile.OpenServer(options)
	if err != nil {
		return nil, err
	}
	return New(server, Hooks{})
}

// New makes the HTTP clients of a server. It sends no request.
func New(server *serverfile.Server, hooks Hooks) (*Connections, error) {
	c := &Connections{
		Server: server, hooks: hooks, logins: registry.NewLogins(), facts: registry.NewCache(),
	}
	var program string
	var err error
	if len(server.File.Rendering) > 0 { // only a rendering starts it again, and it cannot be found without /proc
		if program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
	}
	c.memory = memory.Divide(memory.Limit(), rendered.MinMemory, rendered.MaxMemory)
	c.renderings = rendered.NewPool(rendered.Options{
		Program: program, Children: c.memory.Children, Memory: c.memory.Child, Now: server.Now,
	})
	if c.seals, err = server.SealKeys(); err != nil {
		return nil, err
	}
	if c.signing, err = server.SigningKey(); err != nil {
		return nil, err
	}
	c.HTTP, err = c.newHTTPClients()
	return c, err
}

// ReserveMemory keeps memory of the process free for the child processes that render manifests, if the server file
// allows rendering. Call it once, before the memory is divided further.
func (c *Connections) ReserveMemory() {
	if len(c.Server.File.Rendering) > 0 {
		c.memory.Reserve()
	}
}

// Backoff is a time until which a host is not asked: not at all, or not with one
// credential.
type Backoff struct {
	To         string // ToForge, …
	Host       string
	Credential string // in words; empty: the whole host
	Until      time.Time
	Reason     string
}

func backoff(to, credential string, pause outbound.Backoff) Backoff {
	return Backoff{To: to, Host: pause.Host, Credential: credential, Until: pause.Until, Reason: pause.Reason}
}

// HostBackoffs lists the hosts that this process does not ask for a while.
func (c *Connections) HostBackoffs() (all []Backoff) {
	for _, one := range []struct {
		to     string
		client *outbound.Client
	}{
		{ToEngine, c.HTTP.Engines},
		{ToForge, c.HTTP.Forges},
		{ToForge, c.HTTP.Public},
		{ToGit, c.HTTP.Git},
		{ToMachine, c.HTTP.machine},
		{ToNotification, c.HTTP.Notifications},
		{ToRegistry, c.HTTP.Registries},
	} {
		for _, pause := range one.client.Backoffs() {
			all = append(all, backoff(one.to, "", pause))
		}
	}
	return all
}

// CredentialBackoffs lists the credentials of forges that are not used for a while, by
// forge and credential.
func (c *Connections) CredentialBackoffs() []Backoff { return c.forges.backoffs() }
