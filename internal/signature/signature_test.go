package signature_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"

	"promoter/internal/config/trust"
	"promoter/internal/image"
	"promoter/internal/signature"
	"promoter/internal/signature/signaturetest"
)

const (
	digest = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	other  = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func verify(t *testing.T, required []trust.Requirement, material ...signature.Material) image.Signature {
	t.Helper()
	policy, err := signature.New(required)
	if err != nil {
		t.Fatal(err)
	}
	return policy.Verify(digest, material)
}

func simple(payload, signed []byte) signature.Material {
	return signature.Material{
		Format: signature.Simple, Payload: payload,
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(signed)},
	}
}

func newKey(t *testing.T) signaturetest.Key {
	t.Helper()
	key, err := signaturetest.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func signed(t *testing.T, key signaturetest.Key, payload []byte) signature.Material {
	t.Helper()
	by, err := key.Signature(payload)
	if err != nil {
		t.Fatal(err)
	}
	return simple(payload, by)
}

func envelope(t *testing.T, key signaturetest.Key, digest, predicateType string, predicate any) signature.Material {
	t.Helper()
	text, err := key.Envelope(digest, predicateType, predicate)
	if err != nil {
		t.Fatal(err)
	}
	return signature.Material{Format: signature.Envelope, Payload: text}
}

func TestVerify_kindsOfKeys(t *testing.T) {
	t.Parallel()
	payload := signaturetest.Payload(digest)
	sum, sum384 := sha256.Sum256(payload), sha512.Sum384(payload)
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fatal(t, err)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	fatal(t, err)
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	fatal(t, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	fatal(t, err)
	for name, c := range map[string]struct {
		key     crypto.Signer
		message []byte
		options crypto.SignerOpts
	}{
		"ECDSA P-256":              {p256, sum[:], crypto.SHA256},
		"ECDSA P-384 with SHA-256": {p384, sum[:], crypto.SHA256},
		"ECDSA P-384 with SHA-384": {p384, sum384[:], crypto.SHA384},
		"RSA":                      {long, sum[:], crypto.SHA256},
		"RSA PSS":                  {long, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto, Hash: crypto.SHA256}},
		"Ed25519":                  {edwards, payload, crypto.Hash(0)},
	} {
		by, err := c.key.Sign(rand.Reader, c.message, c.options)
		fatal(t, err)
		der, err := x509.MarshalPKIXPublicKey(c.key.Public())
		fatal(t, err)
		required := []trust.Requirement{{Key: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), KeyFile: "key.pub"}}
		if got := verify(t, required, simple(payload, by)); got.By != "key key.pub" {
			t.Errorf("%s: %+v", name, got)
		}
		by[len(by)-1] ^= 1
		if got := verify(t, required, simple(payload, by)); got.By != "" || !got.Wrong {
			t.Errorf("%s with a changed signature: %+v", name, got)
		}
	}
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestVerify_signatures(t *testing.T) {
	t.Parallel()
	ours, theirs := newKey(t), newKey(t)
	byUs := []trust.Requirement{{Key: ours.Public, KeyFile: "ours.pub"}}
	sbom := envelope(t, ours, digest, "https://spdx.dev/Document", map[string]any{})
	const sign = "https://sigstore.dev/cosign/sign/v1"
	moved := signed(t, ours, signaturetest.Payload(digest))
	moved.Payload = signaturetest.Payload(other)
	for name, c := range map[string]struct {
		required []trust.Requirement
		material []signature.Material
		by       string
		problem  string
		wrong    bool
	}{
		"nothing is there": {required: byUs, problem: "unsigned: the registry has no signature of it, which key ours.pub must have made"},
		"our signature":    {required: byUs, material: []signature.Material{signed(t, ours, signaturetest.Payload(digest))}, by: "key ours.pub"},
		"one of two is ours": {
			required: byUs, by: "key ours.pub",
			material: []signature.Material{signed(t, theirs, signaturetest.Payload(digest)), signed(t, ours, signaturetest.Payload(digest))},
		},
		"a statement": {required: byUs, material: []signature.Material{envelope(t, ours, digest, sign, nil)}, by: "key ours.pub"},
		"only others": {
			required: byUs, material: []signature.Material{signed(t, theirs, signaturetest.Payload(digest)), envelope(t, theirs, digest, sign, nil)},
			problem: "wrongly signed: 2 signatures, and none is by key ours.pub: the signature is by another key", wrong: true,
		},
		"a signature of another image": {
			required: byUs, material: []signature.Material{signed(t, ours, signaturetest.Payload(other))},
			problem: "wrongly signed: 1 signature, and none is by key ours.pub: the signature is of " + other, wrong: true,
		},
		"a statement about another image": {
			required: byUs, material: []signature.Material{envelope(t, ours, other, sign, nil)},
			problem: "wrongly signed: 1 signature, and none is by key ours.pub: the statement is about another image", wrong: true,
		},
		"a changed payload": {
			required: byUs, material: []signature.Material{moved},
			problem: "wrongly signed: 1 signature, and none is by key ours.pub: the signature is by another key", wrong: true,
		},
		"something else that we signed": {
			required: byUs, material: []signature.Material{signed(t, ours, []byte(`{"critical": {"type": "atomic", "image": {"docker-manifest-digest": "`+digest+`"}}}`))},
			problem: "wrongly signed: 1 signature, and none is by key ours.pub: what is signed is not the signature of an image", wrong: true,
		},
		"an attestation is no signature": {required: byUs, material: []signature.Material{sbom}, problem: "unsigned: the registry has no signature of it, which key ours.pub must have made"},
		"not even JSON": {
			required: byUs, material: []signature.Material{{Format: signature.Bundle, Payload: []byte("}")}, {Format: signature.Envelope}},
			problem: "unsigned: the registry has no signature of it, which key ours.pub must have made",
		},
		"two signers": {
			required: append([]trust.Requirement{{Key: theirs.Public, KeyFile: "theirs.pub"}}, byUs...), by: "key theirs.pub; key ours.pub",
			material: []signature.Material{signed(t, theirs, signaturetest.Payload(digest)), signed(t, ours, signaturetest.Payload(digest))},
		},
		"one of two signers": {
			required: append([]trust.Requirement{{Key: theirs.Public, KeyFile: "theirs.pub"}}, byUs...), wrong: true,
			material: []signature.Material{signed(t, theirs, signaturetest.Payload(digest))},
			problem:  "wrongly signed: 1 signature, and none is by key ours.pub: the signature is by another key",
		},
		"one of two keys": {
			required: []trust.Requirement{{Key: theirs.Public + ours.Public}}, by: "key SHA256:",
			material: []signature.Material{signed(t, ours, signaturetest.Payload(digest))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := verify(t, c.required, c.material...)
			if (got.By == "") != (c.by == "") || !strings.HasPrefix(got.By, c.by) || got.Problem != c.problem || got.Wrong != c.wrong {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestVerify_provenance(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	type object = map[string]any
	const v02, v1 = "https://slsa.dev/provenance/v0.2", "https://slsa.dev/provenance/v1"
	builder := object{"builder": object{"id": "https://ci.example.com"}}
	required := trust.Requirement{Key: key.Public, KeyFile: "k", Builder: "https://ci.example.com", Source: "github.com/acme/web"}
	git := func(name string) object {
		return object{"uri": "git+https://github.com/acme/" + name + "@refs/heads/main"}
	}
	for name, c := range map[string]struct {
		predicateType string
		predicate     object
		problem       string // in it; empty: it is accepted
	}{
		"0.2": {v02, object{"builder": object{"id": "https://ci.example.com"}, "invocation": object{"configSource": git("web")}}, ""},
		"0.2 of another builder": {
			v02,
			object{"builder": object{"id": "https://evil.example.com"}, "invocation": object{"configSource": git("web")}},
			"the builder is https://evil.example.com, not https://ci.example.com",
		},
		"0.2 of another source": {
			v02,
			object{"builder": object{"id": "https://ci.example.com"}, "invocation": object{"configSource": git("web-evil")}},
			"the source is github.com/acme/web-evil, not github.com/acme/web",
		},
		"1 of GitHub": {v1, object{"runDetails": builder, "buildDefinition": object{
			"externalParameters":   object{"workflow": object{"repository": "https://github.com/acme/web"}},
			"resolvedDependencies": []any{git("evil")},
		}}, ""},
		"1 of GitHub, with our source as a dependency": {v1, object{"runDetails": builder, "buildDefinition": object{
			"externalParameters":   object{"workflow": object{"repository": "https://github.com/evil/web"}},
			"resolvedDependencies": []any{git("web")},
		}}, "the source is github.com/evil/web"},
		"1 with a source": {v1, object{"runDetails": builder, "buildDefinition": object{"externalParameters": object{"source": git("web")}}}, ""},
		"1 with a source as text": {v1, object{"runDetails": builder, "buildDefinition": object{
			"externalParameters": object{"source": "git+https://github.com/acme/web.git#main"},
		}}, ""},
		"1 with a dependency": {v1, object{"runDetails": builder, "buildDefinition": object{"resolvedDependencies": []any{object{"uri": "pkg:x"}, git("web")}}}, ""},
		"1 with two repositories": {
			v1,
			object{"runDetails": builder, "buildDefinition": object{"resolvedDependencies": []any{git("web"), git("lib")}}},
			"the source is not named",
		},
		"1 without a builder": {v1, object{"buildDefinition": object{"resolvedDependencies": []any{git("web")}}}, "the builder is not named"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := verify(t, []trust.Requirement{required}, envelope(t, key, digest, c.predicateType, c.predicate))
			if c.problem == "" && got.By != "key k, provenance of github.com/acme/web by https://ci.example.com" || c.problem != "" && (got.By != "" || !strings.Contains(got.Problem, c.problem)) {
				t.Errorf("%+v", got)
			}
		})
	}
	// A signature is no provenance, and one that others attested counts for nothing.
	if got := verify(t, []trust.Requirement{required}, signed(t, key, signaturetest.Payload(digest))); got.By != "" || !strings.Contains(got.Problem, "no provenance") {
		t.Errorf("a signature instead of a provenance: %+v", got)
	}
	theirs := envelope(t, newKey(t), digest, v02, object{"builder": object{"id": "https://ci.example.com"}, "invocation": object{"configSource": git("web")}})
	if got := verify(t, []trust.Requirement{required}, theirs); got.By != "" || !got.Wrong {
		t.Errorf("a provenance of others: %+v", got)
	}
}

func TestNew_refusesWhatCannotBeEvaluated(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]trust.Requirement{
		"nothing": {}, "no key": {Key: "key"}, "a broken rule": {Key: newKey(t).Public, Broken: "the key is gone"},
	} {
		if _, err := signature.New([]trust.Requirement{v}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
