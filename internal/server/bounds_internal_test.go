package server

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Over a limit, what has waited for the longest time makes room, and what is served stays.
func TestBounds_displaceTheSlowest(t *testing.T) {
	t.Parallel()
	var ended []string
	limited := 0
	b := newBounds(4, 2, func() { limited++ })
	all := map[string]*held{}
	add := func(name, address string, exempt bool) bool {
		t.Helper()
		all[name] = b.add(netip.MustParseAddr(address), exempt, func() { ended = append(ended, name) })
		return all[name] != nil
	}
	want := func(step string, refused int, names ...string) {
		t.Helper()
		if diff := cmp.Diff(names, ended); diff != "" || limited != refused {
			t.Errorf("%s: %d were limited, want %d:\n%s", step, limited, refused, diff)
		}
	}
	add("a1", "192.0.2.1", false)
	add("a2", "192.0.2.1", false)
	all["a1"].setIdle(false)
	add("a3", "192.0.2.1", false)
	want("the address is full", 1, "a2")
	all["a3"].setIdle(false)
	if add("a4", "192.0.2.1", false) {
		t.Error("more than an address may have")
	}
	want("all of the address are served", 2, "a2")
	all["a1"].setIdle(true)
	add("proxy1", "198.51.100.1", true)
	add("proxy2", "198.51.100.1", true)
	want("below the limit of all", 2, "a2")
	add("proxy3", "198.51.100.1", true)
	want("the limit of all", 3, "a2", "a1")
	all["a1"].release() // it was displaced
	for _, name := range []string{"a3", "proxy1", "proxy2", "proxy3"} {
		all[name].release()
		all[name].release()
		all[name].setIdle(true) // too late
	}
	if b.open != 0 || len(b.from) != 0 || b.waiting.Len() != 0 {
		t.Errorf("after all: %d open, %d addresses, %d wait", b.open, len(b.from), b.waiting.Len())
	}
}

// What made room is not ended once it is released: its connection may have another request by then, and
// the response of HTTP/2 is gone.
func TestBounds_endBeforeRelease(t *testing.T) {
	t.Parallel()
	b := newBounds(1, 1, func() {})
	address, released := netip.MustParseAddr("192.0.2.1"), make(chan struct{})
	var first *held
	first = b.add(address, false, func() {
		go func() {
			first.release()
			close(released)
		}()
		if b.mu.TryLock() {
			t.Error("it can be released while it is ended")
			b.mu.Unlock()
		}
	})
	b.add(address, false, func() {})
	<-released
}
