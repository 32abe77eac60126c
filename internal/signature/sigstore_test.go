package signature_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"

	"promoter/internal/config/trust"
	"promoter/internal/signature"
)

// sigstore is an instance of Sigstore with all of its parts: a Fulcio that issues certificates with
// identities, and logs each in a log of certificates; a Rekor; a timestamp authority.
type sigstore struct {
	authority  // Rekor, and the timestamps
	top, below *x509.Certificate
	key, log   *ecdsa.PrivateKey // of Fulcio, and of the log of certificates
	begin      time.Time
}

func newSigstore(t *testing.T) sigstore {
	t.Helper()
	s := sigstore{authority: newAuthority(t), key: newECDSA(t), log: newECDSA(t), begin: time.Now()}
	topKey := newECDSA(t)
	s.top = s.certificate(t, &x509.Certificate{Subject: pkix.Name{CommonName: "root"}, IsCA: true}, nil, topKey, topKey.Public())
	s.below = s.certificate(t, &x509.Certificate{Subject: pkix.Name{CommonName: "fulcio"}, IsCA: true}, s.top, topKey, s.key.Public())
	day := func(sign time.Duration) time.Time { return s.begin.Add(sign * 24 * time.Hour) }
	fulcio := &root.FulcioCertificateAuthority{
		Root: s.top, Intermediates: []*x509.Certificate{s.below}, URI: "https://fulcio.example.com", ValidityPeriodStart: day(-1), ValidityPeriodEnd: day(1),
	}
	rekor := s.RekorLogs()
	for id, log := range rekor {
		log.ID, _ = hex.DecodeString(id)
		log.ValidityPeriodStart, log.ValidityPeriodEnd = day(-1), day(1)
	}
	id := logID(t, s.log)
	trusted, err := root.NewTrustedRoot(root.TrustedRootMediaType01, []root.CertificateAuthority{fulcio}, map[string]*root.TransparencyLog{
		hex.EncodeToString(id[:]): {
			BaseURL: "https://ct.example.com", ID: id[:], PublicKey: s.log.Public(), HashFunc: crypto.SHA256, SignatureHashFunc: crypto.SHA256,
			ValidityPeriodStart: day(-1), ValidityPeriodEnd: day(1),
		},
	}, s.TimestampingAuthorities(), rekor)
	fatal(t, err)
	text, err := trusted.MarshalJSON()
	fatal(t, err)
	s.trustedRoot = string(text)
	return s
}

func newECDSA(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fatal(t, err)
	return key
}

// logID is the hash of the key of a log.
func logID(t *testing.T, key *ecdsa.PrivateKey) [sha256.Size]byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	fatal(t, err)
	return sha256.Sum256(der)
}

// certificate issues a certificate; without a parent, it signs itself.
func (s sigstore) certificate(t *testing.T, template, parent *x509.Certificate, by *ecdsa.PrivateKey, of crypto.PublicKey) *x509.Certificate {
	t.Helper()
	template.SerialNumber = big.NewInt(7)
	if template.IsCA {
		template.NotBefore, template.NotAfter = s.begin.Add(-24*time.Hour), s.begin.Add(24*time.Hour)
		template.KeyUsage, template.BasicConstraintsValid = x509.KeyUsageCertSign, true
	}
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, of, by)
	fatal(t, err)
	made, err := x509.ParseCertificate(der)
	fatal(t, err)
	return made
}

// The extensions of certificates.
// https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md, RFC 6962, section 3.3
var (
	extensionIssuer = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 1}
	extensionSCTs   = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2}
)

// signing is how an image is signed. The zero value, with an identity, is what cosign does.
type signing struct {
	identity, issuer string
	age              time.Duration       // of the certificate, which is valid for 10 minutes
	entered          time.Duration       // before now, the time of the entry in the log
	untimed          bool                // no timestamp authority
	logs             []*ecdsa.PrivateKey // of certificates; nil: that of the instance
	usage            []x509.ExtKeyUsage  // nil: signing of code
	subject          string              // of the statement; empty: the digest
	change           func(p *parts)      // what an attacker does afterwards
}

// sign makes a bundle.
func (s sigstore) sign(t *testing.T, o signing) signature.Material {
	t.Helper()
	p, statement := s.parts(t, o)
	if o.change != nil {
		o.change(&p)
	}
	return p.bundle(t, statement)
}

func (s sigstore) parts(t *testing.T, o signing) (parts, string) {
	t.Helper()
	if o.logs == nil {
		o.logs = []*ecdsa.PrivateKey{s.log}
	}
	if o.subject == "" {
		o.subject = digest
	}
	key := newECDSA(t)
	leaf := s.issue(t, o, key.Public())
	statement := `{"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://sigstore.dev/cosign/sign/v1", "predicate": {}, "subject": [{"name": "any", "digest": {"sha256": "` +
		strings.TrimPrefix(o.subject, "sha256:") + `"}}]}`
	const payloadType = "application/vnd.in-toto+json"
	sum := sha256.Sum256(fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(statement), statement))
	signed, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	fatal(t, err)
	// The envelope that the log is sent: that of another signer of the statement, with this signature.
	entity, err := s.Attest(o.identity, o.issuer, []byte(statement))
	fatal(t, err)
	content, err := entity.SignatureContent()
	fatal(t, err)
	envelope := content.EnvelopeContent().RawEnvelope()
	envelope.Signatures[0].Sig = base64.StdEncoding.EncodeToString(signed)
	entry, err := s.GenerateTlogEntry(leaf, envelope, signed, s.begin.Add(-o.entered).Unix(), true)
	fatal(t, err)
	p := parts{certificate: leaf.Raw, signature: signed, entry: s.promise(t, entry.TransparencyLogEntry())}
	if !o.untimed {
		p.timestamp, err = s.TimestampResponse(signed)
		fatal(t, err)
	}
	return p, statement
}

// issue issues a certificate to an identity, with the promise of each log to include it.
func (s sigstore) issue(t *testing.T, o signing, key crypto.PublicKey) *x509.Certificate {
	t.Helper()
	if o.usage == nil {
		o.usage = []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}
	}
	template := x509.Certificate{
		EmailAddresses: []string{o.identity}, NotBefore: s.begin.Add(-o.age), NotAfter: s.begin.Add(-o.age + 10*time.Minute),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: o.usage,
		ExtraExtensions: []pkix.Extension{{Id: extensionIssuer, Value: []byte(o.issuer)}},
	}
	logged := s.certificate(t, &template, s.below, s.key, key) // what the logs are sent
	var list []byte
	for _, log := range o.logs {
		sct := s.promiseOf(t, log, logged)
		list = append(binary.BigEndian.AppendUint16(list, uint16(len(sct))), sct...) //nolint:gosec // some bytes
	}
	if len(list) == 0 {
		return logged
	}
	value, err := asn1.Marshal(append(binary.BigEndian.AppendUint16(nil, uint16(len(list))), list...)) //nolint:gosec // some bytes
	fatal(t, err)
	template.ExtraExtensions = append(template.ExtraExtensions, pkix.Extension{Id: extensionSCTs, Value: value})
	return s.certificate(t, &template, s.below, s.key, key)
}

// promiseOf is a signed certificate timestamp of a log. RFC 6962, section 3.2.
func (s sigstore) promiseOf(t *testing.T, log *ecdsa.PrivateKey, logged *x509.Certificate) []byte {
	t.Helper()
	at := binary.BigEndian.AppendUint64(nil, uint64(s.begin.UnixMilli())) //nolint:gosec // after 1970
	issuerKey, tbs := sha256.Sum256(s.below.RawSubjectPublicKeyInfo), logged.RawTBSCertificate
	input := append([]byte{0, 0}, at...)                        // version 1, of a certificate
	input = append(append(input, 0, 1), issuerKey[:]...)        // before it has promises
	input = append(input, 0, byte(len(tbs)>>8), byte(len(tbs))) //nolint:gosec // its two lower bytes
	input = append(append(input, tbs...), 0, 0)                 // no extensions
	sum := sha256.Sum256(input)
	signed, err := ecdsa.SignASN1(rand.Reader, log, sum[:])
	fatal(t, err)
	id := logID(t, log)
	sct := append([]byte{0}, id[:]...)
	sct = append(append(sct, at...), 0, 0, 4, 3)                                      // no extensions; ECDSA with SHA-256
	return append(binary.BigEndian.AppendUint16(sct, uint16(len(signed))), signed...) //nolint:gosec // some bytes
}

// A keyless signature counts with all of its proofs, each about this signature: a certificate of the
// authority that its log of certificates knows, for the identity, and valid when the log of signatures
// or the timestamp authority saw the signature.
func TestVerify_keylessOfASigstore(t *testing.T) {
	t.Parallel()
	ours, theirs := newSigstore(t), newSigstore(t)
	released := signing{identity: identity, issuer: issuer}
	with := func(change func(o *signing)) signing {
		o := released
		change(&o)
		return o
	}
	changed := func(change func(p *parts)) signing { return with(func(o *signing) { o.change = change }) }
	another, _ := ours.parts(t, released)
	foreign, _ := theirs.parts(t, released)
	otherImage, _ := ours.parts(t, with(func(o *signing) { o.subject = other }))
	own := ours // an authority of the attacker, whose certificates are in our logs
	own.below, own.key = theirs.below, theirs.key
	for name, c := range map[string]struct {
		by     sigstore
		how    signing
		counts bool
	}{
		"all proofs":                           {ours, released, true},
		"the log proves the time":              {ours, with(func(o *signing) { o.age, o.entered, o.untimed = time.Hour, 55*time.Minute, true }), true},
		"two logs of certificates":             {ours, with(func(o *signing) { o.logs = []*ecdsa.PrivateKey{theirs.log, ours.log} }), true},
		"an unknown root":                      {theirs, released, false},
		"an unknown authority, in our logs":    {own, released, false},
		"no log of certificates":               {ours, with(func(o *signing) { o.logs = []*ecdsa.PrivateKey{} }), false},
		"an unknown log of certificates":       {ours, with(func(o *signing) { o.logs = []*ecdsa.PrivateKey{theirs.log} }), false},
		"expired before it was logged":         {ours, with(func(o *signing) { o.age, o.entered, o.untimed = time.Hour, 0, true }), false},
		"expired, with a timestamp":            {ours, with(func(o *signing) { o.age, o.entered = time.Hour, 0 }), false},
		"logged before it was issued":          {ours, with(func(o *signing) { o.entered, o.untimed = time.Hour, true }), false},
		"not for code":                         {ours, with(func(o *signing) { o.usage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }), false},
		"of another image":                     {ours, with(func(o *signing) { o.subject = other }), false},
		"the entry of another artifact":        {ours, changed(func(p *parts) { p.entry = otherImage.entry }), false},
		"the entry of another signature of it": {ours, changed(func(p *parts) { p.entry = another.entry }), false},
		"the entry of another log":             {ours, changed(func(p *parts) { p.entry = foreign.entry }), false},
		"the signature of another":             {ours, changed(func(p *parts) { p.signature = another.signature }), false},
		"the certificate of another":           {ours, changed(func(p *parts) { p.certificate = another.certificate }), false},
		"the certificate of another root":      {ours, changed(func(p *parts) { p.certificate = foreign.certificate }), false},
		"the timestamp of another, of an expired one": {ours, with(func(o *signing) {
			o.age, o.entered = time.Hour, 0
			o.change = func(p *parts) { p.timestamp = another.timestamp }
		}), false},
		"a later time of the entry":   {ours, changed(func(p *parts) { p.entry.IntegratedTime += 60 }), false},
		"another index of the entry":  {ours, changed(func(p *parts) { p.entry.LogIndex++ }), false},
		"another root of the log":     {ours, changed(func(p *parts) { p.entry.InclusionProof.RootHash = make([]byte, sha256.Size) }), false},
		"another issuer":              {ours, with(func(o *signing) { o.issuer = "https://issuer.example.com.evil.example" }), false},
		"the issuer with a slash":     {ours, with(func(o *signing) { o.issuer = issuer + "/" }), false},
		"the issuer in upper case":    {ours, with(func(o *signing) { o.issuer = strings.ToUpper(issuer) }), false},
		"no issuer":                   {ours, with(func(o *signing) { o.issuer = "" }), false},
		"another subject":             {ours, with(func(o *signing) { o.identity = "evil@acme.example.com" }), false},
		"the subject in upper case":   {ours, with(func(o *signing) { o.identity = strings.ToUpper(identity) }), false},
		"the subject and more":        {ours, with(func(o *signing) { o.identity = identity + ".evil.example" }), false},
		"more and the subject":        {ours, with(func(o *signing) { o.identity = "evil-" + identity }), false},
		"the subject after a line":    {ours, with(func(o *signing) { o.identity = "evil@evil.example\n" + identity }), false},
		"the subject before a line":   {ours, with(func(o *signing) { o.identity = identity + "\n" }), false},
		"a dot that is any character": {ours, with(func(o *signing) { o.identity = strings.ReplaceAll(identity, ".", "x") }), false},
		"no subject":                  {ours, with(func(o *signing) { o.identity = "" }), false},
	} {
		material := c.by.sign(t, c.how)
		for form, required := range map[string]trust.Requirement{
			"by its name":  {Issuer: issuer, Identity: identity, TrustedRoot: ours.trustedRoot},
			"by a pattern": {Issuer: issuer, IdentityRegexp: `release@acme\.example\.com|ci@acme\.example\.com`, TrustedRoot: ours.trustedRoot},
			// Flags of a pattern end with it: it must match all of the identity nevertheless.
			"by a pattern of lines": {Issuer: issuer, IdentityRegexp: `(?m)^release@acme\.example\.com$`, TrustedRoot: ours.trustedRoot},
		} {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				got := verify(t, []trust.Requirement{required}, material)
				if (got.By != "") != c.counts || got.Wrong == c.counts {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}
