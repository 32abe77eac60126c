// Package telemetry counts and measures what a service does, for Prometheus, and
// shows how it spends its time and memory, for pprof.
//
// A Metrics is made for each service; there are no counters of the process. The
// number of time series is bounded whatever strangers send and config files name:
// no repository, image, person or address is a label, and hosts are those of the
// server's file and a few more. No value is a secret or could hold one.
package telemetry
