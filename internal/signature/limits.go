package signature

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/config/trust"
	"promoter/internal/image"
)

// claim is what a signer signed about an image besides its digest.
type claim struct {
	reference string // with or without a tag; empty: none
	version   string // empty: none
}

// Annotations that a signer may add, as with cosign sign -a NAME=VALUE. cosign names no image in a
// bundle, so the first one has the name that simple signing has for it.
const (
	annotationReference = "docker-reference"
	annotationVersion   = "version"
)

// signedNames are the patterns of SignedAs. They were validated with the config file; FollowedImage
// that stands for no repository matches none.
func signedNames(v trust.Requirement) (names []image.Pattern) {
	for _, text := range strings.Fields(v.SignedAs) {
		if pattern, err := image.ParsePattern(text); err == nil {
			names = append(names, pattern)
		}
	}
	return names
}

// counts returns why a signature of the right signer does not count; nil: it does. One of the
// claims about the digest must meet all limits.
func (r requirement) counts(digest string, m Material, proven proof) error {
	if r.Limits == (trust.Limits{}) {
		return nil
	}
	switch {
	case !r.SignedAfter.IsZero() && proven.at.IsZero():
		return fmt.Errorf("has no time of signing that can be trusted, which signedAfter %s requires", timeText(r.SignedAfter))
	case proven.at.Before(r.SignedAfter):
		return fmt.Errorf("was made at %s, before signedAfter %s", timeText(proven.at), timeText(r.SignedAfter))
	}
	err := errors.New("names no image")
	for _, c := range claims(digest, m, proven.signed) {
		if err = r.allows(c); err == nil {
			return nil
		}
	}
	return err
}

func (r requirement) allows(c claim) error {
	if err := r.named(c); err != nil {
		return err
	}
	return r.versioned(c)
}

// named returns why the signed reference is not in SignedAs.
func (r requirement) named(c claim) error {
	if r.SignedAs == "" {
		return nil
	}
	if c.reference == "" {
		return errors.New("names no image, which signedAs requires: sign with -a docker-reference=IMAGE")
	}
	signed, err := image.Parse(c.reference)
	if err != nil || !slices.ContainsFunc(r.names, func(p image.Pattern) bool { return p.Match(signed.Repository) }) {
		return fmt.Errorf("is for %s, not for %s", printable(c.reference), strings.ReplaceAll(r.SignedAs, " ", " or "))
	}
	return nil
}

// versioned returns why the signed version is not at least MinVersion.
func (r requirement) versioned(c claim) error {
	if r.MinVersion == "" {
		return nil
	}
	if c.version == "" {
		return fmt.Errorf("has no version, which minVersion %s requires: sign with -a version=VERSION", r.MinVersion)
	}
	order, ok := image.CompareVersions(c.version, r.MinVersion)
	switch {
	case !ok:
		return fmt.Errorf("has the version %s, which minVersion %s cannot be compared with", printable(c.version), r.MinVersion)
	case order < 0:
		return fmt.Errorf("has the version %s, which is older than minVersion %s", printable(c.version), r.MinVersion)
	}
	return nil
}

// claims returns what was signed about a digest: one claim of a payload, and one of each subject of
// a statement. The version is an annotation, or else the tag of the signed reference.
func claims(digest string, m Material, signed []byte) (all []claim) {
	add := func(reference string, annotations map[string]any) {
		text := func(name string) string {
			value, _ := annotations[name].(string)
			return value
		}
		c := claim{reference: cmp.Or(reference, text(annotationReference)), version: text(annotationVersion)}
		if parsed, err := image.Parse(c.reference); err == nil {
			c.version = cmp.Or(c.version, parsed.Tag)
		}
		all = append(all, c)
	}
	if m.Format == Simple {
		var p payload
		if err := json.Unmarshal(signed, &p); err == nil {
			add(p.Critical.Identity.Reference, p.Optional)
		}
		return all
	}
	s, err := parseStatement(signed)
	if err != nil {
		return nil
	}
	for _, one := range s.Subject {
		if one.is(digest) {
			add(one.Name, one.Annotations)
		}
	}
	return all
}

func timeText(at time.Time) string { return at.UTC().Format(time.RFC3339) }
