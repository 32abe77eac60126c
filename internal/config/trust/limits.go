package trust

import (
	"cmp"
	"strings"
	"time"

	"promoter/internal/image"
	"promoter/internal/strictyaml"
)

// FollowedImage in SignedAs is the image repository that a component follows.
const FollowedImage = "{image}"

const signedAsHint = `write "{image}" for the image of the component, or HOST/PATH without a tag; * is one segment, ** many`

// Limits are which signatures of the right signer count. The zero Limits accept all.
//
// A signature is of a digest only. Without limits, an image that was signed for another
// repository, or long ago, still passes when it is pushed under a newer tag.
type Limits struct {
	// SignedAs are the image repositories that a signature may name: repositories, patterns, and
	// FollowedImage, separated by spaces. Empty: any, or none.
	SignedAs string
	// SignedAfter is the earliest time of signing, by a transparency log or a timestamp
	// authority. Zero: any.
	SignedAfter time.Time
	// MinVersion is the lowest signed version. Empty: any, or none.
	MinVersion string
}

// RawLimits are Limits as they are written.
type RawLimits struct {
	SignedAs                strictyaml.List
	SignedAfter, MinVersion strictyaml.Located[string]
}

// parseLimits reads limits. A signature with a key has no time that can be trusted.
func parseLimits(report *strictyaml.Report, raw RawLimits, keyless bool) Limits {
	var names []string
	for _, one := range raw.SignedAs.Items {
		if !one.Valid() {
			continue
		}
		if _, err := image.ParsePattern(one.Value); err != nil && one.Value != FollowedImage {
			report.Errorf(one.Position, signedAsHint, "%v", err)
			continue
		}
		names = append(names, one.Value)
	}
	report.ErrorIf(raw.SignedAs.IsEmpty(), raw.SignedAs.Position, `write ["{image}"], or remove it`,
		"signedAs is an empty list, so no signature counts")
	limits := Limits{SignedAs: strings.Join(names, " "), MinVersion: raw.MinVersion.Value}
	if _, ok := image.CompareVersions(limits.MinVersion, limits.MinVersion); raw.MinVersion.Valid() && !ok {
		report.Errorf(raw.MinVersion.Position, "write a version, as in 1.4.0", "minVersion %q is not a semantic version", limits.MinVersion)
	}
	if !raw.SignedAfter.Valid() {
		return limits
	}
	at, err := time.Parse(time.RFC3339, raw.SignedAfter.Value)
	if err != nil {
		at, err = time.Parse(time.DateOnly, raw.SignedAfter.Value)
	}
	report.ErrorIf(err != nil, raw.SignedAfter.Position, "write 2026-01-31 or 2026-01-31T12:00:00Z", "signedAfter %q is not a time",
		raw.SignedAfter.Value)
	if !keyless {
		const problem = "signedAfter needs keyless signatures: one with a key has no time that can be trusted"
		report.Errorf(raw.SignedAfter.Position, "use minVersion, or issuer, identity, and trustedRoot", problem)
	}
	limits.SignedAfter = at.UTC()
	return limits
}

// Limited returns the requirement with limits of its own, which replace those that are set. ok is
// false after a problem.
func (v Requirement) Limited(report *strictyaml.Report, raw RawLimits) (_ Requirement, ok bool) {
	problems := len(report.Problems().Errors())
	limits := parseLimits(report, raw, v.Issuer != "")
	v.SignedAs = cmp.Or(limits.SignedAs, v.SignedAs)
	v.MinVersion = cmp.Or(limits.MinVersion, v.MinVersion)
	if !limits.SignedAfter.IsZero() {
		v.SignedAfter = limits.SignedAfter
	}
	return v, len(report.Problems().Errors()) == problems
}

// For returns the requirement for an image repository that a component follows.
func (v Requirement) For(followed image.Repository) Requirement {
	v.SignedAs = strings.ReplaceAll(v.SignedAs, FollowedImage, followed.String())
	return v
}
