package lru_test

import (
	"sync"
	"testing"

	"promoter/internal/lru"
)

func TestCache_dropsWhatWasNotUsedForTheLongestTime(t *testing.T) {
	t.Parallel()
	c := lru.New[string, int](10)
	c.Put("a", 1, 4)
	c.Put("b", 2, 4)
	if got, kept := c.Get("a"); got != 1 || !kept {
		t.Errorf("a is %d, %v", got, kept)
	}
	c.Put("c", 3, 4)
	for key, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, kept := c.Get(key); kept != want {
			t.Errorf("%s is kept: %v", key, kept)
		}
	}
	c.Put("c", 4, 6)
	if got, _ := c.Get("c"); got != 4 || c.Len() != 2 || c.Size() != 10 {
		t.Errorf("c is %d of %d values with %d bytes", got, c.Len(), c.Size())
	}
	c.Delete("c")
	c.Delete("c")
	if _, kept := c.Get("c"); kept || c.Size() != 4 {
		t.Errorf("c is kept: %v, %d bytes", kept, c.Size())
	}
	if c.Put("d", 5, 11); c.Len() != 0 || c.Size() != 0 {
		t.Errorf("a value that is too large leaves %d values with %d bytes", c.Len(), c.Size())
	}
}

func TestCache_isSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	c := lru.New[int, int](10)
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 100 {
				c.Put(i%7, worker, 3)
				c.Get((i + worker) % 7)
				c.Delete(i % 5)
			}
		})
	}
	group.Wait()
	if c.Size() > 10 || c.Size() != int64(3*c.Len()) {
		t.Errorf("%d values with %d bytes", c.Len(), c.Size())
	}
}
