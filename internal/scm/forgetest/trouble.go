package forgetest

import (
	"slices"
	"strings"
	"time"
)

// AnyWrite stands for the route of every request to the API that is no GET.
const AnyWrite = "WRITE"

// trouble is what happens to one request that matches.
type trouble struct {
	route string
	lose  bool // carry it out and break the connection
	reply *Reply
}

// hits says whether the trouble is for a route.
func (one trouble) hits(route string) bool {
	writes := !strings.HasPrefix(route, "G") // GET, GIT
	return one.route == AnyWrite && writes || strings.Contains(route, one.route)
}

// limit answers everything until a time.
type limit struct {
	until time.Time
	reply func(now time.Time) *Reply
}

// Fail gives the next request whose "METHOD /route" contains the text this reply,
// and carries nothing out. Git gets no more than its status.
func (f *Front) Fail(route string, reply *Reply) { f.trouble(trouble{route: route, reply: reply}) }

// Limit answers all requests to the API so until the time.
func (f *Front) Limit(until time.Time, reply func(now time.Time) *Reply) {
	f.Act(func() { f.limit = limit{until: until, reply: reply} })
}

// limited is the answer of a limit that is in force.
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

func (f *Front) trouble(one trouble) { f.Act(func() { f.troubles = append(f.troubles, one) }) }

// happen shows a request to who watches.
func (f *Front) happen(route string) {
	f.mu.Lock()
	see := f.watcher
	f.mu.Unlock()
	if see != nil {
		see(route)
	}
}

// meet counts a request, and returns the first trouble for it, which is over then.
func (f *Front) meet(route string) trouble {
	f.counts[route]++
	i := slices.IndexFunc(f.troubles, func(one trouble) bool { return one.hits(route) })
	if i < 0 {
		return trouble{}
	}
	met := f.troubles[i]
	f.troubles = slices.Delete(f.troubles, i, i+1)
	return met
}
