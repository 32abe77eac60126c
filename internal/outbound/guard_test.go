package outbound

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
)

func TestGuard_refusesSpecialAddresses(t *testing.T) {
	t.Parallel()
	refused := map[string]string{
		"0.0.0.0":                        "unspecified",
		"0.1.2.3":                        "unspecified",
		"10.0.0.1":                       "private",
		"100.64.0.1":                     "carrier-grade NAT",
		"127.0.0.1":                      "loopback",
		"127.8.8.8":                      "loopback",
		"168.63.129.16":                  "Azure platform",
		"::ffff:168.63.129.16":           "Azure platform",
		"169.254.169.254":                "link-local",
		"172.16.0.1":                     "private",
		"172.31.255.255":                 "private",
		"192.0.0.8":                      "reserved",
		"192.168.1.1":                    "private",
		"198.18.0.1":                     "benchmarking",
		"224.0.0.1":                      "multicast",
		"239.255.255.255":                "multicast",
		"255.255.255.255":                "reserved",
		"::":                             "unspecified",
		"::1":                            "loopback",
		"::ffff:127.0.0.1":               "loopback",
		"::ffff:169.254.169.254":         "link-local",
		"::127.0.0.1":                    "loopback",
		"64:ff9b::127.0.0.1":             "loopback",
		"64:ff9b::10.0.0.1":              "private",
		"64:ff9b::a9fe:a9fe":             "link-local",
		"64:ff9b:1::1":                   "local NAT64",
		"2002:7f00:1::1":                 "loopback",
		"2002:a00:1::":                   "private",
		"2001:0:4136:e378::1":            "protocol assignment",
		"2001:db8::1":                    "documentation",
		"2600::5efe:10.0.0.1":            "private",
		"2600::200:5efe:192.168.0.1":     "private",
		"fc00::1":                        "private",
		"fd00:ec2::254":                  "private",
		"fe80::1":                        "link-local",
		"fe80::1%eth0":                   "link-local",
		"fec0::1":                        "site-local",
		"ff02::1":                        "multicast",
		"4000::1":                        "reserved",
		"100::1":                         "reserved",
		"5f00::1":                        "reserved",
		"::ffff:0:127.0.0.1":             "reserved",
		"2001:10::1":                     "protocol assignment",
		"::ffff:255.255.255.255":         "reserved",
		"3fff::1":                        "documentation",
		"192.88.99.1":                    "6to4 relay",
		"2002:c058:6301::1":              "6to4 relay",
		"64:ff9b::100.64.0.1":            "carrier-grade NAT",
		"0:0:0:0:0:ffff:192.168.255.255": "private",
	}
	for text, name := range refused {
		t.Run(""+text, func(t *testing.T) {
			t.Parallel()
			err := guard{}.check(netip.MustParseAddr(text))
			if err == nil || fault.KindOf(err) != fault.Invalid {
				t.Fatalf("check(%s) = %v, want an invalid fault", text, err)
			}
			if !strings.Contains(err.Error(), "("+name+")") {
				t.Errorf("check(%s) = %v, want it to say %q", text, err, name)
			}
		})
	}
}

func TestGuard_permitsPublicAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.32.0.1", "192.0.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1"} {
		if err := (guard{}).check(netip.MustParseAddr(text)); err != nil {
			t.Errorf("check(%s) = %v", text, err)
		}
	}
}

func TestGuard_permitsListedNetworks(t *testing.T) {
	t.Parallel()
	g := guard{networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}}
	for text, allowed := range map[string]bool{
		"10.1.2.3":          true,
		"::ffff:10.1.2.3":   true,
		"64:ff9b::10.1.2.3": true,
		"fd00:1::5":         true,
		"10.2.0.1":          false,
		"fd00:2::5":         false,
		"127.0.0.1":         false,
		"169.254.169.254":   false,
	} {
		if err := g.check(netip.MustParseAddr(text)); (err == nil) != allowed {
			t.Errorf("check(%s) = %v, want allowed %v", text, err, allowed)
		}
	}
}

func TestGuard_loopbackOnlyIfAllowed(t *testing.T) {
	t.Parallel()
	g := guard{loopback: true}
	for text, allowed := range map[string]bool{
		"127.0.0.1":        true,
		"::1":              true,
		"::ffff:127.0.0.1": true,
		"169.254.169.254":  false,
		"192.168.1.1":      false,
		"0.0.0.0":          false,
	} {
		if err := g.check(netip.MustParseAddr(text)); (err == nil) != allowed {
			t.Errorf("check(%s) = %v, want allowed %v", text, err, allowed)
		}
	}
}

func TestGuard_refusesInvalidAddress(t *testing.T) {
	t.Parallel()
	if err := (guard{}).check(netip.Addr{}); err == nil {
		t.Error("the zero address passed")
	}
}

// FuzzGuard looks for an address that passes although the IPv4 address inside
// it, or itself, is not public by the standard library's own words.
func FuzzGuard(f *testing.F) {
	for _, seed := range []string{"127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "fe80::1%1", "2002:7f00:1::", "1.1.1.1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		addr, err := netip.ParseAddr(text)
		if err != nil || (guard{}).check(addr) != nil {
			return
		}
		plain := plainAddress(addr)
		if plain.IsLoopback() || plain.IsPrivate() || plain.IsMulticast() || plain.IsUnspecified() || plain.IsLinkLocalUnicast() {
			t.Errorf("%s passed", text)
		}
		if inner, ok := embedded(plain); ok && (inner.IsLoopback() || inner.IsPrivate() || inner.IsLinkLocalUnicast()) {
			t.Errorf("%s passed with %s inside", text, inner)
		}
	})
}

// What is not encrypted goes only to addresses that the operator listed.
func TestDialListedContext_refusesOtherAddresses(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	listed := newClient(t, Options{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, nil)
	conn, err := listed.DialListedContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	for name, options := range map[string]Options{"none": {}, "loopback": {AllowLoopback: true}} {
		_, err := newClient(t, options, nil).DialListedContext(t.Context(), "tcp", listener.Addr().String())
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "is refused without TLS") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is no HTTP, such as ssh, passes the same guard.
func TestDialContext_refusesLoopback(t *testing.T) {
	t.Parallel()
	c, err := New(Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"127.0.0.1:22", "[::1]:22", "10.1.2.3:22", "169.254.169.254:22"} {
		_, err := c.DialContext(t.Context(), "tcp", address)
		mustRefuse(t, err, "is not dialed")
	}
}
