package registry

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	ggcr "github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"promoter/internal/fault"
	"promoter/internal/image"
)

// Resolve asks what a reference points to now: the digest of a tag, or whether a
// digest is there. With both, the digest is asked for and the tag is taken over
// as it is. What is not there is a NotFound fault.
func (v *View) Resolve(ctx context.Context, r image.Reference) (image.Version, error) {
	t, err := v.at(r.Repository)
	if err != nil {
		return image.Version{}, err
	}
	asked := r.Digest
	if asked == "" {
		asked = r.Tag
	}
	if asked == "" {
		return image.Version{}, fault.New(fault.Invalid, "%s names neither tag nor digest", r)
	}
	digest, err := v.digest(ctx, t, asked, time.Time{})
	if err != nil {
		return image.Version{}, err
	}
	return image.Version{Tag: r.Tag, Digest: digest}, nil
}

// Describe returns what a digest says about itself, for an index with the date
// of its linux/amd64 image or, without one, of its first. It is asked once ever.
func (v *View) Describe(ctx context.Context, r image.Repository, digest string) (image.Version, error) {
	t, err := v.at(r)
	if err != nil {
		return image.Version{}, err
	}
	if !image.ValidDigest(digest) {
		return image.Version{}, fault.New(fault.Invalid, "%q is not a digest", digest)
	}
	found, err := v.describe(ctx, t, digest, nil)
	if err != nil {
		return image.Version{}, err
	}
	if found.Opaque != "" {
		return image.Version{}, fault.New(fault.Invalid, "%s of %s: %s", digest, r, found.Opaque)
	}
	return version(digest, found), nil
}

func (v *View) describe(ctx context.Context, t *access, digest string, wanted []string) (metadata, error) {
	dates := "" // whose dates are wanted, see choose
	if len(wanted) > 0 {
		dates = wanted[0]
	}
	return v.batch.facts.do(ctx, t.key(digest+" "+dates), func() (metadata, error) {
		return ask(v, t, digest, func() (metadata, error) { return t.describe(ctx, digest, wanted) })
	})
}

func version(digest string, f metadata) image.Version {
	return image.Version{
		Digest: digest, Version: f.Version, Created: f.Created,
		Revision: f.Revision, Source: f.Source, Platforms: f.platforms(),
	}
}

// digest asks for the digest of a tag, or whether a digest is there, once in a
// pass and for a moment.
func (v *View) digest(ctx context.Context, t *access, asked string, asOf time.Time) (string, error) {
	if known, ok := t.cache.digest(asked, v.validity(asOf)); ok {
		return known, nil
	}
	return v.batch.heads.asOf(ctx, t.key(asked), asOf, func() (string, error) {
		digest, err := ask(v, t, asked, func() (string, error) { return t.head(ctx, asked) })
		if err == nil {
			t.cache.setDigest(asked, digest, asOf)
		}
		return digest, err
	})
}

// head asks for the digest without the manifest, and with it where a registry
// cannot do otherwise.
func (t *access) head(ctx context.Context, asked string) (string, error) {
	login, err := t.session.open(ctx)
	if err != nil {
		return "", err
	}
	var reference name.Reference = t.session.repository.Tag(asked)
	if image.ValidDigest(asked) {
		reference = t.session.repository.Digest(asked)
	}
	found, err := login.puller.Head(ctx, reference)
	if err == nil {
		return found.Digest.String(), nil
	}
	if !headless(err) {
		return "", err
	}
	whole, err := login.puller.Get(ctx, reference)
	if err != nil {
		return "", err
	}
	return whole.Digest.String(), nil
}

// headless says that a registry answered HEAD with less than the specification
// wants: without a digest, or not at all.
func headless(err error) bool {
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, context.Canceled) {
		return false
	}
	answer, ok := errors.AsType[*ggcr.Error](err)
	return !ok || answer.StatusCode == http.StatusMethodNotAllowed || answer.StatusCode == http.StatusNotImplemented
}
