package config

import (
	"path"
	"strings"

	"promoter/internal/config/trust"
	"promoter/internal/image"
	"promoter/internal/strictyaml"
)

// rawVerify is what signatures must prove about images.
type rawVerify struct {
	strictyaml.Origin
	// Signer of the images, as cosign signs: `key`, or `issuer` with `identity` or `identityRegexp`.
	Cosign *trust.RawCosign `yaml:"cosign"`
	// SLSA provenance that the same signer attested. It replaces the signature of the image itself.
	Provenance *trust.RawProvenance `yaml:"provenance"`
	// Image repositories that the signature may name: `HOST/PATH`, a glob, or `"{image}"` for the image that is
	// followed. Default: any, or none. See docs/guides/signatures.md#bind-a-signature-to-its-repository-and-version.
	SignedAs strictyaml.List `yaml:"signedAs"`
	// Keyless: earliest time of signing, by a transparency log or a timestamp authority: `2026-01-31` or
	// `2026-01-31T12:00:00Z`. Default: any.
	SignedAfter strictyaml.Located[string] `yaml:"signedAfter"`
}

// rawComponentVerify is what signatures must prove about the images of a component. It replaces `verify` at the top of the
// file. Without `cosign` and `provenance`, it adds to it.
type rawComponentVerify struct {
	strictyaml.Origin
	// Signer of the images, as cosign signs: `key`, or `issuer` with `identity` or `identityRegexp`.
	Cosign *trust.RawCosign `yaml:"cosign"`
	// SLSA provenance that the same signer attested. It replaces the signature of the image itself.
	Provenance *trust.RawProvenance `yaml:"provenance"`
	// Image repositories that the signature may name: `HOST/PATH`, a glob, or `"{image}"` for the image that is
	// followed. Default: any, or none. See docs/guides/signatures.md#bind-a-signature-to-its-repository-and-version.
	SignedAs strictyaml.List `yaml:"signedAs"`
	// Keyless: earliest time of signing, by a transparency log or a timestamp authority: `2026-01-31` or
	// `2026-01-31T12:00:00Z`. Default: any.
	SignedAfter strictyaml.Located[string] `yaml:"signedAfter"`
	// Lowest version that is signed, as with `cosign sign -a version=1.4.0`. Default: any, or none.
	MinVersion strictyaml.Located[string] `yaml:"minVersion"`
	// Use the component without a signature although `verify` at the top of the file requires one. Default: `false`.
	Skip strictyaml.Located[bool] `yaml:"skip"`
}

func (raw *rawVerify) limits() trust.RawLimits {
	return trust.RawLimits{SignedAs: raw.SignedAs, SignedAfter: raw.SignedAfter}
}

func (raw *rawComponentVerify) limits() trust.RawLimits {
	return trust.RawLimits{SignedAs: raw.SignedAs, SignedAfter: raw.SignedAfter, MinVersion: raw.MinVersion}
}

// requiresSomething reports whether a key other than skip is set.
func (raw *rawComponentVerify) requiresSomething() bool {
	return raw.Cosign != nil || raw.Provenance != nil || raw.SignedAs.IsSet() || raw.SignedAfter.IsSet() || raw.MinVersion.IsSet()
}

// loadVerify reads verify at the top of the file, and of each component.
func loadVerify(in *input, c *Config) {
	var all *trust.Requirement
	if raw := in.raw.Verify; raw != nil {
		if v, ok := trust.Parse(in.report, raw.Origin, raw.Cosign, raw.Provenance, raw.limits()); ok {
			all = in.inRepository(v, raw.Position)
		}
	}
	for i, e := range in.raw.Components.Entries {
		c.Components[i].Verify = all
		if raw := e.Value.Verify; raw != nil && raw.Valid() && e.Value.Pin.Value == string(image.PinTag) && !raw.Skip.Value {
			in.report.Warnf(e.Value.Pin.Position, "write pin: tag+digest",
				"a signature is of a digest: what a tag alone points to later is not verified")
		}
		own := e.Value.Verify
		if e.Value.Invalid || own == nil {
			continue
		}
		if own.Skip.Value {
			if c.Components[i].Verify = nil; own.requiresSomething() {
				in.report.Errorf(own.Skip.Position, "remove it, or the rest of verify", "verify is skipped, but names a signer or a limit")
			}
			continue
		}
		if in.raw.Verify != nil && own.Cosign == nil && own.Provenance == nil && own.requiresSomething() {
			c.Components[i].Verify = in.limited(all, own)
			continue
		}
		if v, ok := trust.Parse(in.report, own.Origin, own.Cosign, own.Provenance, own.limits()); ok {
			c.Components[i].Verify = in.inRepository(v, own.Position)
		}
	}
}

// limited returns the requirement at the top of the file with the limits of a component; nil: one
// of them has a problem.
func (in *input) limited(all *trust.Requirement, own *rawComponentVerify) *trust.Requirement {
	if all == nil || own.Invalid {
		return nil
	}
	v, ok := all.Limited(in.report, own.limits())
	if !ok {
		return nil
	}
	return &v
}

// inRepository takes a key as it is written, or as the path of a file in the repository.
func (in *input) inRepository(v trust.Requirement, at Position) *trust.Requirement {
	if trust.IsPEM(v.KeyFile) {
		if err := trust.CheckKeys(v.KeyFile); err != nil {
			in.report.Errorf(at, "write a public key as 'cosign public-key' prints it", "verify: %v", err)
		}
		v.Key, v.KeyFile = v.KeyFile, ""
	}
	for _, file := range []string{v.KeyFile, v.TrustedRootFile} {
		if file != "" && (path.Clean("/"+file) != "/"+file || strings.Contains(file, "\\")) {
			in.report.Errorf(at, "write a path from the root of the repository, as in keys/cosign.pub",
				"%q is not the path of a file in the repository", file)
		}
	}
	return &v
}

// ReadFiles reads the files that verify names, and returns the config with their content.
func (c *Config) ReadFiles(read func(file string, limit int64) ([]byte, error)) (*Config, error) {
	filled := *c
	filled.Components = make([]Component, len(c.Components))
	known := map[trust.Requirement]*trust.Requirement{}
	for i, component := range c.Components {
		if filled.Components[i] = component; component.Verify == nil {
			continue
		}
		if known[*component.Verify] == nil {
			v, err := component.Verify.ReadFiles(read)
			if err != nil {
				return nil, err
			}
			known[*component.Verify] = &v
		}
		filled.Components[i].Verify = known[*component.Verify]
	}
	return &filled, nil
}
