// Package signaturetest signs images in a registry as cosign does, for tests.
package signaturetest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Key is a signing key.
type Key struct {
	private *ecdsa.PrivateKey
	Public  string // PEM
}

// NewKey makes a key.
func NewKey() (Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("make a key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		return Key{}, fmt.Errorf("make a key: %w", err)
	}
	return Key{private: private, Public: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))}, nil
}

// Signature signs a message.
func (k Key) Signature(message []byte) ([]byte, error) {
	sum := sha256.Sum256(message)
	signature, err := ecdsa.SignASN1(rand.Reader, k.private, sum[:])
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return signature, nil
}

// Payload is what cosign signs for a digest.
func Payload(digest string) []byte { return PayloadAs(digest, "any", nil) }

// PayloadAs is Payload with the signed reference, and the annotations of cosign sign -a.
func PayloadAs(digest, reference string, annotations map[string]string) []byte {
	optional, _ := json.Marshal(annotations) //nolint:errchkjson // a map of texts
	return fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":%s}`,
		reference, digest, optional)
}

// Envelope is a signed statement about a digest.
func (k Key) Envelope(digest, predicateType string, predicate any) ([]byte, error) {
	_, hash, _ := strings.Cut(digest, ":")
	statement, err := json.Marshal(map[string]any{
		"_type": "https://in-toto.io/Statement/v0.1", "predicateType": predicateType, "predicate": predicate,
		"subject": []any{map[string]any{"name": "any", "digest": map[string]string{"sha256": hash}}},
	})
	if err != nil {
		return nil, fmt.Errorf("make a statement: %w", err)
	}
	const payloadType = "application/vnd.in-toto+json"
	signature, err := k.Signature(fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(statement), statement))
	if err != nil {
		return nil, err
	}
	envelope, err := json.Marshal(map[string]any{
		"payloadType": payloadType, "payload": statement, "signatures": []any{map[string]any{"sig": signature}},
	})
	if err != nil {
		return nil, fmt.Errorf("make an envelope: %w", err)
	}
	return envelope, nil
}

// Sign adds a signature of an image to those in the registry.
func (k Key) Sign(image string) error { return k.SignAs(image, "any", nil) }

// SignAs is Sign with the signed reference, and the annotations of cosign sign -a.
func (k Key) SignAs(image, reference string, annotations map[string]string) error {
	digest, err := digestOf(image)
	if err != nil {
		return err
	}
	payload := PayloadAs(digest.DigestStr(), reference, annotations)
	signature, err := k.Signature(payload)
	if err != nil {
		return err
	}
	return add(digest, ".sig", mutate.Addendum{
		Layer:       static.NewLayer(payload, "application/vnd.dev.cosign.simplesigning.v1+json"),
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(signature)},
	})
}

// Attest adds an attestation of an image to those in the registry.
func (k Key) Attest(image, predicateType string, predicate any) error {
	digest, err := digestOf(image)
	if err != nil {
		return err
	}
	envelope, err := k.Envelope(digest.DigestStr(), predicateType, predicate)
	if err != nil {
		return err
	}
	return add(digest, ".att", mutate.Addendum{
		Layer:       static.NewLayer(envelope, "application/vnd.dsse.envelope.v1+json"),
		Annotations: map[string]string{"predicateType": predicateType},
	})
}

func digestOf(image string) (name.Digest, error) {
	reference, err := name.ParseReference(image)
	if err != nil {
		return name.Digest{}, fmt.Errorf("sign %s: %w", image, err)
	}
	found, err := remote.Head(reference)
	if err != nil {
		return name.Digest{}, fmt.Errorf("sign %s: %w", image, err)
	}
	return reference.Context().Digest(found.Digest.String()), nil
}

// add adds a layer to the manifest under a tag of cosign.
func add(digest name.Digest, suffix string, layer mutate.Addendum) error {
	tag := digest.Tag(strings.Replace(digest.DigestStr(), ":", "-", 1) + suffix)
	base, err := remote.Image(tag)
	if answer := new(transport.Error); errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound {
		base, err = mutate.MediaType(empty.Image, types.OCIManifestSchema1), nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", tag, err)
	}
	signed, err := mutate.Append(base, layer)
	if err != nil {
		return fmt.Errorf("make %s: %w", tag, err)
	}
	if err := remote.Write(tag, signed); err != nil {
		return fmt.Errorf("write %s: %w", tag, err)
	}
	return nil
}

// Refer adds an artifact with one layer that refers to an image, as cosign adds bundles.
func Refer(image, artifactType string, content []byte) error {
	digest, err := digestOf(image)
	if err != nil {
		return err
	}
	hash, err := v1.NewHash(digest.DigestStr())
	if err != nil {
		return fmt.Errorf("refer to %s: %w", image, err)
	}
	subject, err := remote.Head(digest)
	if err != nil {
		return fmt.Errorf("refer to %s: %w", image, err)
	}
	subject.Digest = hash
	layer := static.NewLayer(content, types.MediaType(artifactType))
	size, _ := layer.Size()
	layerDigest, _ := layer.Digest()
	config := []byte("{}")
	configDigest, _, err := v1.SHA256(bytes.NewReader(config))
	if err != nil {
		return fmt.Errorf("refer to %s: %w", image, err)
	}
	for _, blob := range []v1.Layer{layer, static.NewLayer(config, "application/vnd.oci.empty.v1+json")} {
		if err := remote.WriteLayer(digest.Context(), blob); err != nil {
			return fmt.Errorf("refer to %s: %w", image, err)
		}
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": types.OCIManifestSchema1, "artifactType": artifactType,
		"config":  map[string]any{"mediaType": "application/vnd.oci.empty.v1+json", "digest": configDigest, "size": len(config)},
		"layers":  []any{map[string]any{"mediaType": artifactType, "digest": layerDigest, "size": size}},
		"subject": map[string]any{"mediaType": subject.MediaType, "digest": hash, "size": subject.Size},
	})
	if err != nil {
		return fmt.Errorf("refer to %s: %w", image, err)
	}
	manifestDigest, _, err := v1.SHA256(bytes.NewReader(manifest))
	if err != nil {
		return fmt.Errorf("refer to %s: %w", image, err)
	}
	if err := remote.Put(digest.Digest(manifestDigest.String()), raw(manifest)); err != nil {
		return fmt.Errorf("refer to %s: %w", image, err)
	}
	return nil
}

// raw is a manifest as it is written.
type raw []byte

// RawManifest implements remote.Taggable.
func (r raw) RawManifest() ([]byte, error) { return r, nil }

// MediaType is that of the manifest.
func (raw) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
