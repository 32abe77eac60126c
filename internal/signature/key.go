package signature

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"promoter/internal/config/trust"
	"promoter/internal/fault"
)

// keys are public keys, one of which must have signed.
type keys struct {
	all   []any
	names []string
}

func newKeys(v trust.Requirement) (signer, error) {
	parsed, err := trust.PublicKeys(v.Key)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s: %w", cmp.Or(v.KeyFile, "cosign.key"), err)
	}
	k := keys{all: parsed}
	for _, key := range parsed {
		name, err := fingerprint(key)
		if err != nil {
			return nil, err
		}
		if v.KeyFile != "" && len(parsed) == 1 {
			name = v.KeyFile
		} else if v.KeyFile != "" {
			name = v.KeyFile + " (" + name + ")"
		}
		k.names = append(k.names, "key "+name)
	}
	return k, nil
}

// fingerprint is the start of the hash of a public key, which tells keys apart.
func fingerprint(key any) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err)
	}
	const shown = 8
	sum := sha256.Sum256(der)
	return "SHA256:" + hex.EncodeToString(sum[:shown]), nil
}

func (k keys) name() string { return strings.Join(k.names, " or ") }

// verify proves no time: the key alone decides, and its holder can write any time.
func (k keys) verify(_ string, m Material) (proof, error) {
	if m.Format == Simple {
		signature, err := base64.StdEncoding.DecodeString(m.Annotations[annotationSignature])
		if err != nil {
			return proof{}, errors.New("the signature is not valid base64")
		}
		by, err := k.signed(m.Payload, signature)
		return proof{by: by, signed: m.Payload}, err
	}
	e, err := m.envelope()
	if err != nil {
		return proof{}, err
	}
	err = errors.New("the statement has no signature")
	for _, signature := range e.Signatures {
		var by string
		if by, err = k.signed(e.signed(), signature.Sig); err == nil {
			return proof{by: by, signed: e.Payload}, nil
		}
	}
	return proof{}, err
}

// signed returns the key that signed a message.
func (k keys) signed(message, signature []byte) (string, error) {
	for i, key := range k.all {
		if verifies(key, message, signature) {
			return k.names[i], nil
		}
	}
	return "", errors.New("the signature is by another key")
}

// verifies verifies a signature as cosign makes it. It hashes with SHA-256, and newer versions
// with the hash that fits a larger curve.
func verifies(key any, message, signature []byte) bool {
	sum := sha256.Sum256(message)
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		sum384, sum512 := sha512.Sum384(message), sha512.Sum512(message)
		switch {
		case ecdsa.VerifyASN1(key, sum[:], signature):
			return true
		case key.Params().BitSize > 384:
			return ecdsa.VerifyASN1(key, sum512[:], signature)
		case key.Params().BitSize > 256:
			return ecdsa.VerifyASN1(key, sum384[:], signature)
		}
		return false
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil ||
			rsa.VerifyPSS(key, crypto.SHA256, sum[:], signature, nil) == nil
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, signature)
	}
	return false
}

// payload is what cosign signs for an image.
// https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md#payloads
type payload struct {
	Critical struct {
		Type  string `json:"type"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
	} `json:"critical"`
	Optional map[string]any `json:"optional"` // of cosign sign -a
}

const payloadType = "cosign container image signature"

// checkPayload checks that a payload is about a digest. The name of the image in it is
// compared only if SignedAs requires it: an image may be copied together with its signature.
func checkPayload(digest string, signed []byte) error {
	var p payload
	if err := json.Unmarshal(signed, &p); err != nil || p.Critical.Type != payloadType {
		return errors.New("what is signed is not the signature of an image")
	}
	if p.Critical.Image.Digest != digest {
		return fmt.Errorf("the signature is of %s", printable(p.Critical.Image.Digest))
	}
	return nil
}
