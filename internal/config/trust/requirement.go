// Package trust has what the config files require of the signatures of images, and the public
// keys that they name.
package trust

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/strictyaml"
)

// Requirement is what signatures must prove about an image. Exactly one of Key and Issuer is
// set.
type Requirement struct {
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
	// Limits are which of the signatures count.
	Limits
	// Broken is why the requirement cannot be evaluated. No image meets it then.
	Broken string
}

// RawCosign is a signer. Set key, or issuer.
type RawCosign struct {
	strictyaml.Origin
	// Public keys in PEM, one of which signed the image; or where they are: the path of a file in the repository,
	// in the server file `file:/PATH` or `env:NAME`.
	Key strictyaml.Located[string] `yaml:"key"`
	// Keyless: the issuer of the signer's identity, such as `https://token.actions.githubusercontent.com`.
	Issuer strictyaml.Located[string] `yaml:"issuer"`
	// Keyless: the identity of the signer, such as `https://github.com/acme/web/.github/workflows/release.yaml@refs/heads/main`.
	Identity strictyaml.Located[string] `yaml:"identity"`
	// Keyless: a regular expression that matches the whole identity.
	IdentityRegexp strictyaml.Located[string] `yaml:"identityRegexp"`
	// Keyless: the `trusted_root.json` of the Sigstore instance: the path of a file in the repository, in the
	// server file `file:/PATH`. Required with `issuer`.
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

// Parse reads a requirement; ok is false after a problem. A key and a trusted root are
// returned as KeyFile and TrustedRootFile, as they are written: whether a text is the key
// itself, or where it is, is for the caller to decide.
func Parse(
	report *strictyaml.Report, at strictyaml.Origin, signer *RawCosign, provenance *RawProvenance, limits RawLimits,
) (Requirement, bool) {
	problems := len(report.Problems().Errors())
	switch {
	case at.Invalid || signer != nil && signer.Invalid || provenance != nil && provenance.Invalid:
		return Requirement{}, false
	case signer == nil && at.HasUnknownKey():
		return Requirement{}, false
	case signer == nil:
		report.Errorf(at.Position, "add cosign: {key: FILE}", "verify names no signer")
		return Requirement{}, false
	}
	v := Requirement{
		KeyFile: signer.Key.Value, Issuer: signer.Issuer.Value, Identity: signer.Identity.Value,
		IdentityRegexp: signer.IdentityRegexp.Value, TrustedRootFile: signer.TrustedRoot.Value,
	}
	keyless := strictyaml.Last(signer.Issuer.Origin, signer.Identity.Origin, signer.IdentityRegexp.Origin, signer.TrustedRoot.Origin)
	switch {
	case signer.HasUnknownKey():
	case signer.Key.IsSet() && keyless != strictyaml.Position{}:
		report.Errorf(keyless, "keep the key, or issuer, identity, and trustedRoot",
			"cosign has both a key and settings of keyless signatures")
	case signer.Key.IsSet():
		report.ErrorIf(signer.Key.Valid() && v.KeyFile == "", signer.Key.Position, "write the path of a public key", "cosign.key is empty")
	case v.Issuer == "":
		report.Errorf(signer.Position, "add key: FILE, or issuer: URL", "cosign has neither a key nor an issuer")
	case (v.Identity == "") == (v.IdentityRegexp == ""):
		report.Errorf(signer.Position, "write one of identity and identityRegexp: without it, every user of the issuer may sign",
			"keyless signatures need an identity")
	case v.TrustedRootFile == "":
		report.Errorf(signer.Position, "add trustedRoot: trusted_root.json, as 'cosign trusted-root create' writes it",
			"keyless signatures need a trusted root")
	}
	report.Regexp(signer.IdentityRegexp, "cosign.identityRegexp")
	if provenance != nil {
		v.Builder, v.Source = provenance.Builder.Value, provenance.Source.Value
		report.ErrorIf(v.Builder == "" && v.Source == "" && !provenance.HasUnknownKey(), provenance.Position,
			"write builder, source, or both", "provenance requires nothing")
		report.ErrorIf(v.Source != "" && !ValidSource(v.Source), provenance.Source.Position,
			"write HOST/OWNER/NAME, as in github.com/acme/web", "%q is not a source repository", v.Source)
	}
	v.Limits = parseLimits(report, limits, !signer.Key.IsSet())
	return v, len(report.Problems().Errors()) == problems
}

// MaxFile is the largest file that verify may name, in bytes.
const MaxFile int64 = 256 << 10

// ReadFiles returns the requirement with the content of the files that it names.
func (v Requirement) ReadFiles(read func(file string, limit int64) ([]byte, error)) (Requirement, error) {
	for _, one := range []struct {
		file string
		into *string
	}{{v.KeyFile, &v.Key}, {v.TrustedRootFile, &v.TrustedRoot}} {
		if one.file == "" {
			continue
		}
		data, err := read(one.file, MaxFile)
		if fault.KindOf(err) == fault.NotFound {
			return v, fault.New(fault.Invalid, "verify names %s, which is not in the repository", one.file)
		}
		if err != nil {
			return v, fault.Wrap(fault.KindOf(err), fmt.Errorf("read %s: %w", one.file, err))
		}
		if int64(len(data)) > MaxFile {
			return v, fault.New(fault.Invalid, "verify names %s, which is larger than %d bytes", one.file, MaxFile)
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
func (v Requirement) IdentityPattern() string {
	return "^(?:" + cmp.Or(v.IdentityRegexp, regexp.QuoteMeta(v.Identity)) + ")$"
}

// ValidSource reports whether s is HOST/OWNER/NAME. The host may have a port, and an
// owner may have several segments.
func ValidSource(s string) bool {
	segments := strings.Split(s, "/")
	host, port, _ := strings.Cut(segments[0], ":")
	if segments[0] = host; strings.Trim(port, "0123456789") != "" {
		return false
	}
	return len(segments) >= 3 && !slices.ContainsFunc(segments, func(segment string) bool {
		return segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, " \t*:@?#\\")
	})
}
