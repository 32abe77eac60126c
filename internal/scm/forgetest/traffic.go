package forgetest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Traffic lets a test inspect and manipulate the requests to a fake. The fake embeds
// it.
type Traffic struct{ front *Front }

// Traffic returns the requests of this front.
func (f *Front) Traffic() Traffic { return Traffic{front: f} }

// Watch calls see for every request, as "METHOD /route", just before it is executed,
// to simulate a concurrent user or process. Nil ends it.
func (t Traffic) Watch(see func(route string)) { t.front.Act(func() { t.front.watcher = see }) }

// Wrap puts a handler in front of the server, for Git and the API. Nil ends it.
func (t Traffic) Wrap(wrap func(http.Handler) http.Handler) {
	t.front.Act(func() { t.front.wrap = wrap })
}

// Lose executes the next request whose "METHOD /route" contains the text and breaks
// the connection instead of replying.
func (t Traffic) Lose(route string) { t.front.inject(injectedFailure{route: route, lose: true}) }

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

// Recover drops the failures that were injected and did not happen yet.
func (t Traffic) Recover() { t.front.Act(func() { t.front.failures = nil }) }

// AnyWrite stands for the route of every request to the API that is not a GET.
const AnyWrite = "WRITE"

// injectedFailure is a failure injected into one matching request.
type injectedFailure struct {
	route string
	lose  bool // execute it and break the connection
	reply *Reply
}

// hits reports whether the failure applies to a route.
func (one injectedFailure) hits(route string) bool {
	writes := !strings.HasPrefix(route, "G") // GET, GIT
	return one.route == AnyWrite && writes || strings.Contains(route, one.route)
}

// limit rejects all requests until a time.
type limit struct {
	until time.Time
	reply func(now time.Time) *Reply
}

// Fail sends this reply to the next request whose "METHOD /route" contains the text,
// without executing it. Git receives only its status.
func (f *Front) Fail(route string, reply *Reply) {
	f.inject(injectedFailure{route: route, reply: reply})
}

// Limit sends this reply to all requests to the API until the time.
func (f *Front) Limit(until time.Time, reply func(now time.Time) *Reply) {
	f.Act(func() { f.limit = limit{until: until, reply: reply} })
}

// limited returns the reply of a limit that is in effect.
func (f *Front) limited() *Reply {
	if f.limit.reply == nil {
		return nil
	}
	now := f.fake.Now()
	if !now.Before(f.limit.until) {
		return nil
	}
	return f.limit.reply(now)
}

func (f *Front) inject(one injectedFailure) { f.Act(func() { f.failures = append(f.failures, one) }) }

// happen reports a request to the watcher.
func (f *Front) happen(route string) {
	f.mu.Lock()
	see := f.watcher
	f.mu.Unlock()
	if see != nil {
		see(route)
	}
}

// meet counts a request, and removes and returns the first failure injected for it.
func (f *Front) meet(route string) injectedFailure {
	f.counts[route]++
	i := slices.IndexFunc(f.failures, func(one injectedFailure) bool { return one.hits(route) })
	if i < 0 {
		return injectedFailure{}
	}
	met := f.failures[i]
	f.failures = slices.Delete(f.failures, i, i+1)
	return met
}
