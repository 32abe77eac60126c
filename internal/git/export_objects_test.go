package git

import "io"

// Objects are the methods of a mirror that need no server.
type Objects = objects

// NewObjects reads and writes objects as a mirror does, in any store. Blobs that
// left says were left on the server are too large.
func NewObjects(s store, left func(ID) bool) *Objects { return &objects{store: s, tooLarge: left} }

// OnDisk reads and writes in the folder of a mirror.
func OnDisk(dir string) *Objects { return &objects{store: openDisk(dir, &state{}, 1<<30)} }

// Between shows which objects a push would send.
func (o *objects) Between(tip ID, have ...ID) ([]ID, error) {
	found, err := o.between(tip, have...)
	var ids []ID
	for _, p := range found {
		ids = append(ids, p.id)
	}
	return ids, err
}

// Pack writes the pack that a push would send, and says how many objects it holds.
func (o *objects) Pack(to io.Writer, tip ID, have ...ID) (int, error) {
	found, err := o.between(tip, have...)
	if err != nil {
		return 0, err
	}
	return len(found), o.encodePack(to, found)
}

// Delta is how one content becomes another in a pack.
func Delta(base, content string) []byte { return deltaOf(base, content) }
