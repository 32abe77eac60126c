package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/engine"
	"promoter/internal/fault"
	"promoter/internal/image"
)

// Registry holds tags in memory.
type Registry struct {
	mutex   sync.Mutex
	tags    map[string]map[string]image.Version // repository, tag
	digests map[string]image.Version            // every version that was ever pushed
	gone    map[string]bool                     // digests that were deleted
	Down    bool                                // no request is answered
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{tags: map[string]map[string]image.Version{}, digests: map[string]image.Version{}, gone: map[string]bool{}}
}

// Digest returns the digest of some content.
func Digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Push points a tag to the image with some content.
func (r *Registry) Push(repository, tag, content string, created time.Time) image.Version {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	version := image.Version{
		Tag: tag, Version: tag, Digest: Digest(content), Created: created, Revision: strings.TrimPrefix(Digest(content), "sha256:")[:40],
	}
	if r.tags[repository] == nil {
		r.tags[repository] = map[string]image.Version{}
	}
	r.tags[repository][tag] = version
	r.digests[version.Digest] = version
	delete(r.gone, version.Digest)
	return version
}

// Delete deletes an image with all its tags.
func (r *Registry) Delete(repository, digest string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	maps.DeleteFunc(r.tags[repository], func(_ string, v image.Version) bool { return v.Digest == digest })
	r.gone[digest] = true
}

// Select implements engine.Registries.
func (r *Registry) Select(_ context.Context, ask engine.VersionRequest) promotion.Available {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.Down {
		return promotion.Available{Err: fault.New(fault.Temporary, "the registry does not respond")}
	}
	tags := r.tags[ask.Repository.String()]
	if tag, moving := ask.Policy.Moving(); moving {
		version, found := tags[tag]
		return promotion.Available{Version: version, Found: found, Reason: fmt.Sprintf("there is no tag %s", tag)}
	}
	ordered := ask.Policy.Candidates(slices.Collect(maps.Keys(tags))).Ordered
	if len(ordered) == 0 {
		return promotion.Available{Reason: "no tag matches"}
	}
	return promotion.Available{Version: tags[ordered[0].Tag], Found: true}
}

// Describe implements engine.Registries.
func (r *Registry) Describe(ctx context.Context, fact promotion.Fact, _ []string) (image.Description, error) {
	version, err := r.Resolve(ctx, promotion.Lookup{Fact: fact})
	if err == nil && version.Digest == "" {
		err = fault.New(fault.NotFound, "there is no such image")
	}
	return image.Description{Created: version.Created, Revision: version.Revision, Version: version.Version}, err
}

// Resolve implements engine.Registries.
func (r *Registry) Resolve(_ context.Context, q promotion.Lookup) (image.Version, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.Down {
		return image.Version{}, fault.New(fault.Temporary, "the registry does not respond")
	}
	if q.Digest != "" {
		if version := r.digests[q.Digest]; !r.gone[q.Digest] {
			version.Tag = q.Tag
			return version, nil
		}
		return image.Version{}, nil
	}
	return r.tags[q.Repository.String()][q.Tag], nil
}
