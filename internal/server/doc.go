// Package server is the HTTP side of the service: routes, limits, and the kinds of
// errors as statuses. It knows webhooks by their receivers and everything else by
// small interfaces; what a request means is decided elsewhere.
//
// Nothing here writes a URL to a log, a metric or an answer: the secret of a
// receiver may be part of it.
package server
