package serverconfig

import (
	"net"
	"net/netip"

	"promoter/internal/strictyaml"
)

// Metrics is where metrics and profiles are served. Its zero value is nowhere.
type Metrics struct {
	Listen string // HOST:PORT; empty: nowhere
}

// rawMetrics is where Prometheus scrapes the service. It is not `listen`: metrics name the environments of all repositories.
type rawMetrics struct {
	strictyaml.Origin
	// Address of `/metrics`: `HOST:PORT`, such as `127.0.0.1:9090`. It speaks TLS if `tls` is set.
	Listen strictyaml.Located[string] `yaml:"listen" required:"true"`
}

// loadMetrics reads the address of metrics, which must not be the one of webhooks and pages.
func loadMetrics(in *input, public string) Metrics {
	raw := in.raw.Metrics
	if raw == nil || raw.Invalid || raw.Listen.Invalid {
		return Metrics{}
	}
	if !raw.Listen.IsSet() {
		in.report.Errorf(raw.Position, "write listen: 127.0.0.1:9090, or remove metrics to disable them", "metrics has no listen")
		return Metrics{}
	}
	listen := raw.Listen.Value
	if _, _, err := net.SplitHostPort(listen); err != nil {
		in.report.Errorf(raw.Listen.Position, "write HOST:PORT or :PORT", "metrics.listen is not an address")
		return Metrics{}
	}
	in.report.ErrorIf(sameAddress(listen, public), raw.Listen.Position, "write another port",
		"metrics.listen is the address of webhooks and pages")
	return Metrics{Listen: listen}
}

// sameAddress reports whether two addresses cannot be listened on at the same time: their
// ports are the same, and so are their hosts, or one stands for every address. Port 0 is
// any free port.
func sameAddress(a, b string) bool {
	hostA, portA, _ := net.SplitHostPort(a)
	hostB, portB, err := net.SplitHostPort(b)
	if err != nil || portA != portB || portA == "0" {
		return false
	}
	return hostA == hostB || everyAddress(hostA) || everyAddress(hostB)
}

func everyAddress(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}
