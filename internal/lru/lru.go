// Package lru keeps values up to a size in bytes, and drops those first that were not used for the
// longest time.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps values by key. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	limit int64

	mutex sync.Mutex
	size  int64
	byKey map[K]*list.Element // of entry[K, V]
	used  *list.List          // newest first
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// New returns a cache of so many bytes.
func New[K comparable, V any](limit int64) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, byKey: map[K]*list.Element{}, used: list.New()}
}

// Get returns the value of a key, if it is kept.
func (c *Cache[K, V]) Get(key K) (value V, kept bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found, kept := c.byKey[key]
	if !kept {
		return value, false
	}
	c.used.MoveToFront(found)
	return found.Value.(entry[K, V]).value, true //nolint:forcetypeassert // the list has no other type
}

// Put keeps a value of a size in bytes in place of the one before, and drops others until all fit:
// for one that is larger than the cache, all of them and the value.
func (c *Cache[K, V]) Put(key K, value V, size int64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if before, kept := c.byKey[key]; kept {
		c.drop(before)
	}
	c.byKey[key] = c.used.PushFront(entry[K, V]{key, value, size})
	for c.size += size; c.size > c.limit; {
		c.drop(c.used.Back())
	}
}

// Delete drops the value of a key.
func (c *Cache[K, V]) Delete(key K) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if known, kept := c.byKey[key]; kept {
		c.drop(known)
	}
}

// Len returns the number of values.
func (c *Cache[K, V]) Len() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.byKey)
}

// Size returns the size of all values in bytes.
func (c *Cache[K, V]) Size() int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.size
}

func (c *Cache[K, V]) drop(one *list.Element) {
	old := c.used.Remove(one).(entry[K, V]) //nolint:forcetypeassert // the list has no other type
	delete(c.byKey, old.key)
	c.size -= old.size
}
