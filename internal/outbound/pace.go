package outbound

import "time"

// RateLimit limits the requests to one host. A host at its limit, or in a backoff, delays
// the requests to it and to no other.
type RateLimit struct {
	// PerSecond is how many requests per second a host gets in the long run, as long as it
	// refuses none. Zero: 50, or 10,000 if the host has an address in Options.Networks or is
	// this machine.
	PerSecond  float64
	Burst      int // requests at once after a quiet time; zero: 100
	Concurrent int // requests in flight, bodies included; zero: 8
}

// The defaults of RateLimit.
const (
	politeRate        = 50
	highestRate       = 10_000
	defaultBurst      = 100
	defaultConcurrent = 8
)

func (l RateLimit) withDefaults() RateLimit {
	if l.PerSecond <= 0 {
		l.PerSecond = politeRate
	}
	if l.Burst <= 0 {
		l.Burst = defaultBurst
	}
	if l.Concurrent <= 0 {
		l.Concurrent = defaultConcurrent
	}
	return l
}

// pace spreads the requests to one host over time. After a refusal, the host gets half of
// what it got in the last second, and then more with every second, up to its limit.
type pace struct {
	own   bool    // the operator set the limit
	limit float64 // requests per second, at most
	burst int
	// slowBurst is the burst below the limit: what is in flight together.
	slowBurst int

	rate   float64   // requests per second now
	raised time.Time // since when the rate rises
	slowed time.Time // when the rate was last halved
	next   time.Time // when the next request is due at the rate

	// How many requests were sent in the second that began at second, and in the one before.
	second       time.Time
	sent, before int
}

// The change of a rate.
const (
	lowestRate = 1.0 // requests per second
	raise      = 10.0
	slowdown   = 0.5
)

func newPace(limit RateLimit) pace {
	own := limit.PerSecond > 0
	limit = limit.withDefaults()
	return pace{own: own, limit: limit.PerSecond, rate: limit.PerSecond, burst: limit.Burst, slowBurst: min(limit.Burst, limit.Concurrent)}
}

// reserve reserves the next request, and returns how long to wait for it. One that is
// further ahead than maxWait is not reserved.
func (p *pace) reserve(now time.Time, maxWait time.Duration) (wait time.Duration, reserved bool) {
	interval, burst := p.interval(now)
	// GCRA: next is the theoretical arrival time of the next request.
	next := p.next
	if next.Before(now) {
		next = now
	}
	wait = next.Sub(now) - time.Duration(burst-1)*interval
	if wait > maxWait {
		return wait, false
	}
	p.next = next.Add(interval)
	p.count(now)
	return max(wait, 0), true
}

// interval returns the time between two requests in the long run, and how many may be sent
// at once.
func (p *pace) interval(now time.Time) (time.Duration, int) {
	burst := p.burst
	if p.rate < p.limit {
		p.rate = min(p.limit, p.rate+raise*max(now.Sub(p.raised), 0).Seconds())
		p.raised, burst = later(p.raised, now), p.slowBurst
	}
	return time.Duration(float64(time.Second) / p.rate), burst
}

func (p *pace) count(now time.Time) {
	switch age := now.Sub(p.second); {
	case age >= 2*time.Second:
		p.second, p.before, p.sent = now, 0, 0
	case age >= time.Second:
		p.second, p.before, p.sent = p.second.Add(time.Second), p.sent, 0
	}
	p.sent++
}

// slow halves the rate after a refusal, until a backoff ends. Several in one second are
// one, of requests that were sent together.
func (p *pace) slow(now, until time.Time) {
	p.raised, p.next = later(p.raised, until), until
	if now.Sub(p.slowed) < time.Second {
		return
	}
	p.slowed = now
	p.rate = max(lowestRate, min(p.rate, float64(max(p.sent, p.before)))*slowdown)
}

// setNear sets the default limit of a host that is in a network of the operator or on this
// machine, or is not any more.
func (p *pace) setNear(now time.Time, near bool) {
	limit := float64(politeRate)
	if near {
		limit = highestRate
	}
	if p.own || p.limit == limit {
		return
	}
	if p.rate == p.limit {
		p.rate = limit
	}
	p.limit, p.rate, p.next = limit, min(p.rate, limit), now
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
