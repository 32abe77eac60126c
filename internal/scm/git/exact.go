package git

import "github.com/go-git/go-git/v5/plumbing"

// between returns the objects that a server lacks which has the commits of have:
// the commits of new's history down to them, exclusive, and what in their trees
// differs from their parents'. Parents come before children. Zero ids in have are ignored.
func (o *objects) between(new ID, have ...ID) ([]plumbing.Hash, error) {
	panic("not implemented: " + new.String())
}
