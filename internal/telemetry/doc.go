// Package telemetry counts and measures what a service does, for Prometheus; follows
// single pieces of work as traces, for a collector of OpenTelemetry; and shows how the
// process spends its time and memory, for pprof.
//
// A Metrics is made for each service; there are no counters of the process. The
// number of time series is bounded whatever strangers send and config files name:
// no repository, image, person or address is a label, and hosts are those of the
// server's file and a few more. No value is a secret or could hold one.
//
// Traces name repositories and what was done in them, and no path of a request, which
// may hold a secret. They are made where the server's file names a collector, else
// nothing is: a context without a span costs a look into it. What the collector does
// not take is dropped.
package telemetry
