package serverconfig

import (
	"promoter/internal/config"
	"promoter/internal/config/trust"
	"promoter/internal/image"
	"promoter/internal/strictyaml"
)

// Verify is what signatures must prove about images, whatever the config files require.
type Verify struct {
	config.Position
	Images       []image.Pattern   // nil: all
	Repositories []string          // patterns of GitOps repositories; nil: all
	Requirement  trust.Requirement // without what the references name
	Key          Reference         // zero: in Requirement, or keyless
	TrustedRoot  Reference         // zero: not keyless
}

// rawVerify is what signatures must prove about images.
type rawVerify struct {
	strictyaml.Origin
	// Images that the entry applies to, `HOST/PATH` or a glob. Default: all.
	Images strictyaml.List `yaml:"images"`
	// Globs of GitOps repositories, `HOST/OWNER/NAME`, that the entry applies to. Default: all.
	Repositories strictyaml.List `yaml:"repositories"`
	// Signer of the images, as cosign signs: `key`, or `issuer` with `identity` or `identityRegexp`.
	Cosign *trust.RawCosign `yaml:"cosign" required:"true"`
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
}

func loadVerify(in *input) []Verify {
	var all []Verify
	for _, raw := range in.raw.Verify {
		if raw.Invalid {
			continue
		}
		v := Verify{Position: raw.Position}
		for _, text := range raw.Images.Items {
			if !text.Valid() {
				continue
			}
			pattern, err := image.ParsePattern(text.Value)
			if err != nil {
				in.report.Errorf(text.Position, "write HOST/PATH without a tag; * is one segment, ** many", "%v", err)
				continue
			}
			v.Images = append(v.Images, pattern)
		}
		in.report.ErrorIf(raw.Images.IsEmpty(), raw.Images.Position, "remove it for all images",
			"images is an empty list, so the entry has no effect")
		in.report.ErrorIf(raw.Repositories.IsEmpty(), raw.Repositories.Position, "remove it for all repositories",
			"repositories is an empty list, so the entry has no effect")
		if raw.Repositories.IsSet() {
			v.Repositories = raw.Repositories.Strings()
			checkRepositoryPatterns(in.report, raw.Repositories, "repositories")
		}
		required, ok := trust.Parse(in.report, raw.Origin, raw.Cosign, raw.Provenance,
			trust.RawLimits{SignedAs: raw.SignedAs, SignedAfter: raw.SignedAfter, MinVersion: raw.MinVersion})
		if !ok {
			continue
		}
		if trust.IsPEM(required.KeyFile) {
			if _, err := trust.PublicKeys(required.KeyFile); err != nil {
				in.report.Errorf(raw.Cosign.Key.Position, "write a public key as 'cosign public-key' prints it", "%v", err)
			}
			required.Key = required.KeyFile
		} else {
			v.Key = in.publicReference(raw.Cosign.Key, "write file:/PATH or env:NAME, or the public key in PEM")
		}
		v.TrustedRoot = in.publicReference(raw.Cosign.TrustedRoot, "write file:/PATH")
		required.KeyFile, required.TrustedRootFile = "", ""
		v.Requirement = required
		all = append(all, v)
	}
	return all
}

// publicReference reads where something is that is no secret.
func (in *input) publicReference(raw strictyaml.Located[string], advice string) Reference {
	if !raw.Valid() {
		return Reference{}
	}
	reference, err := ParseReference(raw.Value)
	if err != nil {
		in.report.Errorf(raw.Position, advice, "%q is not a reference", raw.Value)
	}
	return reference
}
