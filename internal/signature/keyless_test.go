package signature_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protodsse "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"

	"promoter/internal/config/trust"
	"promoter/internal/signature"
	"promoter/internal/signature/signaturetest"
)

const (
	issuer   = "https://issuer.example.com"
	identity = "release@acme.example.com"
)

// authority is a Sigstore instance of the test, without a network.
type authority struct {
	*ca.VirtualSigstore
	trustedRoot string
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	made, err := ca.NewVirtualSigstore()
	fatal(t, err)
	logs := made.RekorLogs()
	for id, log := range logs { // the library of the tests has the text of the ID here
		log.ID, err = hex.DecodeString(id)
		fatal(t, err)
	}
	trusted, err := root.NewTrustedRoot(root.TrustedRootMediaType01, made.FulcioCertificateAuthorities(), nil, made.TimestampingAuthorities(), logs)
	fatal(t, err)
	text, err := trusted.MarshalJSON()
	fatal(t, err)
	return authority{made, string(text)}
}

// parts are what an identity signed.
type parts struct {
	certificate []byte // DER
	signature   []byte
	entry       *protorekor.TransparencyLogEntry
	timestamp   []byte
}

func (a authority) partsOf(t *testing.T, entity *ca.TestEntity) parts {
	t.Helper()
	verification, err := entity.VerificationContent()
	fatal(t, err)
	content, err := entity.SignatureContent()
	fatal(t, err)
	entries, err := entity.TlogEntries()
	fatal(t, err)
	timestamps, err := entity.Timestamps()
	fatal(t, err)
	return parts{verification.Certificate().Raw, content.Signature(), a.promise(t, entries[0].TransparencyLogEntry()), timestamps[0]}
}

// promise adds to an entry what the log promised, as cosign records it.
func (a authority) promise(t *testing.T, entry *protorekor.TransparencyLogEntry) *protorekor.TransparencyLogEntry {
	t.Helper()
	var body struct{ Kind, APIVersion string }
	fatal(t, json.Unmarshal(entry.GetCanonicalizedBody(), &body))
	entry.KindVersion = &protorekor.KindVersion{Kind: body.Kind, Version: body.APIVersion}
	promise, err := a.RekorSignPayload(tlog.RekorPayload{
		Body: base64.StdEncoding.EncodeToString(entry.GetCanonicalizedBody()), IntegratedTime: entry.GetIntegratedTime(),
		LogIndex: entry.GetLogIndex(), LogID: hex.EncodeToString(entry.GetLogId().GetKeyId()),
	})
	fatal(t, err)
	entry.InclusionPromise = &protorekor.InclusionPromise{SignedEntryTimestamp: promise}
	return entry
}

// simple is a signature as cosign writes it under a tag.
func (a authority) simple(t *testing.T, identity, issuer, digest string) signature.Material {
	t.Helper()
	payload := signaturetest.Payload(digest)
	entity, err := a.Sign(identity, issuer, payload)
	fatal(t, err)
	p := a.partsOf(t, entity)
	log, err := json.Marshal(map[string]any{
		"SignedEntryTimestamp": p.entry.GetInclusionPromise().GetSignedEntryTimestamp(),
		"Payload": map[string]any{
			"body": p.entry.GetCanonicalizedBody(), "integratedTime": p.entry.GetIntegratedTime(),
			"logIndex": p.entry.GetLogIndex(), "logID": hex.EncodeToString(p.entry.GetLogId().GetKeyId()),
		},
	})
	fatal(t, err)
	return signature.Material{Format: signature.Simple, Payload: payload, Annotations: map[string]string{
		"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(p.signature),
		"dev.sigstore.cosign/certificate":    string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.certificate})),
		"dev.sigstore.cosign/bundle":         string(log),
	}}
}

// bundle is a signed statement with everything that verifies it.
func (a authority) bundle(t *testing.T, identity, issuer, digest, predicateType, predicate string) signature.Material {
	t.Helper()
	return a.bundleOf(t, identity, issuer, predicateType, predicate, `{"name": "any", "digest": {"sha256": "`+strings.TrimPrefix(digest, "sha256:")+`"}}`)
}

// bundleOf is a bundle with subjects in JSON.
func (a authority) bundleOf(t *testing.T, identity, issuer, predicateType, predicate, subjects string) signature.Material {
	t.Helper()
	statement := `{"_type": "https://in-toto.io/Statement/v1", "predicateType": "` + predicateType + `", "predicate": ` + predicate +
		`, "subject": [` + subjects + `]}`
	entity, err := a.AttestAtTime(identity, issuer, []byte(statement), time.Now().Add(5*time.Minute), true)
	fatal(t, err)
	return a.partsOf(t, entity).bundle(t, statement)
}

// bundle is a signed statement with what proves when it was signed.
func (p parts) bundle(t *testing.T, statement string) signature.Material {
	t.Helper()
	mediaType, err := bundle.MediaTypeString("0.3")
	fatal(t, err)
	timestamps := []*protocommon.RFC3161SignedTimestamp{}
	if p.timestamp != nil {
		timestamps = append(timestamps, &protocommon.RFC3161SignedTimestamp{SignedTimestamp: p.timestamp})
	}
	made, err := bundle.NewBundle(&protobundle.Bundle{
		MediaType: mediaType,
		VerificationMaterial: &protobundle.VerificationMaterial{
			Content:                   &protobundle.VerificationMaterial_Certificate{Certificate: &protocommon.X509Certificate{RawBytes: p.certificate}},
			TlogEntries:               []*protorekor.TransparencyLogEntry{p.entry},
			TimestampVerificationData: &protobundle.TimestampVerificationData{Rfc3161Timestamps: timestamps},
		},
		Content: &protobundle.Bundle_DsseEnvelope{DsseEnvelope: &protodsse.Envelope{
			PayloadType: "application/vnd.in-toto+json", Payload: []byte(statement), Signatures: []*protodsse.Signature{{Sig: p.signature}},
		}},
	})
	fatal(t, err)
	text, err := made.MarshalJSON()
	fatal(t, err)
	return signature.Material{Format: signature.Bundle, Payload: text}
}

func TestVerify_keyless(t *testing.T) {
	t.Parallel()
	ours, theirs := newAuthority(t), newAuthority(t)
	const sign = "https://sigstore.dev/cosign/sign/v1"
	required := trust.Requirement{Issuer: issuer, Identity: identity, TrustedRoot: ours.trustedRoot}
	pattern := trust.Requirement{Issuer: issuer, IdentityRegexp: `[a-z]+@acme\.example\.com`, TrustedRoot: ours.trustedRoot}
	provenance := required
	provenance.Source = "github.com/acme/web"
	without := func(m signature.Material, annotation string) signature.Material {
		delete(m.Annotations, annotation)
		return m
	}
	for name, c := range map[string]struct {
		required trust.Requirement
		material signature.Material
		by       string
		problem  string // in it
	}{
		"a signature":  {required, ours.simple(t, identity, issuer, digest), identity + " via " + issuer, ""},
		"a bundle":     {required, ours.bundle(t, identity, issuer, digest, sign, "{}"), identity + " via " + issuer, ""},
		"by a pattern": {pattern, ours.simple(t, "ci@acme.example.com", issuer, digest), "ci@acme.example.com via " + issuer, ""},
		"a provenance": {
			provenance,
			ours.bundle(t, identity, issuer, digest, "https://slsa.dev/provenance/v1", `{"buildDefinition": {"resolvedDependencies": [{"uri": "git+https://github.com/acme/web"}]}}`),
			identity + " via " + issuer + ", provenance of github.com/acme/web", "",
		},
		"another identity":              {required, ours.simple(t, "evil@acme.example.com", issuer, digest), "", "none is by " + identity + " via " + issuer},
		"an identity that only ends":    {pattern, ours.simple(t, "evil@acme.example.com.evil.example", issuer, digest), "", "wrongly signed"},
		"another issuer":                {required, ours.simple(t, identity, "https://evil.example.com", digest), "", "wrongly signed"},
		"another authority":             {required, theirs.simple(t, identity, issuer, digest), "", "wrongly signed"},
		"a bundle of another authority": {required, theirs.bundle(t, identity, issuer, digest, sign, "{}"), "", "wrongly signed"},
		"of another image":              {required, ours.simple(t, identity, issuer, other), "", "the signature is of " + other},
		"a bundle of another image":     {required, ours.bundle(t, identity, issuer, other, sign, "{}"), "", "wrongly signed"},
		"without the log":               {required, without(ours.simple(t, identity, issuer, digest), "dev.sigstore.cosign/bundle"), "", "wrongly signed"},
		"without the certificate":       {required, without(ours.simple(t, identity, issuer, digest), "dev.sigstore.cosign/certificate"), "", "has no certificate"},
		"with a key":                    {required, signed(t, newKey(t), signaturetest.Payload(digest)), "", "has no certificate"},
		"something else, signed":        {required, ours.bundle(t, identity, issuer, digest, "https://spdx.dev/Document", "{}"), "", "unsigned"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := verify(t, []trust.Requirement{c.required}, c.material)
			if got.By != c.by || !strings.Contains(got.Problem, c.problem) || (got.By == "") != (c.problem != "") {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestNew_refusesABrokenTrustedRoot(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}", "no JSON"} {
		if _, err := signature.New([]trust.Requirement{{Issuer: issuer, Identity: identity, TrustedRoot: text}}); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}
