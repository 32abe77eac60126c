package app

import (
	"net/http"
	"net/url"
	"time"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/registry/cloud"
)

// gitTimeout bounds one session of Git: a first fetch may bring a large pack.
const gitTimeout = 30 * time.Minute

// ways are the ways out of a run, one for each kind of host, because what may be
// spoken to in plain http differs.
type ways struct {
	registries *outbound.Client
	forges     *outbound.Client
	git        *outbound.Client
	// machine is the way to the services of the machine itself, for the logins of
	// cloud registries and for nothing else.
	machine *outbound.Client
}

func (s *Server) newWays() (ways, error) {
	var made ways
	var err error
	if made.registries, err = s.way(toRegistry, s.insecureRegistries(), 0); err != nil {
		return ways{}, err
	}
	if made.forges, err = s.way(toForge, s.insecureForges(), 0); err != nil {
		return ways{}, err
	}
	if made.git, err = s.way(toGit, s.insecureForges(), gitTimeout); err != nil {
		return ways{}, err
	}
	made.machine, err = s.machineWay()
	return made, err
}

// Times of the services of a machine, which answer at once or are not there.
const (
	machineTimeout  = 5 * time.Second
	machineAttempts = 2
)

// machineWay makes a way to the addresses at which a cloud answers its machines.
// All others refuse these addresses.
func (s *Server) machineWay() (*outbound.Client, error) {
	hosts := cloud.MetadataHosts(s.env)
	way, err := outbound.New(outbound.Options{
		Networks: cloud.MetadataNetworks(hosts), Insecure: hosts,
		Timeout: machineTimeout, Attempts: machineAttempts, Observe: s.observe(toMachine), Now: s.now,
	})
	return way, fault.Wrap(fault.Internal, err)
}

// way makes a way out. The machine itself may be dialled only where a person
// works on repositories of that machine.
func (s *Server) way(to string, insecure []string, timeout time.Duration) (*outbound.Client, error) {
	way, err := outbound.New(outbound.Options{
		Networks:      s.file.Networks,
		AllowLoopback: s.local,
		Insecure:      insecure,
		Proxy:         http.ProxyFromEnvironment,
		BudgetOf:      s.budgetOf,
		Timeout:       timeout,
		Observe:       s.observe(to),
		Now:           s.now,
	})
	return way, fault.Wrap(fault.Internal, err)
}

func (s *Server) insecureRegistries() []string {
	var hosts []string
	for _, registry := range s.file.Registries {
		if registry.Insecure {
			hosts = append(hosts, registry.Host)
		}
	}
	return hosts
}

func (s *Server) insecureForges() []string {
	var hosts []string
	for _, forge := range s.file.Forges {
		if forge.Insecure {
			hosts = append(hosts, hostOf(forge.URL))
		}
	}
	return hosts
}

// budgetOf is what the file says a host is asked at most: the first entry that
// names it.
func (s *Server) budgetOf(host string) outbound.Budget {
	for _, limit := range s.file.RateLimits {
		if config.MatchGlob(limit.Host, host) || config.MatchGlob(limit.Host, withoutPort(host)) {
			return outbound.Budget{PerSecond: float64(limit.PerSecond), Burst: limit.Burst, Concurrent: limit.Concurrent}
		}
	}
	return outbound.Budget{}
}

// hostOf returns the host of a URL, with its port if it has one.
func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return parsed.Host
}

func withoutPort(host string) string { return (&url.URL{Host: host}).Hostname() }
