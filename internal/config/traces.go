package config

import (
	"net/textproto"
	"strings"
)

// Traces go to a collector of OpenTelemetry. Without an endpoint there are none.
type Traces struct {
	Endpoint string // without a slash at the end
	Headers  []Header
	Ratio    float64 // above 0, up to 1
	Service  string
	Insecure bool
}

// Header is one of a request, with its value by reference.
type Header struct {
	Name  string
	Value Reference
}

// DefaultService is the name that traces have.
const DefaultService = "promoter"

// maxService bounds that name, in bytes.
const maxService = 100

func (*rawTraces) secretive() {}

func (l *serverLoader) traces() {
	raw := l.raw.Traces
	if raw == nil || raw.bad {
		return
	}
	if !raw.Endpoint.set() {
		l.failf(raw.Position, "write endpoint: https://HOST, or remove traces to make none", "traces has no endpoint")
	}
	l.server.Traces = Traces{
		Endpoint: l.endpoint(raw), Headers: l.headers(raw.Headers),
		Ratio: or(raw.Ratio, 1), Service: or(raw.Service, DefaultService), Insecure: raw.Insecure.Value,
	}
	if ratio := l.server.Traces.Ratio; ratio <= 0 || ratio > 1 {
		l.failf(raw.Ratio.Position, "write a number above 0, 1 at most; remove traces to make none", "the ratio of traces is %v", ratio)
	}
	if name := l.server.Traces.Service; name == "" || len(name) > maxService {
		l.failf(raw.Service.Position, "write a name of at most 100 bytes", "the service of traces is no name")
	}
}

// endpoint is the address of a collector, which speaks HTTP alone.
func (l *serverLoader) endpoint(raw *rawTraces) string {
	address := l.url(raw.Endpoint, "traces.endpoint")
	if strings.HasPrefix(address, "ssh:") {
		l.failf(raw.Endpoint.Position, "write https://HOST", "traces.endpoint is not the address of a collector")
		return ""
	}
	l.plainHTTP("the collector of traces", raw.Endpoint, raw.Insecure)
	return address
}

// maxHeaders bounds how many headers there are.
const maxHeaders = 20

func (l *serverLoader) headers(raw named[at[string]]) (all []Header) {
	if len(raw.Entries) > maxHeaders {
		l.failf(raw.Position, "remove some", "traces have more than %d headers", maxHeaders)
	}
	for _, e := range raw.Entries {
		name := textproto.CanonicalMIMEHeaderKey(e.Key.Value)
		switch {
		case !isHeader(name):
			l.failf(e.Key.Position, "write a name such as Authorization", "%q is no name of a header", e.Key.Value)
		case name == "Content-Type" || name == "Content-Length" || name == "Host":
			l.failf(e.Key.Position, "remove it", "the header %s is promoter's own", name)
		}
		all = append(all, Header{Name: name, Value: l.reference(e.Value, "the header "+name+" of traces")})
	}
	return all
}

// maxHeader bounds the name of a header, in bytes.
const maxHeader = 100

// isHeader knows the names that somebody would use, of those in RFC 9110, section 5.1.
func isHeader(name string) bool {
	odd := strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	})
	return name != "" && len(name) <= maxHeader && !odd
}
