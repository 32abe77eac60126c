package rest

import (
	"net/http"
	"sync/atomic"
	"time"
)

// Clock is the clock of a forge, as its responses report it. NewClient sets it.
type Clock struct {
	now   func() time.Time
	ahead atomic.Int64 // nanoseconds that the forge is ahead of this machine
}

// Time returns the time by the clock of the forge, exact to a second.
func (c *Clock) Time() time.Time { return c.now().Add(time.Duration(c.ahead.Load())) }

// TimeOf returns a time of an answer in UTC; zero: the answer has none.
func TimeOf(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}

// observed reads the time of every response.
type observed struct {
	next  http.RoundTripper
	clock *Clock
}

// RoundTrip sends the request.
func (o observed) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := o.next.RoundTrip(req)
	if err == nil {
		if date, invalid := http.ParseTime(resp.Header.Get("Date")); invalid == nil {
			o.clock.ahead.Store(int64(date.Sub(o.clock.now())))
		}
	}
	return resp, err
}
