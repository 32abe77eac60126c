// Package telemetrytest is a collector of traces in process: it takes OTLP over HTTP
// as the ones of OpenTelemetry do, and shows what it got.
package telemetrytest
