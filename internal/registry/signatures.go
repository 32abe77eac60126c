package registry

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	ggcr "github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/signature"
)

// What is beside an image, by media type and by the type of an artifact.
// https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
// https://github.com/sigstore/cosign/blob/main/specs/BUNDLE_SPEC.md
const (
	mediaSimpleSigning = "application/vnd.dev.cosign.simplesigning.v1+json"
	mediaEnvelope      = "application/vnd.dsse.envelope.v1+json"
	mediaBundle        = "application/vnd.dev.sigstore.bundle"
	artifactCosign     = "application/vnd.dev.cosign.artifact.sig.v1+json"
)

// Bounds of what is read beside one image: others may push there.
const (
	maxMaterials    = 50
	maxMaterialSize = 4 << 20  // of one, in bytes
	maxMaterialsSum = 16 << 20 // of all
)

// signature decides who signed a digest. A registry that does not answer is an error: what
// cannot be verified now is neither signed nor unsigned.
func (v *View) signature(ctx context.Context, a *access, digest string, policy signature.Policy, asOf time.Time) (image.Signature, error) {
	if policy.ID() == "" {
		return image.Signature{}, nil
	}
	kept := policy.ID() + " " + digest
	if by, ok := a.cache.signer(kept); ok {
		return image.Signature{By: by}, nil
	}
	return v.batch.signatures.do(ctx, flightKey{a.scope, kept}, asOf, asOf, func() (image.Signature, error) {
		material, err := send(v.batch.client, a, "signatures of "+digest,
			func() ([]signature.Material, error) { return a.materials(ctx, digest) })
		if err != nil {
			return image.Signature{}, err
		}
		found := policy.Verify(digest, material)
		if found.By != "" {
			a.cache.setSigner(kept, found.By)
		}
		return found, nil
	})
}

// materials reads the signatures and attestations of a digest: under the tags of cosign, and
// what refers to the digest.
func (a *access) materials(ctx context.Context, digest string) ([]signature.Material, error) {
	connection, err := a.session.open(ctx)
	if err != nil {
		return nil, err
	}
	r := materialReader{access: a, connection: connection, sum: maxMaterialsSum}
	prefix := strings.Replace(digest, ":", "-", 1)
	for _, suffix := range []string{".sig", ".att"} {
		if err := r.manifest(ctx, a.session.repository.Tag(prefix+suffix)); err != nil {
			return nil, err
		}
	}
	referrers, err := remote.Referrers(a.session.repository.Digest(digest),
		remote.WithContext(ctx), remote.WithTransport(connection.login.client.Transport))
	if err != nil {
		return nil, err
	}
	index, err := referrers.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, d := range index.Manifests {
		if !holdsMaterial(d.ArtifactType) {
			continue
		}
		if err := r.manifest(ctx, a.session.repository.Digest(d.Digest.String())); err != nil {
			return nil, err
		}
	}
	return r.found, nil
}

// holdsMaterial reports whether an artifact may be a signature or an attestation. Registries
// that build the list of the referrers themselves may omit the type.
func holdsMaterial(artifactType string) bool {
	switch artifactType {
	case "", artifactCosign, mediaEnvelope:
		return true
	}
	prefixes := []string{mediaBundle, "application/vnd.oci.image.config", "application/vnd.oci.empty"}
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(artifactType, prefix) })
}

// materialReader collects materials within their bounds.
type materialReader struct {
	access     *access
	connection *connection
	sum        int64 // bytes that may still be read
	found      []signature.Material
}

// manifest reads the materials in the layers of a manifest, if it exists.
func (r *materialReader) manifest(ctx context.Context, reference name.Reference) error {
	got, err := r.connection.puller.Get(ctx, reference)
	if answer, ok := errors.AsType[*ggcr.Error](err); ok && answer.StatusCode == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	parsed, err := v1.ParseManifest(bytes.NewReader(got.Manifest))
	if err != nil || mediaType(got.Manifest).IsIndex() {
		return nil //nolint:nilerr // what is no manifest proves nothing
	}
	for _, layer := range parsed.Layers {
		var format signature.Format
		switch media := string(layer.MediaType); {
		case media == mediaSimpleSigning:
			format = signature.Simple
		case media == mediaEnvelope:
			format = signature.Envelope
		case strings.HasPrefix(media, mediaBundle):
			format = signature.Bundle
		default:
			continue
		}
		if layer.Size > maxMaterialSize || layer.Size < 0 {
			continue
		}
		if r.sum -= layer.Size; r.sum < 0 || len(r.found) == maxMaterials {
			return fault.New(fault.Invalid,
				"there are more than %d signatures and attestations, or they are larger than %d bytes", maxMaterials, maxMaterialsSum)
		}
		payload, err := r.access.blob(ctx, r.connection, layer, maxMaterialSize)
		if err != nil {
			return err
		}
		r.found = append(r.found, signature.Material{Format: format, Payload: payload, Annotations: layer.Annotations})
	}
	return nil
}
