package rendered

import (
	"slices"
	"sync"
)

// maxCached is how many results are kept: each is at most 200 KiB, and most have some lines.
const maxCached = 64

// Cache keeps the latest results by what they were made from: each reconciliation compares the
// text of all open pull requests, and would otherwise start a process for each of them. The zero value is ready for use,
// also concurrently.
type Cache struct {
	mu    sync.Mutex
	found map[string][]Difference
	order []string // of keys, the latest last
}

// Get returns the result of a key, or renders it. An error is not kept.
func (c *Cache) Get(key string, render func() ([]Difference, error)) ([]Difference, error) {
	c.mu.Lock()
	known, found := c.found[key]
	c.mu.Unlock()
	if found {
		return known, nil
	}
	fresh, err := render()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found == nil {
		c.found = map[string][]Difference{}
	}
	if _, raced := c.found[key]; !raced {
		c.found[key], c.order = fresh, append(c.order, key)
	}
	if len(c.order) > maxCached {
		delete(c.found, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	return fresh, nil
}
