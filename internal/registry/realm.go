package registry

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"golang.org/x/net/publicsuffix"

	"promoter/internal/fault"
)

// realm says which token services may get the credential of a registry. A
// registry names its token service, and may name any; those that belong to it by
// their names are the usual ones: the same host (Harbor, GHCR, Quay, the clouds),
// or one of the same owner (auth.docker.io of Docker Hub, gitlab.com of
// registry.gitlab.com).
type realm struct {
	registry string // its host
	named    string // the one that the server's file names; empty: none
	anywhere bool   // a person's own Docker configuration, which Docker sends anywhere
}

func (r grant) realm(registry name.Repository) realm {
	return realm{registry: bareHost(registry.RegistryStr()), named: bareHost(r.tokenHost), anywhere: r.docker}
}

// check refuses a request that takes the credential to another host. Redirects
// are not looked at: the way out takes credentials off those.
func (r realm) check(req *http.Request) error {
	host := bareHost(req.URL.Host)
	carries := req.Header.Get("Authorization") != "" || req.Body != nil && req.Body != http.NoBody
	if req.Response != nil || !carries || r.admits(host) {
		return nil
	}
	return fault.New(fault.Invalid, "%s wants the credential to be sent to %s, which does not belong to it by its name: if it does, write `tokenHost: %s` beside the credentials in the server's file", r.registry, host, host)
}

func (r realm) admits(host string) bool {
	return r.anywhere || host == r.registry || r.named != "" && host == r.named || sameOwner(host, r.registry)
}

// sameOwner says that two names lie below one domain that somebody registered.
func sameOwner(a, b string) bool {
	of, err := publicsuffix.EffectiveTLDPlusOne(a)
	if err != nil || isAddress(a) {
		return false
	}
	other, err := publicsuffix.EffectiveTLDPlusOne(b)
	return err == nil && of == other
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// bareHost is a host without its port, in lower case.
func bareHost(host string) string {
	return strings.TrimSuffix(strings.ToLower((&url.URL{Host: host}).Hostname()), ".")
}
