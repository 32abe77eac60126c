package registry

import (
	"strings"

	"promoter/internal/image"
)

// Forget drops what this pass heard about the repositories, so that it is asked
// again, and every failure: a host that was down may be up. What cannot change stays.
func (p *Batch) Forget(changed func(image.Repository) bool) {
	p.tags.forget(changed)
	p.heads.forget(changed)
	p.facts.forget(func(image.Repository) bool { return false })
}

// forget drops answers about repositories, and failures. A question under way that
// may have been answered before the change goes on for those who asked it, and is
// asked again by whoever comes now.
func (f *flight[V]) forget(changed func(image.Repository) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, known := range f.calls {
		if known.failed() || changed(repositoryOf(key)) {
			delete(f.calls, key)
		}
	}
}

// failed says whether the question ended with an error.
func (c *call[V]) failed() bool {
	select {
	case <-c.done:
		return c.err != nil
	default:
		return false
	}
}

// repositoryOf reads the repository out of the key of a question, see target.key.
func repositoryOf(key string) image.Repository {
	_, rest, _ := strings.Cut(key, "\x00")
	name, _, _ := strings.Cut(rest, "\x00")
	r, err := image.ParseRepository(name)
	if err != nil {
		return image.Repository{}
	}
	return r
}
