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

// Observations keeps the last observation of several repositories between the reconciliations of a
// process, up to a size. It forgets those first that were not used for the longest time.
type Observations struct {
	kept *lru.Cache[string, observed] // by the key of the repository
}

// observed is an observation, with what makes it stale.
type observed struct {
	kept    *cache.Entry
	session *connect.Session // its answers of registries
	fresh   store.Freshness
	file    *kept.File
}

// NewObservations returns an empty memory of about so many bytes.
func NewObservations(limit int64) *Observations {
	return &Observations{kept: lru.New[string, observed](limit)}
}

// file returns the file beside the mirror of a repository. It is read again only if it changed.
func (o *Observations) file(key, path string) *kept.File {
	if o != nil {
		if last, known := o.kept.Get(key); known && last.file.Path() == path && last.file.IsCurrent() {
			return last.file
		}
	}
	return kept.At(path)
}

// keeper keeps the observations of one repository. It implements cache.Cache.
type keeper struct {
	all     *Observations
	key     string
	session *connect.Session
	fresh   *freshness
	file    *kept.File
}

// Load implements cache.Cache. A poll, a schedule, and a refresh make every answer of registries
// stale; an event, and the turn of an image, that of the image.
func (k keeper) Load(ctx context.Context) (*cache.Entry, cache.Changed, error) {
	last, known := k.all.kept.Get(k.key)
	if !known || last.session != k.session {
		return nil, cache.Changed{}, nil
	}
	now, err := k.fresh.read(ctx)
	if err != nil {
		return nil, cache.Changed{}, err
	}
	if !now.Refreshed.Equal(last.fresh.Refreshed) || !maps.Equal(now.Fired, last.fresh.Fired) || now.Images != last.fresh.Images {
		return nil, cache.Changed{}, nil
	}
	return last.kept, cache.Changed{Image: k.fresh.staleAt(now, last.fresh)}, nil
}

// Store implements cache.Cache.
func (k keeper) Store(entry *cache.Entry) {
	fresh, known := k.fresh.last()
	if entry == nil || !known {
		k.all.kept.Delete(k.key)
		return
	}
	k.all.kept.Put(k.key, observed{entry, k.session, fresh, k.file}, entry.Size()+k.file.Memory())
}
