package app

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/registry/auth"
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

// outward are the ways out of a server. They outlive a round of work, with what hosts
// asked for: one that wants a pause wants it of whoever asks next.
type outward struct {
	mutex sync.Mutex
	made  *ways
}

// newWays makes the ways out, once.
func (s *Server) newWays() (ways, error) {
	s.outward.mutex.Lock()
	defer s.outward.mutex.Unlock()
	if s.outward.made == nil {
		made, err := s.makeWays()
		if err != nil {
			return ways{}, err
		}
		s.outward.made = &made
	}
	return *s.outward.made, nil
}

func (s *Server) makeWays() (ways, error) {
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
	hosts := auth.MetadataHosts(s.env)
	way, err := outbound.New(outbound.Options{
		Networks: auth.MetadataNetworks(hosts), Insecure: hosts,
		Timeout: machineTimeout, Attempts: machineAttempts, Observe: s.observing(toMachine), Now: s.now,
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
		Observe:       s.observing(to),
		Now:           s.now,
	})
	return way, fault.Wrap(fault.Internal, err)
}

// observing tells whoever counts at the time of a request: ways may be made before.
func (s *Server) observing(to string) func(context.Context, outbound.Answer) {
	return func(ctx context.Context, answer outbound.Answer) {
		if tell := s.observe(to); tell != nil {
			tell(ctx, answer)
		}
	}
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
