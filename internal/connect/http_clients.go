package connect

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/glob"
	"promoter/internal/outbound"
	"promoter/internal/registry"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
	"promoter/internal/telemetry"
)

// What a request is sent to, for metrics, traces, and the status.
const (
	ToRegistry  = "registry"
	ToForge     = "forge"
	ToGit       = "git"
	ToMachine   = "machine"   // the metadata services of a cloud
	ToCollector = "collector" // of traces
	ToEngine    = "engine"    // Argo CD and Flux
	ToProvider  = "provider"  // of OpenID Connect

	ToNotification = "notification" // destinations of messages
)

// HTTPClients are one client for each kind of host, because they differ in the hosts
// that may be asked over plain HTTP.
type HTTPClients struct {
	Registries *outbound.Client
	Forges     *outbound.Client
	// Public asks forges without a credential. What they refuse to everyone does not stop
	// the requests with one.
	Public *outbound.Client
	Git    *outbound.Client
	// Engines asks Argo CD servers and Flux.
	Engines *outbound.Client
	// Notifications sends messages about promotions.
	Notifications *outbound.Client
	// machine reaches the metadata services of a cloud, for registry logins alone. All
	// other clients refuse their addresses.
	machine *outbound.Client
}

const (
	gitTimeout = 30 * time.Minute // a first fetch may receive a large pack

	// A metadata service answers at once or does not exist.
	machineTimeout  = 5 * time.Second
	machineAttempts = 2

	uploadTimeout = 10 * time.Second // of spans
)

func (c *Connections) newHTTPClients() (clients HTTPClients, err error) {
	file := c.Server.File
	var insecureRegistries, insecureForges []string
	for _, registry := range file.Registries {
		if registry.Insecure {
			insecureRegistries = append(insecureRegistries, registry.Host)
		}
	}
	for _, forge := range file.Forges {
		if forge.Insecure {
			insecureForges = append(insecureForges, outbound.Host(forge.URL))
		}
	}
	var insecureEngines []string
	for _, receiver := range file.Receivers {
		if receiver.Poll != nil && receiver.Poll.Insecure {
			insecureEngines = append(insecureEngines, outbound.Host(receiver.Poll.URL))
		}
	}
	for _, entry := range file.AfterLanding {
		if entry.Flux != nil && entry.Flux.Insecure {
			insecureEngines = append(insecureEngines, outbound.Host(entry.Flux.URL))
		}
	}
	for _, one := range []struct {
		client   **outbound.Client
		to       string
		insecure []string
		timeout  time.Duration
	}{
		{&clients.Registries, ToRegistry, insecureRegistries, 0},
		{&clients.Forges, ToForge, insecureForges, 0},
		{&clients.Public, ToForge, insecureForges, 0},
		{&clients.Git, ToGit, insecureForges, gitTimeout},
		{&clients.Engines, ToEngine, insecureEngines, 0},
		{&clients.Notifications, ToNotification, insecureDestinations(file), 0},
	} {
		if *one.client, err = c.NewHTTPClient(one.to, one.insecure, one.timeout); err != nil {
			return clients, err
		}
	}
	hosts := auth.MetadataHosts(c.Server.Env)
	clients.machine, err = outbound.New(outbound.Options{
		Networks: auth.MetadataNetworks(hosts), Insecure: hosts,
		Timeout: machineTimeout, Attempts: machineAttempts, Observe: c.observe(ToMachine), Now: c.Server.Now,
	})
	return clients, fault.Wrap(fault.Internal, err)
}

// NewHTTPClient makes a client with the networks and rate limits of the server file.
// Loopback may be dialed only where a user works on repositories of the same machine. A
// zero timeout is the default.
func (c *Connections) NewHTTPClient(to string, insecure []string, timeout time.Duration) (*outbound.Client, error) {
	client, err := outbound.New(outbound.Options{
		Networks:      c.Server.File.Networks,
		AllowLoopback: c.Server.Local,
		Insecure:      insecure,
		Proxy:         http.ProxyFromEnvironment,
		RateLimitOf:   func(host string) outbound.RateLimit { return budget(c.Server.File, to, host) },
		Timeout:       timeout,
		Observe:       c.observe(to),
		Now:           c.Server.Now,
	})
	return client, fault.Wrap(fault.Internal, err)
}

func (c *Connections) observe(to string) func(context.Context, outbound.Exchange) {
	if c.hooks.Request == nil {
		return nil
	}
	return func(ctx context.Context, answer outbound.Exchange) { c.hooks.Request(ctx, to, answer) }
}

// budget returns the rate limit of a host: the first entry of the file that names it. Without one,
// the rate for registries adapts; forges publish limits that leave no room for that.
func budget(file *serverconfig.Config, to, host string) outbound.RateLimit {
	i := slices.IndexFunc(file.RateLimits, func(limit serverconfig.RateLimit) bool {
		return glob.MatchName(limit.Host, host) || glob.MatchName(limit.Host, outbound.Hostname(host))
	})
	var limit outbound.RateLimit
	if i >= 0 {
		own := file.RateLimits[i]
		limit = outbound.RateLimit{PerSecond: float64(own.PerSecond), Burst: own.Burst, Concurrent: own.Concurrent}
	}
	if to == ToRegistry {
		limit.Most = registry.MostPerSecond(host)
	}
	return limit
}

// TraceOptions returns where and how the service sends spans. The Log and the Version
// are left to the caller.
func (c *Connections) TraceOptions(instance string) (to telemetry.TraceOptions, err error) {
	file := c.Server.File.Traces
	headers := map[string]secret.String{}
	for _, header := range file.Headers {
		value, err := c.Server.Secret(header.Value)
		if err != nil {
			return to, fmt.Errorf("the header %s: %w", header.Name, err)
		}
		headers[header.Name] = value
	}
	var insecure []string
	if file.Insecure {
		insecure = []string{outbound.Host(file.Endpoint)}
	}
	client, err := c.NewHTTPClient(ToCollector, insecure, uploadTimeout)
	if err != nil {
		return to, err
	}
	return telemetry.TraceOptions{
		Endpoint: file.Endpoint, Headers: headers, HTTP: client, Ratio: file.Ratio,
		Service: file.Service, Instance: instance, Now: c.Server.Now,
	}, nil
}
