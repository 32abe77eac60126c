package server

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"promoter/internal/api"
	"promoter/internal/fault"
)

// Limits of webhooks that have not proven their credential yet.
const (
	// A source may fail to authenticate failureBurst times at once, and failureRate times
	// per second. More get 429. A request with a valid credential is never counted.
	failureRate  = 10
	failureBurst = 50

	// maxSources limits the addresses that are remembered. The rest share one entry.
	maxSources = 4096
)

// source is where requests come from. It is charged for what is not authenticated, so that
// it takes nothing from the receivers, whose names are public.
type source struct {
	failures *rate.Limiter
	buffered atomic.Int64 // bytes of incomplete bodies
}

func newSource() *source {
	return &source{failures: rate.NewLimiter(failureRate, failureBurst)}
}

// charge counts a request that failed with err before it was authenticated. It returns
// that error, or another one if there are too many such requests.
func (s *source) charge(at time.Time, err error) error {
	if s.failures.AllowN(at, 1) {
		return err
	}
	return fault.Limited(at.Add(time.Second), errors.New("too many requests of this address have no valid credential"))
}

// idle reports whether forgetting the source changes nothing.
func (s *source) idle(at time.Time) bool {
	return s.buffered.Load() == 0 && s.failures.TokensAt(at) >= failureBurst
}

// sources are the sources of requests, by address.
type sources struct {
	buffered atomic.Int64 // of all

	mu    sync.Mutex
	known map[netip.Addr]*source
	rest  *source // of the addresses over maxSources
}

func newSources() *sources {
	return &sources{known: map[netip.Addr]*source{}, rest: newSource()}
}

// of returns the source of an address as the server sees it, which is the proxy's unless
// the operator trusts that proxy.
func (s *sources) of(address string, at time.Time) *source {
	from := api.SourceOf(address)
	if !from.IsValid() {
		return s.rest
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.known[from]; ok {
		return known
	}
	if len(s.known) >= maxSources {
		for key, one := range s.known {
			if one.idle(at) {
				delete(s.known, key)
			}
		}
	}
	if len(s.known) >= maxSources {
		return s.rest
	}
	added := newSource()
	s.known[from] = added
	return added
}

// addressOf returns how the address of a client is found: that of the connection, or, for
// a connection from a trusted proxy, the last address in X-Forwarded-For that is not one.
func addressOf(proxies []netip.Prefix) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, proxy := range proxies {
		trust = append(trust, echo.TrustIPRange(&net.IPNet{
			IP: proxy.Addr().AsSlice(), Mask: net.CIDRMask(proxy.Bits(), proxy.Addr().BitLen()),
		}))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}
