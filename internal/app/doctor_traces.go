package app

import (
	"context"

	"promoter/internal/outbound"
	"promoter/internal/telemetry"
)

// traced asks the collector. The service works without it, so that is no failure.
func (d *doctor) traced(ctx context.Context) {
	if d.file.Traces.Endpoint == "" || d.failed("traces") {
		return
	}
	where, err := d.connections.TraceOptions("doctor")
	if err == nil {
		err = telemetry.Probe(ctx, where)
	}
	if err != nil {
		d.say(VerdictWarn, "traces", fixOf(err, "see docs/service.md"), "%v", err)
		return
	}
	d.say(VerdictOK, "traces", "", "the collector at %s takes them", outbound.Host(d.file.Traces.Endpoint))
}
