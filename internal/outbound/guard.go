package outbound

import (
	"net/netip"
	"slices"

	"promoter/internal/fault"
)

// guard decides which addresses may be dialed.
type guard struct {
	networks []netip.Prefix
	loopback bool
}

// special is an address block that is not part of the public internet.
type special struct {
	prefix netip.Prefix
	name   string
}

// specials are the blocks of the IANA special-purpose address registries (RFC 6890 and
// its successors) in which there is no public service.
var specials = []special{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "carrier-grade NAT"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	// Not special by its number, but each virtual machine of Azure reaches the services
	// of its platform there, which include secrets.
	// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
	{netip.MustParsePrefix("168.63.129.16/32"), "Azure platform"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "local NAT64"},
	{netip.MustParsePrefix("2001::/23"), "protocol assignment"}, // Teredo, ORCHID, benchmarking
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "site-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

// globalUnicast is the part of IPv6 that IANA assigns. What is outside and not listed
// above is reserved.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// check returns a fault for an address that may not be dialed.
func (g guard) check(addr netip.Addr) error {
	addr = plainAddress(addr)
	if !addr.IsValid() {
		return fault.New(fault.Invalid, "an invalid address is not dialed")
	}
	if g.loopback && addr.IsLoopback() || g.listed(addr) {
		return nil
	}
	if inner, ok := embedded(addr); ok {
		return g.check(inner)
	}
	if name := specialName(addr); name != "" {
		return fault.New(fault.Invalid,
			"address %s (%s) is not dialed: to permit it, list its network under `networks` in the server file, "+
				"or name it with --network", addr, name)
	}
	return nil
}

// listed reports whether the operator listed the address.
func (g guard) listed(addr netip.Addr) bool {
	return slices.ContainsFunc(g.networks, func(network netip.Prefix) bool { return network.Contains(addr) })
}

func specialName(addr netip.Addr) string {
	for _, s := range specials {
		if s.prefix.Contains(addr) {
			return s.name
		}
	}
	if addr.Is6() && !globalUnicast.Contains(addr) {
		return "reserved"
	}
	return ""
}

// plainAddress removes the zone, and converts an IPv4-mapped address to IPv4, as which
// the system dials it.
func plainAddress(addr netip.Addr) netip.Addr {
	return addr.Unmap().WithZone("")
}

// The IPv6 blocks that contain an IPv4 address which a translator or a tunnel then
// dials.
var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	compatible = netip.MustParsePrefix("::/96")        // RFC 4291, deprecated
	sixToFour  = netip.MustParsePrefix("2002::/16")    // RFC 3056
)

// embedded returns the IPv4 address in an IPv6 address.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() || addr.IsUnspecified() || addr.IsLoopback() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	switch {
	case nat64.Contains(addr), compatible.Contains(addr), isISATAP(b):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}

// isISATAP detects the interface identifier of RFC 5214, section 6.1.
func isISATAP(b [16]byte) bool {
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
