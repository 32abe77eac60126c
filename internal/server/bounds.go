package server

import (
	"container/list"
	"net/netip"
	"sync"
)

// bounds limits how many of something clients hold at once: of one address, and of all. Over a
// limit, the one that has waited for its client for the longest time makes room, so that slow
// clients displace each other and not those that are fast. One that the server works on stays.
type bounds struct {
	most, mostPerAddress int
	limited              func() // is called for each that is refused, or makes room; must not block

	mu      sync.Mutex
	open    int
	waiting list.List // of *held, the longest first
	from    map[netip.Addr]*origin
}

// origin is what one address holds.
type origin struct {
	open    int
	waiting list.List // of *held, the longest first
}

// held is one of what is limited.
type held struct {
	bounds  *bounds
	address netip.Addr
	origin  *origin
	end     func() // ends the wait for the client

	idle, writing bool          // waits for its client to send, or to receive
	all, own      *list.Element // while it waits for its client
	released      bool
}

func newBounds(most, mostPerAddress int, limited func()) *bounds {
	return &bounds{most: most, mostPerAddress: mostPerAddress, limited: limited, from: map[netip.Addr]*origin{}}
}

// add adds one that waits for its client. It returns nil if there is no room. Exempt is for the
// addresses of proxies, which stand for many clients. End ends the wait of the one that makes room. It
// is not called after release has returned, and must not block.
func (b *bounds) add(address netip.Addr, exempt bool, end func()) (added *held) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from := b.from[address]
	if from == nil {
		from = &origin{}
	}
	var candidates *list.List
	switch {
	case !exempt && from.open >= b.mostPerAddress:
		candidates = &from.waiting
	case b.open >= b.most:
		candidates = &b.waiting
	}
	if candidates != nil {
		b.limited()
		first := candidates.Front()
		if first == nil {
			return nil
		}
		slowest := first.Value.(*held) //nolint:forcetypeassert // the lists have nothing else
		slowest.leave()
		slowest.end()
	}
	added = &held{bounds: b, address: address, origin: from, end: end, idle: true}
	b.from[address] = from
	b.open++
	from.open++
	added.queue()
	return added
}

// queue puts one at the end of those that wait, or takes it out. It is called with the lock held.
func (h *held) queue() {
	waits := !h.released && (h.idle || h.writing)
	switch {
	case waits && h.all == nil:
		h.all, h.own = h.bounds.waiting.PushBack(h), h.origin.waiting.PushBack(h)
	case !waits && h.all != nil:
		h.bounds.waiting.Remove(h.all)
		h.origin.waiting.Remove(h.own)
		h.all, h.own = nil, nil
	}
}

// leave is called with the lock held.
func (h *held) leave() {
	if h.released {
		return
	}
	h.released = true
	h.queue()
	h.bounds.open--
	if h.origin.open--; h.origin.open == 0 {
		delete(h.bounds.from, h.address)
	}
}

// setIdle notes whether the server waits for the client to send something, or works for it.
func (h *held) setIdle(idle bool) {
	h.bounds.mu.Lock()
	defer h.bounds.mu.Unlock()
	h.idle = idle
	h.queue()
}

// setWriting notes whether the server waits for the client to receive something.
func (h *held) setWriting(writing bool) {
	h.bounds.mu.Lock()
	defer h.bounds.mu.Unlock()
	h.writing = writing
	h.queue()
}

// release makes room.
func (h *held) release() {
	h.bounds.mu.Lock()
	defer h.bounds.mu.Unlock()
	h.leave()
}
