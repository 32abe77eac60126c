package outbound

import "time"

// RateLimit limits the requests to one host. A host at its limit, or in a backoff, delays
// the requests to it and to no other.
type RateLimit struct {
	// PerSecond is how many requests per second a host gets in the long run, as long as it
	// refuses none. Zero: 50, or 10,000 if the host has an address in Options.Networks or is
	// this machine.
	PerSecond float64
	// Most is up to how many the rate of 50 doubles each second in which the host refuses none and
	// answers quickly. Zero: it stays. With PerSecond, it has no meaning.
	Most       float64
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

// pace spreads the requests to one host over time. Its rate doubles with every second in which
// the host is busy and quick, up to its limit. When responses take longer, the host gets half of what
// it got in the last second; after a refusal too, and then a little more with every second.
type pace struct {
	own   bool    // the operator set the limit
	begin float64 // requests per second at first, of a host that is not near
	most  float64 // and at most
	limit float64 // requests per second, at most, now
	burst int
	// slowBurst is the burst after a refusal: what is in flight together.
	slowBurst int

	rate   float64   // requests per second now
	raised time.Time // since when the rate rises after a refusal
	slowed time.Time // when it was last halved after one; zero: it was not, or has risen to the limit again
	next   time.Time // when the next request is due at the rate

	// How many requests were sent in the second that began at second, and in the one before.
	second       time.Time
	sent, before int
	// How many responses began in that second, and how long they took together.
	responses int
	took      time.Duration
	usual     time.Duration // the shortest mean time of a second
}

// The change of a rate.
const (
	lowestRate = 1.0 // requests per second
	raise      = 10.0
	slowdown   = 0.5
	speedup    = 2.0

	// A mean tells something with so many responses, and they take longer if it is above the
	// double of the usual one and this more.
	enoughResponses = 8
	longer          = 100 * time.Millisecond
)

func newPace(limit RateLimit) pace {
	own := limit.PerSecond > 0
	most := limit.Most
	limit = limit.withDefaults()
	if own || most <= 0 {
		most = limit.PerSecond
	}
	begin := min(limit.PerSecond, most)
	return pace{
		own: own, begin: begin, most: most, limit: most, rate: begin,
		burst: limit.Burst, slowBurst: min(limit.Burst, limit.Concurrent),
	}
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
	if !p.slowed.IsZero() {
		if p.rate = min(p.limit, p.rate+raise*max(now.Sub(p.raised), 0).Seconds()); p.rate < p.limit {
			p.raised, burst = Later(p.raised, now), p.slowBurst
		} else {
			p.slowed = time.Time{}
		}
	}
	return time.Duration(float64(time.Second) / p.rate), burst
}

func (p *pace) count(now time.Time) {
	if age := now.Sub(p.second); age >= time.Second {
		p.adapt(now)
		p.before, p.second = p.sent, p.second.Add(time.Second)
		if age >= 2*time.Second {
			p.before, p.second = 0, now
		}
		p.sent = 0
		p.responses = 0
		p.took = 0
	}
	p.sent++
}

// responded counts the begin of a response.
func (p *pace) responded(took time.Duration) { p.responses, p.took = p.responses+1, p.took+took }

// adapt changes the rate after a second: it doubles if the rate was used and the responses were
// quick, and is halved if they took longer than usual.
func (p *pace) adapt(now time.Time) {
	if p.own || p.begin == p.most || p.responses < enoughResponses {
		return
	}
	mean := p.took / time.Duration(p.responses)
	switch {
	case p.usual > 0 && mean > 2*p.usual+longer:
		p.usual = mean
		p.change(now, p.half())
	case p.slowed.IsZero() && float64(p.sent) >= p.rate/2:
		p.change(now, min(p.limit, p.rate*speedup))
	}
	if p.usual == 0 || mean < p.usual {
		p.usual = mean
	}
}

// change sets another rate. What was sent ahead of the old one is as far ahead of the new one.
func (p *pace) change(now time.Time, rate float64) {
	if ahead := p.next.Sub(now); ahead > 0 {
		p.next = now.Add(time.Duration(float64(ahead) * p.rate / rate))
	}
	p.rate = rate
}

// slow halves the rate after a refusal, until a backoff ends. Several in one second are
// one, of requests that were sent together.
func (p *pace) slow(now, until time.Time) {
	p.raised, p.next = Later(p.raised, until), until
	if now.Sub(p.slowed) >= time.Second {
		p.slowed, p.rate = now, p.half()
	}
}

// half returns half of what the host got in the last second.
func (p *pace) half() float64 {
	return max(lowestRate, min(p.rate, float64(max(p.sent, p.before)))*slowdown)
}

// setNear sets the limit of a host that is in a network of the operator or on this machine, or
// is not any more.
func (p *pace) setNear(now time.Time, near bool) {
	limit, rate := p.most, p.begin
	if near {
		limit, rate = highestRate, highestRate
	}
	if p.own || p.limit == limit {
		return
	}
	if p.slowed.IsZero() {
		p.rate = rate
	}
	p.limit = limit
	p.rate = min(p.rate, limit)
	p.next = now
}

// Later returns the later one of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
