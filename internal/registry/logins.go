package registry

import (
	"sync"
	"time"
)

// Logins keep what sources gave from one Client to the next, so that a login is
// asked for when it ends and not in each round of work. They are in memory only.
type Logins struct {
	mu   sync.Mutex
	kept map[string]*refresher // by the id of the entry
}

// NewLogins makes an empty one.
func NewLogins() *Logins { return &Logins{kept: map[string]*refresher{}} }

// refresher returns the renewal of an entry. The next login comes from the newest
// source: what it was made of may have changed.
func (l *Logins) refresher(id string, c Credential, now func() time.Time) *refresher {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.kept[id]; ok {
		known.from(c.Source)
		return known
	}
	made := newRefresher(c.Host, c.Source, now)
	l.kept[id] = made
	return made
}

// keepOnly forgets entries that are no more.
func (l *Logins) keepOnly(entries []entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	present := make(map[string]bool, len(entries))
	for _, e := range entries {
		present[e.id] = true
	}
	for id := range l.kept {
		if !present[id] {
			delete(l.kept, id)
		}
	}
}
