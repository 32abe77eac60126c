package server

import (
	"errors"
	"io"
	"sync/atomic"
)

// maxHeld bounds the bodies that one receiver holds in memory at once, in bytes: who
// posts large ones and does not come to their end has not shown any credential yet.
const maxHeld = 32 << 20

// room is what is left for bodies. The zero one is empty.
type room struct{ held atomic.Int64 }

var errNoRoom = errors.New("bodies are posted to this receiver faster than they come to their end")

// held is a body that is being read, with the room that it takes.
type held struct {
	io.Reader
	in   *room
	size int64
}

// Read reads as long as there is room.
func (h *held) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.size += int64(n)
	if h.in.held.Add(int64(n)) > maxHeld {
		return 0, errNoRoom
	}
	return n, err
}

// leave gives the room back, once nobody needs the body any more.
func (h *held) leave() { h.in.held.Add(-h.size) }
