package registry

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	ggcr "github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
)

// View queries registries with the permissions of one GitOps repository.
type View struct {
	batch *Batch
	key   identity.RepositoryKey
}

// Resolve returns what a reference points to now: the digest of a tag, or a digest that
// exists. With both, it checks the digest and returns the tag unchanged. A missing one
// is a NotFound fault.
func (v *View) Resolve(ctx context.Context, r image.Reference) (image.Version, error) {
	a, err := v.access(r.Repository)
	if err != nil {
		return image.Version{}, err
	}
	wanted := cmp.Or(r.Digest, r.Tag)
	if wanted == "" {
		return image.Version{}, fault.New(fault.Invalid, "%s has neither a tag nor a digest", r)
	}
	digest, err := v.digest(ctx, a, wanted, Request{})
	if err != nil {
		return image.Version{}, err
	}
	return image.Version{Tag: r.Tag, Digest: digest}, nil
}

// Describe returns what a digest says about itself. The date of an index is that of its
// linux/amd64 image, else of its first image.
func (v *View) Describe(ctx context.Context, r image.Repository, digest string) (image.Version, error) {
	found, err := v.described(ctx, r, digest, nil)
	if err != nil {
		return image.Version{}, err
	}
	return found.version(digest), nil
}

// Description is Describe for users. The first of the platforms selects the image of an
// index whose date and size count.
func (v *View) Description(ctx context.Context, r image.Repository, digest string, platforms []string) (image.Description, error) {
	found, err := v.described(ctx, r, digest, platforms)
	return found.description(), err
}

func (v *View) described(ctx context.Context, r image.Repository, digest string, platforms []string) (metadata, error) {
	a, err := v.access(r)
	if err != nil {
		return metadata{}, err
	}
	if !image.ValidDigest(digest) {
		return metadata{}, fault.New(fault.Invalid, "%q is not a digest", digest)
	}
	found, err := v.describe(ctx, a, digest, platforms)
	if err != nil {
		return metadata{}, err
	}
	if found.Opaque != "" {
		return metadata{}, fault.New(fault.Invalid, "%s of %s: %s", digest, r, found.Opaque)
	}
	return found, nil
}

func (v *View) access(r image.Repository) (*access, error) { return v.batch.client.access(v.key, r) }

// describe returns the metadata of a digest. The first of the platforms selects the
// image of an index whose date counts.
func (v *View) describe(ctx context.Context, a *access, digest string, platforms []string) (metadata, error) {
	of := digest
	if len(platforms) > 0 {
		of += " " + platforms[0]
	}
	return v.batch.facts.do(ctx, flightKey{a.scope, of}, time.Time{}, time.Time{}, func() (metadata, error) {
		return send(v.batch.client, a, digest, func() (metadata, error) { return a.describe(ctx, digest, platforms) })
	})
}

// kind returns what a digest is, without its other metadata.
func (v *View) kind(ctx context.Context, a *access, digest string) (image.Artifact, error) {
	found, err := v.batch.facts.do(ctx, flightKey{a.scope, digest + " kind"}, time.Time{}, time.Time{}, func() (metadata, error) {
		return send(v.batch.client, a, digest, func() (metadata, error) { return a.kind(ctx, digest) })
	})
	return found.Kind, err
}

// digest returns the digest of a tag, or checks that a digest exists. A response since MovedAsOf is accepted,
// or, without AsOf, each of this Batch.
func (v *View) digest(ctx context.Context, a *access, wanted string, r Request) (string, error) {
	if known, ok := a.cache.digest(wanted, v.validity(r.MovedAsOf)); ok {
		return known, nil
	}
	since := r.MovedAsOf
	if r.AsOf.IsZero() {
		since = time.Time{}
	}
	return v.batch.digests.do(ctx, flightKey{a.scope, wanted}, since, r.AsOf, func() (string, error) {
		digest, err := send(v.batch.client, a, wanted, func() (string, error) { return a.digest(ctx, wanted) })
		if err == nil {
			a.cache.setDigest(wanted, digest, r.keptAsOf())
		}
		return digest, err
	})
}

// digest requests a digest with HEAD, and with GET from registries that do not answer
// HEAD as the specification requires.
func (a *access) digest(ctx context.Context, wanted string) (string, error) {
	connection, err := a.session.open(ctx)
	if err != nil {
		return "", err
	}
	var reference name.Reference = a.session.repository.Tag(wanted)
	if image.ValidDigest(wanted) {
		reference = a.session.repository.Digest(wanted)
	}
	found, err := connection.puller.Head(ctx, reference)
	if err == nil {
		return found.Digest.String(), nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, context.Canceled) {
		return "", err
	}
	// Any other error that is not an HTTP status is a response without a digest.
	if status, ok := errors.AsType[*ggcr.Error](err); ok &&
		status.StatusCode != http.StatusMethodNotAllowed && status.StatusCode != http.StatusNotImplemented {
		return "", err
	}
	whole, err := connection.puller.Get(ctx, reference)
	if err != nil {
		return "", err
	}
	return whole.Digest.String(), nil
}
