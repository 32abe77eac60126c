package forgetest

import (
	"maps"
	"strings"
)

// Traffic is what a test sees of the requests to a fake, and does to them. The fake
// embeds it.
type Traffic struct{ front *Front }

// Traffic are the requests that come in here.
func (f *Front) Traffic() Traffic { return Traffic{front: f} }

// Watch lets somebody see every request, as "METHOD /route", just before it is
// looked at: a person or another process may be faster. Nil ends it.
func (t Traffic) Watch(see func(route string)) { t.front.Act(func() { t.front.watcher = see }) }

// Lose carries the next request whose "METHOD /route" contains the text out and
// breaks the connection instead of answering.
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

// Total counts all requests, and those of them that are no GET.
func (t Traffic) Total() (all, writes int) {
	for route, n := range t.Requests() {
		all += n
		if !strings.HasPrefix(route, "GET ") {
			writes += n
		}
	}
	return all, writes
}

// ResetRequests begins the count again.
func (t Traffic) ResetRequests() { t.front.Act(func() { clear(t.front.counts) }) }
