package object

import "promoter/internal/lru"

// Limits of a Cache, in bytes. An event reads the same large trees and the same commits many
// times. Small trees cost less to read than to keep.
const (
	cachedTrees   = 2 << 20
	cachedCommits = 4 << 20
	largeTree     = 4 << 10
)

// Cache keeps what a Store read of its storage: large trees, and commits. It can be given to the
// next Store of the same objects.
type Cache struct {
	trees   *lru.Cache[ID, string]
	commits *lru.Cache[ID, Commit] // as encoded, so without Shallow
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	c := &Cache{}
	c.Clear()
	return c
}

// Clear empties the cache. It is called when the storage may have lost objects.
func (c *Cache) Clear() {
	c.trees, c.commits = lru.New[ID, string](cachedTrees), lru.New[ID, Commit](cachedCommits)
}

// Size estimates its memory in bytes.
func (c *Cache) Size() int64 { return c.trees.Size() + c.commits.Size() }

func (c *Cache) keepTree(id ID, content string) {
	if size := len(content); size >= largeTree && size <= cachedTrees {
		c.trees.Put(id, content, int64(size))
	}
}

func (c *Cache) keepCommit(commit Commit) {
	const ofCommit = 700 // without its message, which the trailers repeat
	if size := ofCommit + 2*len(commit.Message); size <= cachedCommits/100 {
		c.commits.Put(commit.ID, commit, int64(size))
	}
}
