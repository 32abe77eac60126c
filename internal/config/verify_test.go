package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/config/trust"
)

// Limits of a component replace those at the top one by one; a signer replaces all.
func TestLoad_limitsOfComponents(t *testing.T) {
	t.Parallel()
	c, problems := config.Load("p.yaml", []byte(`version: 1
verify:
  cosign: {issuer: "https://i.example.com", identity: me, trustedRoot: root.json}
  signedAs: ["{image}"]
  signedAfter: 2026-01-31
components:
  inherits: {image: quay.io/acme/a, select: {semver: "1"}}
  adds: {image: quay.io/acme/b, select: {semver: "1"}, verify: {minVersion: 1.4.0}}
  replaces: {image: quay.io/acme/c, select: {semver: "1"}, verify: {signedAs: [quay.io/acme/*, "{image}"], signedAfter: 2026-03-01T12:00:00+02:00}}
  signer: {image: quay.io/acme/d, select: {semver: "1"}, verify: {cosign: {key: d.pub}}}
  skips: {image: quay.io/acme/e, select: {semver: "1"}, verify: {skip: true}}
environments:
  dev: {}
`))
	if c == nil {
		t.Fatal(problems)
	}
	january := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	want := map[string]trust.Limits{
		"inherits": {SignedAs: "{image}", SignedAfter: january},
		"adds":     {SignedAs: "{image}", SignedAfter: january, MinVersion: "1.4.0"},
		"replaces": {SignedAs: "quay.io/acme/* {image}", SignedAfter: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)},
		"signer":   {},
	}
	got := map[string]trust.Limits{}
	for _, component := range c.Components {
		if component.Verify == nil {
			continue
		}
		got[component.Name] = component.Verify.Limits
		if keyless := component.Name != "signer"; (component.Verify.Issuer != "") != keyless || (component.Verify.KeyFile != "") == keyless {
			t.Errorf("%s: the signer is %+v", component.Name, component.Verify)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
