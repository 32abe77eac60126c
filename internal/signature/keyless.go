package signature

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"time"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protodsse "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"

	"promoter/internal/config/trust"
	"promoter/internal/fault"
)

// keyless is a signer with an identity: a certificate that an authority issued for a short
// time, and the proof of when it signed.
type keyless struct {
	text     string // the identity, as the config has it
	verifier *verify.Verifier
	identity verify.PolicyOption
}

// newKeyless requires what the trusted root has: a proof of a transparency log if it has one,
// and of a log of certificates if it has one. A timestamp, by one of these logs or by an
// authority, is always required, because the certificates are short-lived.
func newKeyless(v trust.Requirement) (signer, error) {
	trusted, err := root.NewTrustedRootFromJSON([]byte(v.TrustedRoot))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the trusted root cannot be read: %s", printable(err.Error()))
	}
	options := []verify.VerifierOption{verify.WithObserverTimestamps(1)}
	if len(trusted.RekorLogs()) > 0 {
		options = append(options, verify.WithTransparencyLog(1))
	}
	if len(trusted.CTLogs()) > 0 {
		options = append(options, verify.WithSignedCertificateTimestamps(1))
	}
	verifier, err := verify.NewVerifier(trusted, options...)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the trusted root cannot be used: %s", printable(err.Error()))
	}
	identity, err := verify.NewShortCertificateIdentity(v.Issuer, "", "", v.IdentityPattern())
	if err != nil {
		return nil, fault.New(fault.Invalid, "the identity cannot be used: %s", printable(err.Error()))
	}
	return keyless{
		text:     cmp.Or(v.Identity, v.IdentityRegexp) + " via " + v.Issuer,
		verifier: verifier, identity: verify.WithCertificateIdentity(identity),
	}, nil
}

func (k keyless) name() string { return k.text }

// verify returns as signed what the library verified, and not what another parser reads from
// the same text.
func (k keyless) verify(digest string, m Material) (proof, error) {
	b, err := m.bundle()
	if err != nil {
		return proof{}, err
	}
	content, err := b.SignatureContent()
	if err != nil {
		return proof{}, errors.New("there is no signature")
	}
	signed, artifact := m.Payload, verify.WithArtifact(bytes.NewReader(m.Payload))
	if m.Format != Simple {
		envelope := content.EnvelopeContent()
		if envelope == nil || envelope.RawEnvelope().PayloadType != envelopeType {
			return proof{}, errors.New("there is no signed statement")
		}
		if signed, err = envelope.RawEnvelope().DecodeB64Payload(); err != nil {
			return proof{}, errors.New("the signed statement cannot be read")
		}
		algorithm, hash, _ := strings.Cut(digest, ":")
		sum, err := hex.DecodeString(hash)
		if err != nil {
			return proof{}, errors.New("the digest is not valid")
		}
		artifact = verify.WithArtifactDigest(algorithm, sum)
	}
	result, err := k.verifier.Verify(b, verify.NewPolicy(artifact, k.identity))
	if err != nil {
		return proof{}, err
	}
	if result.Signature == nil || result.Signature.Certificate == nil {
		return proof{}, errors.New("the signature has no certificate")
	}
	certificate := result.Signature.Certificate
	return proof{
		by:     printable(certificate.SubjectAlternativeName) + " via " + printable(certificate.Issuer),
		signed: signed, at: earliest(result.VerifiedTimestamps),
	}, nil
}

// earliest returns the first of the times that were verified. The certificate was valid at each of
// them, which is for some minutes, so an old signature cannot get a new time.
func earliest(timestamps []verify.TimestampVerificationResult) (first time.Time) {
	for _, one := range timestamps {
		if first.IsZero() || one.Timestamp.Before(first) {
			first = one.Timestamp
		}
	}
	return first.UTC()
}

// bundle returns the material as a bundle. Tags of cosign have its parts in annotations.
func (m Material) bundle() (*bundle.Bundle, error) {
	if m.Format == Bundle {
		var b bundle.Bundle
		if err := b.UnmarshalJSON(m.Payload); err != nil {
			return nil, errors.New("the bundle cannot be read")
		}
		return &b, nil
	}
	mediaType, err := bundle.MediaTypeString("0.1")
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err)
	}
	made := &protobundle.Bundle{MediaType: mediaType}
	if made.VerificationMaterial, err = m.proof(); err != nil {
		return nil, err
	}
	if m.Format == Simple {
		signature, err := base64.StdEncoding.DecodeString(m.Annotations[annotationSignature])
		if err != nil {
			return nil, errors.New("the signature is not valid base64")
		}
		sum := sha256.Sum256(m.Payload)
		made.Content = &protobundle.Bundle_MessageSignature{MessageSignature: &protocommon.MessageSignature{
			MessageDigest: &protocommon.HashOutput{Algorithm: protocommon.HashAlgorithm_SHA2_256, Digest: sum[:]}, Signature: signature,
		}}
	} else {
		e, err := m.envelope()
		if err != nil {
			return nil, err
		}
		signed := &protodsse.Envelope{PayloadType: e.PayloadType, Payload: e.Payload}
		for _, signature := range e.Signatures {
			signed.Signatures = append(signed.Signatures, &protodsse.Signature{Sig: signature.Sig})
		}
		made.Content = &protobundle.Bundle_DsseEnvelope{DsseEnvelope: signed}
	}
	b, err := bundle.NewBundle(made)
	if err != nil {
		return nil, errors.New("the signature is incomplete: " + printable(err.Error()))
	}
	return b, nil
}

// proof reads the annotations of cosign: the certificate, the promise of the transparency log,
// and a timestamp.
// https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md#properties
func (m Material) proof() (*protobundle.VerificationMaterial, error) {
	block, _ := pem.Decode([]byte(m.Annotations[annotationCertificate]))
	if block == nil {
		return nil, errors.New("the signature has no certificate, as one that was made with a key")
	}
	proof := &protobundle.VerificationMaterial{
		Content: &protobundle.VerificationMaterial_X509CertificateChain{X509CertificateChain: &protocommon.X509CertificateChain{
			Certificates: []*protocommon.X509Certificate{{RawBytes: block.Bytes}},
		}},
	}
	if text := m.Annotations[annotationBundle]; text != "" {
		entry, err := readLogEntry(text)
		if err != nil {
			return nil, err
		}
		proof.TlogEntries = append(proof.TlogEntries, entry)
	}
	if text := m.Annotations[annotationTimestamp]; text != "" {
		var timestamp struct {
			Signed []byte `json:"SignedRFC3161Timestamp"`
		}
		if err := json.Unmarshal([]byte(text), &timestamp); err != nil {
			return nil, errors.New("the timestamp cannot be read")
		}
		proof.TimestampVerificationData = &protobundle.TimestampVerificationData{
			Rfc3161Timestamps: []*protocommon.RFC3161SignedTimestamp{{SignedTimestamp: timestamp.Signed}},
		}
	}
	return proof, nil
}

// readLogEntry reads the promise of a transparency log to include an entry.
func readLogEntry(text string) (*protorekor.TransparencyLogEntry, error) {
	var promise struct {
		Signed  []byte `json:"SignedEntryTimestamp"`
		Payload struct {
			Body           []byte `json:"body"`
			IntegratedTime int64  `json:"integratedTime"`
			LogIndex       int64  `json:"logIndex"`
			LogID          string `json:"logID"`
		} `json:"Payload"`
	}
	var body struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
	}
	err := json.Unmarshal([]byte(text), &promise)
	logID, notHex := hex.DecodeString(promise.Payload.LogID)
	if errors.Join(err, notHex, json.Unmarshal(promise.Payload.Body, &body)) != nil {
		return nil, errors.New("the entry of the transparency log cannot be read")
	}
	return &protorekor.TransparencyLogEntry{
		LogIndex: promise.Payload.LogIndex, LogId: &protocommon.LogId{KeyId: logID},
		KindVersion:    &protorekor.KindVersion{Kind: body.Kind, Version: body.APIVersion},
		IntegratedTime: promise.Payload.IntegratedTime, CanonicalizedBody: promise.Payload.Body,
		InclusionPromise: &protorekor.InclusionPromise{SignedEntryTimestamp: promise.Signed},
	}, nil
}
