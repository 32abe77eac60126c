// Package telemetry provides the metrics of the service for Prometheus, its traces for
// an OpenTelemetry collector, and profiles for pprof.
//
// Metrics belong to one service, not to the process. The number of time series is
// bounded, whatever senders send and config files name: repositories, images, users, and
// addresses are not labels, hosts are those of the server file and a few more, and only some
// environments, conditions, and gates have a label. No value contains a secret. What is read from
// the database is the same in all replicas.
//
// Traces name repositories and what was done in them, but no request paths, which may
// contain a secret. Without a collector in the server file, tracing costs one lookup in
// the context. Spans that the collector does not accept are dropped.
package telemetry
