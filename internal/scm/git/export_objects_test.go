package git

import "github.com/go-git/go-git/v5/plumbing"

// Objects are the methods of a mirror that need no server.
type Objects = objects

// NewObjects reads and writes objects as a mirror does, in any store. Blobs that
// left says were left on the server are too large.
func NewObjects(s store, left func(ID) bool) *Objects { return &objects{store: s, tooLarge: left} }

// OnDisk reads and writes in the folder of a mirror.
func OnDisk(dir string) *Objects { return &objects{store: openDisk(dir, &state{}, 1<<30)} }

// Between shows which objects a push would send.
func (o *objects) Between(tip ID, have ...ID) ([]plumbing.Hash, error) {
	return o.between(tip, have...)
}
