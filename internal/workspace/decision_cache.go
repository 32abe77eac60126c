package workspace

import (
	"context"
	"maps"

	"promoter/internal/connect"
	"promoter/internal/kept"
	"promoter/internal/lru"
	"promoter/internal/reconcile/cache"
	"promoter/internal/store"
)

// Decisions keeps the last decisions about several repositories between the reconciliations of a
// process, up to a size. It forgets those first that were not used for the longest time.
type Decisions struct {
	kept *lru.Cache[string, keptDecisions] // by the key of the repository
}

// keptDecisions are the decisions about one repository, with what makes them stale.
type keptDecisions struct {
	entry   *cache.Entry
	session *connect.Session // its answers of registries
	fresh   store.Freshness
	file    *kept.File
}

// NewDecisions returns an empty memory of about so many bytes.
func NewDecisions(limit int64) *Decisions {
	return &Decisions{kept: lru.New[string, keptDecisions](limit)}
}

// file returns the file beside the mirror of a repository. It is read again only if it changed.
func (d *Decisions) file(key, path string) *kept.File {
	if d != nil {
		if last, known := d.kept.Get(key); known && last.file.Path() == path && last.file.IsCurrent() {
			return last.file
		}
	}
	return kept.At(path)
}

// decisionCache keeps the decisions about one repository. It implements cache.Cache.
type decisionCache struct {
	all     *Decisions
	key     string
	session *connect.Session
	fresh   *freshness
	file    *kept.File
}

// Load implements cache.Cache. A poll, a schedule, and a command /promoter refresh make every answer of registries
// stale; an event, and the turn of an image, that of the image.
func (c decisionCache) Load(ctx context.Context) (*cache.Entry, cache.Changed, error) {
	last, _ := c.all.kept.Get(c.key)
	if last.session != c.session { // or nothing is kept
		return nil, cache.Changed{}, nil
	}
	now, err := c.fresh.read(ctx)
	if err != nil {
		return nil, cache.Changed{}, err
	}
	if !now.Refreshed.Equal(last.fresh.Refreshed) || !maps.Equal(now.Fired, last.fresh.Fired) || now.Images != last.fresh.Images {
		return nil, cache.Changed{}, nil
	}
	return last.entry, cache.Changed{Image: c.fresh.staleAt(now, last.fresh)}, nil
}

// Store implements cache.Cache.
func (c decisionCache) Store(entry *cache.Entry) {
	fresh, known := c.fresh.last()
	if entry == nil || !known {
		c.all.kept.Delete(c.key)
		return
	}
	c.all.kept.Put(c.key, keptDecisions{entry, c.session, fresh, c.file}, entry.Size()+c.file.Memory())
}
