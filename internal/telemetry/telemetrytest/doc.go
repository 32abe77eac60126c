// Package telemetrytest is an in-process trace collector. It accepts OTLP over
// HTTP, as OpenTelemetry collectors do, and exposes the received spans.
package telemetrytest
