package connect

import (
	"context"

	"promoter/internal/outbound"
	"promoter/internal/registry"
)

// Hooks observe connections. Each may be nil.
type Hooks struct {
	// Request is called for each request that was sent, retries included, with what it
	// was sent to and the context of the request.
	Request func(ctx context.Context, to string, answer outbound.Answer)
	// DigestCached is called when a registry is asked about a digest, with whether the
	// answer was cached.
	DigestCached func(hit bool)
}

// Connections are what a process keeps between sessions: HTTP clients with the pauses
// that hosts asked for, registry logins and caches, and forges with their ETags, rate
// limits, and installation tokens.
type Connections struct {
	Server *Server
	HTTP   HTTPClients

	hooks  Hooks
	forges forgeCache
	logins *registry.Logins
	facts  *registry.Memories
}

// New makes the HTTP clients of a server. It sends no request.
func New(server *Server, hooks Hooks) (*Connections, error) {
	c := &Connections{Server: server, hooks: hooks, logins: registry.NewLogins(), facts: registry.NewMemories()}
	var err error
	c.HTTP, err = c.newHTTPClients()
	return c, err
}

// Pause is a time until which a host is not asked: not at all, or not with one
// credential.
type Pause struct {
	To         string // ToForge, …
	Credential string // in words; empty: the whole host
	outbound.Pause
}

// HostPauses lists the pauses of hosts that this process observes.
func (c *Connections) HostPauses() (all []Pause) {
	for _, one := range []struct {
		to     string
		client *outbound.Client
	}{{ToForge, c.HTTP.Forges}, {ToGit, c.HTTP.Git}, {ToMachine, c.HTTP.machine}, {ToRegistry, c.HTTP.Registries}} {
		for _, pause := range one.client.Pauses() {
			all = append(all, Pause{To: one.to, Pause: pause})
		}
	}
	return all
}

// CredentialPauses lists the pauses of credentials of forges, by forge and credential.
func (c *Connections) CredentialPauses() []Pause { return c.forges.pauses() }
