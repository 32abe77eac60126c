package queue

import (
	"slices"
	"strings"
)

// The traces of a row are texts of one length, each with a space behind it, the newest
// first, so that the databases can cut them. So many are kept.
const (
	traceLength = 55 // of a traceparent, https://www.w3.org/TR/trace-context/#traceparent-header
	mostTraces  = 20
	maxTraces   = "1120" // mostTraces times one more than traceLength, as the statements say it
)

func isTrace(text string) bool {
	return len(text) == traceLength && strings.Trim(text, "0123456789abcdef-") == ""
}

// kept is a trace as a row keeps it.
func kept(trace string) string {
	if trace == "" {
		return ""
	}
	return trace + " "
}

// together are the newer traces and the older ones. Hints of one cause have one trace.
func together(newer, older string) string {
	if strings.Contains(older, newer) {
		return older
	}
	all := newer + older
	return all[:min(len(all), mostTraces*(traceLength+1))]
}

// tracesOf are the traces of a row, the oldest first.
func tracesOf(kept string) []string {
	if kept == "" {
		return nil
	}
	all := strings.Fields(kept)
	slices.Reverse(all)
	return all
}
