package api

import "net/netip"

// sourcePrefix is how much of an IPv6 address names a client: one customer usually has a /64.
const sourcePrefix = 64

// SourceOf returns what the limits of clients count as one address, of the address of a request; zero: it
// is none.
func SourceOf(address string) netip.Addr {
	parsed, err := netip.ParseAddr(address)
	if err != nil {
		return netip.Addr{}
	}
	if parsed = parsed.Unmap().WithZone(""); parsed.Is4() {
		return parsed
	}
	prefix, err := parsed.Prefix(sourcePrefix)
	if err != nil {
		return netip.Addr{}
	}
	return prefix.Addr()
}
