package reconciletest

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

	"promoter/internal/config/trust"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/reconcile/observe"
)

// Registry holds tags in memory.
type Registry struct {
	mutex   sync.Mutex
	tags    map[string]map[string]image.Version // repository, tag
	digests map[string]image.Version            // every version that was ever pushed: repository@digest
	gone    map[string]bool                     // of them, those that were deleted
	signed  map[string]image.Signature          // by digest; those without an entry are unsigned
	changed []string                            // repositories, in the order of changes; empty: any
	Down    bool                                // no request is answered
	Fails   map[string]error                    // repository, what a request about it ends with
	// Now is the time for minAge. Nil: every version is old enough.
	Now func() time.Time
	// SignaturesDown: nothing is answered that needs signatures.
	SignaturesDown bool
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{tags: map[string]map[string]image.Version{}, digests: map[string]image.Version{}, gone: map[string]bool{}, signed: map[string]image.Signature{}}
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
	r.digests[repository+"@"+version.Digest] = version
	delete(r.gone, repository+"@"+version.Digest)
	r.changed = append(r.changed, repository)
	return version
}

// Tag points a tag to an image that was pushed before, also if that was deleted since.
func (r *Registry) Tag(repository, tag, digest string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	version := r.digests[repository+"@"+digest]
	version.Tag, version.Version = tag, tag
	r.tags[repository][tag] = version
	delete(r.gone, repository+"@"+digest)
	r.changed = append(r.changed, repository)
}

// Changed reports which repositories changed after the first n changes, as webhooks would, and how
// many changes there were.
func (r *Registry) Changed(n int) (changed func(image.Repository) bool, total int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	since := slices.Clone(r.changed[n:])
	return func(of image.Repository) bool {
		return slices.ContainsFunc(since, func(one string) bool { return one == "" || one == of.String() })
	}, len(r.changed)
}

// Sign sets what a digest is signed with, in place of what it was signed with before.
func (r *Registry) Sign(digest string, signature image.Signature) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.signed[digest] = signature
	r.changed = append(r.changed, "")
}

// verify adds to a version who signed it, if that must be known. What cannot be verified now is
// an error.
func (r *Registry) verify(version image.Version, required []trust.Requirement) (image.Version, error) {
	switch signature, found := r.signed[version.Digest]; {
	case len(required) == 0 || version.Digest == "":
	case r.SignaturesDown:
		return image.Version{}, fault.New(fault.Temporary, "the registry does not respond to requests for signatures")
	case found:
		version.Signature = signature
	default:
		version.Signature = image.Signature{Problem: "unsigned"}
	}
	return version, nil
}

// Delete deletes an image with all its tags.
func (r *Registry) Delete(repository, digest string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	maps.DeleteFunc(r.tags[repository], func(_ string, v image.Version) bool { return v.Digest == digest })
	r.gone[repository+"@"+digest] = true
	r.changed = append(r.changed, repository)
}

// Select implements observe.Registries.
func (r *Registry) Select(_ context.Context, ask observe.VersionRequest) promotion.Available {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.Down {
		return promotion.Available{Err: fault.New(fault.Temporary, "the registry does not respond")}
	}
	if err := r.Fails[ask.Repository.String()]; err != nil {
		return promotion.Available{Err: err}
	}
	tags := r.tags[ask.Repository.String()]
	if tag, moving := ask.Policy.Moving(); moving {
		if _, found := tags[tag]; !found {
			return promotion.Available{Reason: fmt.Sprintf("there is no tag %s", tag)}
		}
		return r.firstSigned(ask, []image.Version{tags[tag]})
	}
	var candidates []image.Version
	for _, candidate := range ask.Policy.Candidates(slices.Collect(maps.Keys(tags))).Ordered {
		candidates = append(candidates, tags[candidate.Tag])
	}
	return r.firstSigned(ask, candidates)
}

// firstSigned selects the first of the versions that is old enough, and signed as it must be. One that
// is wrongly signed ends the selection.
func (r *Registry) firstSigned(ask observe.VersionRequest, candidates []image.Version) promotion.Available {
	available := promotion.Available{Reason: "no tag matches"}
	for _, candidate := range candidates {
		if why, until := r.tooYoung(ask, candidate.Digest); why != "" {
			if len(available.Held) == 0 {
				available.Reason = why
			}
			available.Held = append(available.Held, promotion.HeldVersion{Version: candidate, Condition: promotion.Condition{
				Name: ask.Name + " " + candidate.Tag, State: promotion.Pending, Reason: why, Until: &until,
			}})
			continue
		}
		version, err := r.verify(candidate, ask.Verify)
		switch {
		case err != nil:
			return promotion.Available{Err: err}
		case version.Signature.Problem == "":
			available.Version, available.Found, available.Reason = version, true, ""
			return available
		}
		why := promotion.Condition{Name: ask.Name + " " + version.Tag, State: promotion.Pending, Reason: version.Signature.Problem}
		if available.Reason = why.Reason; version.Signature.Wrong {
			why.State = promotion.Blocked
		}
		available.Held = append(available.Held, promotion.HeldVersion{Version: version, Condition: why})
		if version.Signature.Wrong {
			break
		}
	}
	return available
}

// tooYoung returns why a digest is not old enough to be selected, and until when.
func (r *Registry) tooYoung(ask observe.VersionRequest, digest string) (why string, until time.Time) {
	minAge := ask.Component.Select.MinAge
	if minAge == 0 || r.Now == nil {
		return "", time.Time{}
	}
	now := r.Now()
	seen, known := ask.FirstSeen(digest)
	if !known || seen.After(now) {
		return "minAge: seen now for the first time", now.Add(minAge)
	}
	if until = seen.Add(minAge); now.Before(until) {
		return "minAge: first seen " + seen.UTC().Format(time.RFC3339), until
	}
	return "", time.Time{}
}

// Describe implements observe.Registries.
func (r *Registry) Describe(ctx context.Context, fact promotion.Fact, _ []string) (image.Description, error) {
	version, err := r.Resolve(ctx, promotion.Lookup{Fact: fact})
	if err == nil && version.Digest == "" {
		err = fault.New(fault.NotFound, "there is no such image")
	}
	return image.Description{Created: version.Created, Revision: version.Revision, Version: version.Version}, err
}

// Resolve implements observe.Registries.
func (r *Registry) Resolve(_ context.Context, q promotion.Lookup) (image.Version, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.Down {
		return image.Version{}, fault.New(fault.Temporary, "the registry does not respond")
	}
	if err := r.Fails[q.Repository.String()]; err != nil {
		return image.Version{}, err
	}
	if q.Digest != "" {
		at := q.Repository.String() + "@" + q.Digest
		if version := r.digests[at]; !r.gone[at] {
			version.Tag = q.Tag
			return r.verify(version, q.Verify)
		}
		return image.Version{}, nil
	}
	return r.verify(r.tags[q.Repository.String()][q.Tag], q.Verify)
}
