// Package signature verifies who signed an image: signatures and attestations as cosign
// makes them, with a key or keyless.
//
// The package is pure: the registry package fetches the material beside an image, and this
// package decides about it. Nothing in the material counts before its signature was
// verified, and a signature counts only for the digest that it names.
//
// Cryptography comes from the standard library for keys, and for keyless signatures from
// sigstore-go, which verifies certificates, transparency logs, and timestamps.
package signature

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"promoter/internal/config/trust"
	"promoter/internal/fault"
	"promoter/internal/image"
)

// Format is how a piece of material is signed.
type Format string

// The formats.
const (
	// Simple is the payload of a cosign signature, with the signature beside it.
	// https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
	Simple Format = "simple signing"
	// Envelope is a signed in-toto statement.
	// https://github.com/secure-systems-lab/dsse/blob/master/envelope.md
	Envelope Format = "envelope"
	// Bundle is a signed in-toto statement with everything that verifies it.
	// https://github.com/sigstore/protobuf-specs/blob/main/protos/sigstore_bundle.proto
	Bundle Format = "bundle"
)

// Material is one signature or attestation that the registry has beside an image.
type Material struct {
	Format  Format
	Payload []byte
	// Annotations are those of the layer: with Simple the signature, and with keyless
	// signatures the certificate and the proof of the transparency log.
	Annotations map[string]string
}

// The annotations of cosign.
const (
	annotationSignature   = "dev.cosignproject.cosign/signature"
	annotationCertificate = "dev.sigstore.cosign/certificate"
	annotationBundle      = "dev.sigstore.cosign/bundle"
	annotationTimestamp   = "dev.sigstore.cosign/rfc3161timestamp"
)

// Policy is what signatures must prove about an image. All of its requirements must be met.
// The zero Policy requires nothing.
type Policy struct {
	requirements []requirement
	id           string
}

// requirement is one signer, and what the signer must have signed.
type requirement struct {
	trust.Requirement
	signer signer
	names  []image.Pattern // of SignedAs
}

// signer verifies signatures of one kind of identity.
type signer interface {
	// name is the signer as users know it, before anything is verified.
	name() string
	// verify returns what a signature proves.
	verify(digest string, m Material) (proof, error)
}

// proof is what a verified signature proves.
type proof struct {
	by     string
	signed []byte    // a payload of simple signing, or a statement
	at     time.Time // when it was signed at the latest; zero: not proven
}

// New makes the policy of requirements.
func New(required []trust.Requirement) (Policy, error) {
	if len(required) == 0 {
		return Policy{}, nil
	}
	text, err := json.Marshal(required)
	if err != nil {
		return Policy{}, fault.Wrap(fault.Internal, err)
	}
	sum := sha256.Sum256(text)
	policy := Policy{id: hex.EncodeToString(sum[:])}
	for _, v := range required {
		r := requirement{Requirement: v, names: signedNames(v)}
		switch {
		case v.Broken != "":
			err = fault.New(fault.Invalid, "%s", v.Broken)
		case v.Issuer != "":
			r.signer, err = newKeyless(v)
		default:
			r.signer, err = newKeys(v)
		}
		if err != nil {
			return Policy{}, fmt.Errorf("signatures cannot be verified: %w", err)
		}
		policy.requirements = append(policy.requirements, r)
	}
	return policy, nil
}

// ID identifies the policy: what was verified with it once holds for good. Empty: nothing is
// required.
func (p Policy) ID() string { return p.id }

// Verify decides about a digest with the material beside it.
func (p Policy) Verify(digest string, material []Material) image.Signature {
	var signers []string
	for _, r := range p.requirements {
		by, found, problem := r.verify(digest, material)
		switch {
		case by != "":
			signers = append(signers, by)
		case found:
			return image.Signature{Problem: problem, Wrong: true}
		default:
			return image.Signature{Problem: problem}
		}
	}
	return image.Signature{By: strings.Join(signers, "; ")}
}

// verify returns who met the requirement. Otherwise it returns whether there was a signature,
// and what is wrong.
func (r requirement) verify(digest string, material []Material) (by string, found bool, problem string) {
	what, plural := "signature", "signatures"
	if r.needsProvenance() {
		what, plural = "provenance", "provenances"
	}
	count := 0
	var first, uncounted error
	for _, m := range material {
		if !r.concerns(m) {
			continue
		}
		count++
		proven, err := r.signer.verify(digest, m)
		if err == nil {
			err = r.check(digest, m, proven.signed)
		}
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		if err := r.counts(digest, m, proven); err != nil {
			uncounted = cmp.Or(uncounted, fmt.Errorf("wrongly signed: the %s by %s %w", what, proven.by, err))
			continue
		}
		who := proven.by
		if r.needsProvenance() {
			who += ", provenance" + r.provenanceText()
		}
		return who, true, ""
	}
	if uncounted != nil {
		return "", true, uncounted.Error()
	}
	if count == 0 {
		return "", false, fmt.Sprintf("unsigned: the registry has no %s of it, which %s must have made", what, r.signer.name())
	}
	if count > 1 {
		what = plural
	}
	return "", true, fmt.Sprintf("wrongly signed: %d %s, and none is by %s: %s", count, what, r.signer.name(), printable(first.Error()))
}

// needsProvenance reports whether a provenance is required, instead of a signature.
func (r requirement) needsProvenance() bool { return r.Builder != "" || r.Source != "" }

// concerns reports whether the material is of the kind that is required, as it says before
// anything is verified.
func (r requirement) concerns(m Material) bool {
	if m.Format == Simple {
		return !r.needsProvenance()
	}
	statement, ok := m.statement()
	switch {
	case !ok:
		return false
	case r.needsProvenance():
		return isProvenance(statement.PredicateType)
	}
	return statement.PredicateType == predicateSignature
}

// check checks what was signed.
func (r requirement) check(digest string, m Material, signed []byte) error {
	if m.Format == Simple {
		return checkPayload(digest, signed)
	}
	statement, err := parseStatement(signed)
	if err != nil {
		return err
	}
	if err := statement.about(digest); err != nil {
		return err
	}
	if r.needsProvenance() {
		return statement.checkProvenance(r.Builder, r.Source)
	}
	if statement.PredicateType != predicateSignature {
		return fmt.Errorf("the statement is of the type %s", printable(statement.PredicateType))
	}
	return nil
}

func (r requirement) provenanceText() string {
	text := ""
	if r.Source != "" {
		text += " of " + r.Source
	}
	if r.Builder != "" {
		text += " by " + r.Builder
	}
	return text
}

// maxText is how much of a text of others is shown, in bytes.
const maxText = 300

// printable bounds a text that others wrote.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r > '~' {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxText {
		text = text[:maxText] + "..."
	}
	return text
}
