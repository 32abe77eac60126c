package forgetest

import (
	"maps"
	"strings"
)

// Traffic lets a test inspect and manipulate the requests to a fake. The fake embeds
// it.
type Traffic struct{ front *Front }

// Traffic returns the requests of this front.
func (f *Front) Traffic() Traffic { return Traffic{front: f} }

// Watch calls see for every request, as "METHOD /route", just before it is executed,
// to simulate a concurrent user or process. Nil ends it.
func (t Traffic) Watch(see func(route string)) { t.front.Act(func() { t.front.watcher = see }) }

// Lose executes the next request whose "METHOD /route" contains the text and breaks
// the connection instead of replying.
func (t Traffic) Lose(route string) { t.front.trouble(trouble{route: route, lose: true}) }

// Lift ends the rate limit.
func (t Traffic) Lift() { t.front.Act(func() { t.front.limit = limit{} }) }

// Requests counts the requests by method and route, for instance
// "GET /repos/{owner}/{repo}/pulls". Git's are "GIT upload-pack" and so on.
func (t Traffic) Requests() map[string]int {
	var counts map[string]int
	t.front.Act(func() { counts = maps.Clone(t.front.counts) })
	return counts
}

// Total counts all requests, and those that are not GET.
func (t Traffic) Total() (all, writes int) {
	for route, n := range t.Requests() {
		all += n
		if !strings.HasPrefix(route, "GET ") {
			writes += n
		}
	}
	return all, writes
}

// ResetRequests resets the counters.
func (t Traffic) ResetRequests() { t.front.Act(func() { clear(t.front.counts) }) }
