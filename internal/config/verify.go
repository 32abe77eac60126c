package config

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/strictyaml"
)

// Verify is what signatures must prove about an image. Exactly one of Key and Issuer is
// set.
type Verify struct {
	// Key is one or more public keys in PEM: the image must be signed with one of them.
	Key string
	// KeyFile is the file that Key is read from, see Config.ReadFiles. Empty: Key is in
	// the config file.
	KeyFile string
	// Issuer and one of Identity and IdentityRegexp are in the certificate of a keyless
	// signature.
	Issuer, Identity, IdentityRegexp string
	// TrustedRoot is a trusted_root.json of Sigstore, and TrustedRootFile where it is read
	// from: the certificate authorities and transparency logs of keyless signatures.
	TrustedRoot, TrustedRootFile string
	// Builder and Source are required in an SLSA provenance. Both empty: none is required.
	Builder, Source string
	// Broken is why the requirement cannot be evaluated. No image meets it then.
	Broken string
}

// rawVerify is what signatures must prove about images.
type rawVerify struct {
	strictyaml.Origin
	// Signer of the images, as cosign signs: `key`, or `issuer` with `identity` or `identityRegexp`.
	Cosign *RawCosign `yaml:"cosign"`
	// SLSA provenance that the same signer attested. It replaces the signature of the image itself.
	Provenance *RawProvenance `yaml:"provenance"`
}

// rawComponentVerify is what signatures must prove about the images of a component.
type rawComponentVerify struct {
	strictyaml.Origin
	// Signer of the images, as cosign signs: `key`, or `issuer` with `identity` or `identityRegexp`.
	Cosign *RawCosign `yaml:"cosign"`
	// SLSA provenance that the same signer attested. It replaces the signature of the image itself.
	Provenance *RawProvenance `yaml:"provenance"`
	// Use the component without a signature although `verify` at the top of the file requires one. Default: `false`.
	Skip strictyaml.Located[bool] `yaml:"skip"`
}

// RawCosign is a signer. Set key, or issuer.
type RawCosign struct {
	strictyaml.Origin
	// Public keys in PEM, one of which signed the image; or where they are: the path of a file in the repository, in the server file `file:/PATH` or `env:NAME`.
	Key strictyaml.Located[string] `yaml:"key"`
	// Keyless: the issuer of the signer's identity, such as `https://token.actions.githubusercontent.com`.
	Issuer strictyaml.Located[string] `yaml:"issuer"`
	// Keyless: the identity of the signer, such as `https://github.com/acme/web/.github/workflows/release.yaml@refs/heads/main`.
	Identity strictyaml.Located[string] `yaml:"identity"`
	// Keyless: a regular expression that matches the whole identity.
	IdentityRegexp strictyaml.Located[string] `yaml:"identityRegexp"`
	// Keyless: the `trusted_root.json` of the Sigstore instance: the path of a file in the repository, in the server file `file:/PATH`. Required with `issuer`.
	TrustedRoot strictyaml.Located[string] `yaml:"trustedRoot"`
}

// RawProvenance is what an SLSA provenance must contain.
type RawProvenance struct {
	strictyaml.Origin
	// ID of the builder, such as `https://github.com/actions/runner/github-hosted`.
	Builder strictyaml.Located[string] `yaml:"builder"`
	// Source repository, `HOST/OWNER/NAME`.
	Source strictyaml.Located[string] `yaml:"source"`
}

// Requirement reads a requirement; ok is false after a problem. A key and a trusted root are
// returned as KeyFile and TrustedRootFile, as they are written: whether a text is the key
// itself, or where it is, is for the caller to decide.
func Requirement(report *strictyaml.Report, at strictyaml.Origin, signer *RawCosign, provenance *RawProvenance) (Verify, bool) {
	problems := len(report.Problems().Errors())
	switch {
	case at.Invalid || signer != nil && signer.Invalid || provenance != nil && provenance.Invalid:
		return Verify{}, false
	case signer == nil && at.HasUnknownKey():
		return Verify{}, false
	case signer == nil:
		report.Errorf(at.Position, "add cosign: {key: FILE}", "verify names no signer")
		return Verify{}, false
	}
	v := Verify{
		KeyFile: signer.Key.Value, Issuer: signer.Issuer.Value, Identity: signer.Identity.Value,
		IdentityRegexp: signer.IdentityRegexp.Value, TrustedRootFile: signer.TrustedRoot.Value,
	}
	keyless := strictyaml.Last(signer.Issuer.Origin, signer.Identity.Origin, signer.IdentityRegexp.Origin, signer.TrustedRoot.Origin)
	switch {
	case signer.HasUnknownKey():
	case signer.Key.IsSet() && keyless != Position{}:
		report.Errorf(keyless, "keep the key, or issuer, identity, and trustedRoot", "cosign has both a key and settings of keyless signatures")
	case signer.Key.IsSet():
		if signer.Key.Valid() && v.KeyFile == "" {
			report.Errorf(signer.Key.Position, "write the path of a public key", "cosign.key is empty")
		}
	case v.Issuer == "":
		report.Errorf(signer.Position, "add key: FILE, or issuer: URL", "cosign has neither a key nor an issuer")
	case (v.Identity == "") == (v.IdentityRegexp == ""):
		report.Errorf(signer.Position, "write one of identity and identityRegexp: without it, every user of the issuer may sign", "keyless signatures need an identity")
	case v.TrustedRootFile == "":
		report.Errorf(signer.Position, "add trustedRoot: trusted_root.json, as 'cosign trusted-root create' writes it", "keyless signatures need a trusted root")
	}
	checkRegexp(report, signer.IdentityRegexp, "cosign.identityRegexp")
	if provenance != nil {
		v.Builder, v.Source = provenance.Builder.Value, provenance.Source.Value
		if v.Builder == "" && v.Source == "" && !provenance.HasUnknownKey() {
			report.Errorf(provenance.Position, "write builder, source, or both", "provenance requires nothing")
		}
		if v.Source != "" && !validSource(v.Source) {
			report.Errorf(provenance.Source.Position, "write HOST/OWNER/NAME, as in github.com/acme/web", "%q is not a source repository", v.Source)
		}
	}
	return v, len(report.Problems().Errors()) == problems
}

// loadVerify reads verify at the top of the file, and of each component.
func loadVerify(in *input, c *Config) {
	var all *Verify
	if raw := in.raw.Verify; raw != nil {
		if v, ok := Requirement(in.report, raw.Origin, raw.Cosign, raw.Provenance); ok {
			all = in.inRepository(v, raw.Position)
		}
	}
	for i, e := range in.raw.Components.Entries {
		c.Components[i].Verify = all
		if raw := e.Value.Verify; raw != nil && raw.Valid() && e.Value.Pin.Value == string(image.PinTag) && !raw.Skip.Value {
			in.report.Warnf(e.Value.Pin.Position, "write pin: tag+digest", "a signature is of a digest: what a tag alone points to later is not verified")
		}
		own := e.Value.Verify
		if e.Value.Invalid || own == nil {
			continue
		}
		if own.Skip.Value {
			if c.Components[i].Verify = nil; own.Cosign != nil || own.Provenance != nil {
				in.report.Errorf(own.Skip.Position, "remove it, or the rest of verify", "verify is skipped, but names a signer")
			}
			continue
		}
		if v, ok := Requirement(in.report, own.Origin, own.Cosign, own.Provenance); ok {
			c.Components[i].Verify = in.inRepository(v, own.Position)
		}
	}
}

// inRepository takes a key as it is written, or as the path of a file in the repository.
func (in *input) inRepository(v Verify, at Position) *Verify {
	if IsPEM(v.KeyFile) {
		if err := CheckKeys(v.KeyFile); err != nil {
			in.report.Errorf(at, "write a public key as 'cosign public-key' prints it", "verify: %v", err)
		}
		v.Key, v.KeyFile = v.KeyFile, ""
	}
	for _, file := range []string{v.KeyFile, v.TrustedRootFile} {
		if file != "" && (path.Clean("/"+file) != "/"+file || strings.Contains(file, "\\")) {
			in.report.Errorf(at, "write a path from the root of the repository, as in keys/cosign.pub", "%q is not the path of a file in the repository", file)
		}
	}
	return &v
}

// IsPEM reports whether a text is PEM, and not where it is.
func IsPEM(text string) bool { return strings.Contains(text, "-----BEGIN ") }

// CheckKeys checks public keys in PEM.
func CheckKeys(text string) error {
	_, err := PublicKeys(text)
	return err
}

const minRSA = 2048 // bits

// PublicKeys parses public keys in PEM: at least one, and nothing else.
func PublicKeys(text string) ([]any, error) {
	var keys []any
	rest := []byte(strings.TrimSpace(text))
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "PUBLIC KEY" {
			return nil, errors.New("this is not a public key in PEM")
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, errors.New("the public key cannot be read")
		}
		switch key := key.(type) {
		case *rsa.PublicKey:
			if key.N.BitLen() < minRSA {
				return nil, fmt.Errorf("the RSA key is shorter than %d bits", minRSA)
			}
			keys = append(keys, key)
		case *ecdsa.PublicKey, ed25519.PublicKey:
			keys = append(keys, key)
		default:
			return nil, errors.New("the type of the public key is not supported: use ECDSA, RSA, or Ed25519")
		}
		rest = []byte(strings.TrimSpace(string(rest)))
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no public key")
	}
	return keys, nil
}

// MaxVerifyFile is the largest file that verify may name, in bytes.
const MaxVerifyFile int64 = 256 << 10

// ReadFiles reads the files that verify names, and returns the config with their content.
func (c *Config) ReadFiles(read func(file string, limit int64) ([]byte, error)) (*Config, error) {
	filled := *c
	filled.Components = make([]Component, len(c.Components))
	known := map[Verify]*Verify{}
	for i, component := range c.Components {
		if filled.Components[i] = component; component.Verify == nil {
			continue
		}
		if known[*component.Verify] == nil {
			v, err := component.Verify.readFiles(read)
			if err != nil {
				return nil, err
			}
			known[*component.Verify] = &v
		}
		filled.Components[i].Verify = known[*component.Verify]
	}
	return &filled, nil
}

func (v Verify) readFiles(read func(file string, limit int64) ([]byte, error)) (Verify, error) {
	for _, one := range []struct {
		file string
		into *string
	}{{v.KeyFile, &v.Key}, {v.TrustedRootFile, &v.TrustedRoot}} {
		if one.file == "" {
			continue
		}
		data, err := read(one.file, MaxVerifyFile)
		if fault.KindOf(err) == fault.NotFound {
			return v, fault.New(fault.Invalid, "verify names %s, which is not in the repository", one.file)
		}
		if err != nil {
			return v, fault.Wrap(fault.KindOf(err), fmt.Errorf("read %s: %w", one.file, err))
		}
		if int64(len(data)) > MaxVerifyFile {
			return v, fault.New(fault.Invalid, "verify names %s, which is larger than %d bytes", one.file, MaxVerifyFile)
		}
		*one.into = string(data)
	}
	if v.KeyFile != "" {
		if err := CheckKeys(v.Key); err != nil {
			return v, fault.New(fault.Invalid, "verify names %s: %v", v.KeyFile, err)
		}
	}
	return v, nil
}

// IdentityPattern is the expression that the identity of a keyless signer must match.
func (v Verify) IdentityPattern() string {
	return "^(?:" + cmp.Or(v.IdentityRegexp, regexp.QuoteMeta(v.Identity)) + ")$"
}
