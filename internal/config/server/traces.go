package serverconfig

import (
	"net/textproto"
	"strings"

	"promoter/internal/strictyaml"
)

// Traces are sent to an OpenTelemetry collector. Without an endpoint there are none.
type Traces struct {
	Endpoint string // without a slash at the end
	Headers  []Header
	Ratio    float64 // above 0, up to 1
	Service  string
	Insecure bool
}

// Header is a header of a request, with its value by reference.
type Header struct {
	Name  string
	Value Reference
}

// DefaultService is the service name in traces.
const DefaultService = "promoter"

// Limits of traces; names are in bytes.
const (
	maxService    = 100
	maxHeaders    = 20
	maxHeaderName = 100
)

// rawTraces is an OpenTelemetry collector that receives traces by OTLP over HTTP.
type rawTraces struct {
	strictyaml.Origin `holds:"secrets"`
	// URL of the collector, without `/v1/traces`.
	Endpoint strictyaml.Located[string] `yaml:"endpoint" required:"true"`
	// Headers of each request, by name. Each value is a secret reference: `env:NAME` or `file:/PATH`.
	Headers strictyaml.Map[strictyaml.Located[string]] `yaml:"headers"`
	// Share of the traces that are kept: above 0, up to 1. Default: `1`.
	Ratio strictyaml.Located[float64] `yaml:"ratio"`
	// Name of the service in the collector. Default: `promoter`.
	Service strictyaml.Located[string] `yaml:"service"`
	// Allow plain http to the collector if its address is in `networks`. Default: `false`.
	Insecure strictyaml.Located[bool] `yaml:"insecure"`
}

func loadTraces(in *input) Traces {
	raw := in.raw.Traces
	if raw == nil || raw.Invalid {
		return Traces{}
	}
	in.report.ErrorIf(!raw.Endpoint.IsSet(), raw.Position, "write endpoint: https://HOST, or remove traces to disable them",
		"traces has no endpoint")
	traces := Traces{
		Endpoint: in.url(raw.Endpoint, "traces.endpoint"), Headers: loadHeaders(in, raw.Headers),
		Ratio: raw.Ratio.Or(1), Service: raw.Service.Or(DefaultService), Insecure: raw.Insecure.Value,
	}
	in.report.ErrorIf(strings.HasPrefix(traces.Endpoint, "ssh:"), raw.Endpoint.Position, "write https://HOST",
		"traces.endpoint is not the address of a collector")
	in.checkHTTP("the collector of traces", raw.Endpoint, raw.Insecure)
	in.report.ErrorIf(traces.Ratio <= 0 || traces.Ratio > 1, raw.Ratio.Position,
		"write a number above 0, at most 1; remove traces to disable them", "the ratio of traces is %v", traces.Ratio)
	in.report.ErrorIf(traces.Service == "" || len(traces.Service) > maxService, raw.Service.Position,
		"write a name of at most 100 bytes", "the service of traces is not a name")
	return traces
}

func loadHeaders(in *input, raw strictyaml.Map[strictyaml.Located[string]]) []Header {
	in.report.ErrorIf(len(raw.Entries) > maxHeaders, raw.Position, "remove some", "traces have more than %d headers", maxHeaders)
	var headers []Header
	for _, e := range raw.Entries {
		name := textproto.CanonicalMIMEHeaderKey(e.Key.Value)
		switch {
		case !validHeaderName(name):
			in.report.Errorf(e.Key.Position, "write a name such as Authorization", "%q is not the name of a header", e.Key.Value)
		case name == "Content-Type" || name == "Content-Length" || name == "Host":
			in.report.Errorf(e.Key.Position, "remove it", "the header %s is set by promoter", name)
		}
		headers = append(headers, Header{Name: name, Value: in.reference(e.Value, "the header "+name+" of traces")})
	}
	return headers
}

// validHeaderName accepts the common subset of the names in RFC 9110, section 5.1.
func validHeaderName(name string) bool {
	odd := strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	})
	return name != "" && len(name) <= maxHeaderName && !odd
}
