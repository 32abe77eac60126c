package signature_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/config/trust"
	"promoter/internal/image"
	"promoter/internal/signature"
	"promoter/internal/signature/signaturetest"
)

const web = "quay.io/acme/web"

func followed(t *testing.T) image.Repository {
	t.Helper()
	repository, err := image.ParseRepository(web)
	fatal(t, err)
	return repository
}

// A signature of the right signer counts only for the images and versions that the config names.
func TestVerify_limits(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	as := func(reference string, annotations map[string]string) signature.Material {
		return signed(t, key, signaturetest.PayloadAs(digest, reference, annotations))
	}
	version := func(v string) map[string]string { return map[string]string{"version": v} }
	own, listed, either := trust.Limits{SignedAs: "{image}"}, trust.Limits{SignedAs: "build.example.com/acme/*"},
		trust.Limits{SignedAs: "{image} build.example.com/acme/*"}
	least := trust.Limits{MinVersion: "1.4.0"}
	both := trust.Limits{SignedAs: "{image}", MinVersion: "1.4.0"}
	for name, c := range map[string]struct {
		limits   trust.Limits
		material []signature.Material
		problem  string // in it; empty: it counts
	}{
		"no limits":                       {trust.Limits{}, []signature.Material{as("any", nil)}, ""},
		"the followed image":              {own, []signature.Material{as(web, nil)}, ""},
		"with a tag":                      {own, []signature.Material{as(web+":1.4.0", nil)}, ""},
		"with a digest":                   {own, []signature.Material{as(web+"@"+other, nil)}, ""},
		"another image":                   {own, []signature.Material{as("quay.io/acme/worker", nil)}, "key ours.pub is for quay.io/acme/worker, not for quay.io/acme/web"},
		"another host":                    {own, []signature.Material{as("quay.io.evil.example/acme/web", nil)}, "is for quay.io.evil.example/acme/web"},
		"a longer path":                   {own, []signature.Material{as(web+"/evil", nil)}, "is for quay.io/acme/web/evil"},
		"no reference":                    {own, []signature.Material{as("", nil)}, "names no image, which signedAs requires"},
		"not a reference":                 {own, []signature.Material{as("pkg:docker/acme/web@1", nil)}, "is for pkg:docker/acme/web@1"},
		"a listed image":                  {listed, []signature.Material{as("build.example.com/acme/web", nil)}, ""},
		"only listed images":              {listed, []signature.Material{as(web, nil)}, "not for build.example.com/acme/*"},
		"either":                          {either, []signature.Material{as("build.example.com/acme/web", nil)}, ""},
		"neither":                         {either, []signature.Material{as("build.example.com/evil/web", nil)}, "not for quay.io/acme/web or build.example.com/acme/*"},
		"an annotation is no reference":   {own, []signature.Material{as("quay.io/acme/worker", map[string]string{"docker-reference": web})}, "is for quay.io/acme/worker"},
		"the version":                     {least, []signature.Material{as("any", version("1.4.0"))}, ""},
		"a newer version":                 {least, []signature.Material{as("any", version("v1.10"))}, ""},
		"an older version":                {least, []signature.Material{as("any", version("1.3.9"))}, "has the version 1.3.9, which is older than minVersion 1.4.0"},
		"a prerelease":                    {least, []signature.Material{as("any", version("1.4.0-rc.1"))}, "is older"},
		"no version":                      {least, []signature.Material{as(web, nil)}, "has no version, which minVersion 1.4.0 requires"},
		"a text":                          {least, []signature.Material{as("any", version("latest\n"))}, "has the version latest, which minVersion 1.4.0 cannot be compared with"},
		"the tag of the reference":        {least, []signature.Material{as(web+":1.5.0", nil)}, ""},
		"an old tag of the reference":     {least, []signature.Material{as(web+":1.3.0", nil)}, "has the version 1.3.0"},
		"an annotation before the tag":    {least, []signature.Material{as(web+":1.5.0", version("1.3.0"))}, "has the version 1.3.0"},
		"one signature meets all":         {both, []signature.Material{as("quay.io/acme/worker", nil), as(web, version("1.4.1"))}, ""},
		"two signatures meet one each":    {both, []signature.Material{as(web, version("1.3.0")), as("quay.io/acme/worker", version("1.4.0"))}, "has the version 1.3.0"},
		"an attestation of another image": {own, []signature.Material{envelope(t, key, digest, "https://sigstore.dev/cosign/sign/v1", nil)}, "is for any, not for quay.io/acme/web"},
		"a time that a key cannot prove":  {trust.Limits{SignedAfter: time.Unix(0, 0)}, []signature.Material{as(web, nil)}, "has no time of signing that can be trusted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			required := trust.Requirement{Key: key.Public, KeyFile: "ours.pub", Limits: c.limits}.For(followed(t))
			got := verify(t, []trust.Requirement{required}, c.material...)
			if !strings.Contains(got.Problem, c.problem) || (got.By == "") != (c.problem != "") || got.Wrong != (c.problem != "") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What another signer says does not count, and is not reported before what ours says.
func TestVerify_limitsOfOtherSigners(t *testing.T) {
	t.Parallel()
	ours, theirs := newKey(t), newKey(t)
	required := trust.Requirement{Key: ours.Public, KeyFile: "ours.pub", Limits: trust.Limits{SignedAs: web}}
	material := []signature.Material{
		signed(t, theirs, signaturetest.PayloadAs(digest, web, nil)), signed(t, ours, signaturetest.PayloadAs(digest, "quay.io/acme/worker", nil)),
	}
	got := verify(t, []trust.Requirement{required}, material...)
	if got.By != "" || got.Problem != "wrongly signed: the signature by key ours.pub is for quay.io/acme/worker, not for quay.io/acme/web" {
		t.Errorf("%+v", got)
	}
}

// The limits hold for bundles and keyless signatures, whose time the log and the timestamp prove.
func TestVerify_limitsOfKeylessSignatures(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	const sign, provenance = "https://sigstore.dev/cosign/sign/v1", "https://slsa.dev/provenance/v1"
	const ofDigest = `"digest": {"sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`
	const ofOther = `"digest": {"sha256": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}`
	bundle := func(subjects string) signature.Material {
		return a.bundleOf(t, identity, issuer, sign, "{}", subjects)
	}
	now := time.Now()
	own, least := trust.Limits{SignedAs: web}, trust.Limits{MinVersion: "1.4.0"}
	since := func(at time.Time) trust.Limits { return trust.Limits{SignedAfter: at} }
	for name, c := range map[string]struct {
		limits   trust.Limits
		source   string
		material signature.Material
		problem  string // in it; empty: it counts
	}{
		"a subject":                    {own, "", bundle(`{"name": "quay.io/acme/web", ` + ofDigest + `}`), ""},
		"another subject":              {own, "", bundle(`{"name": "quay.io/acme/worker", ` + ofDigest + `}`), "is for quay.io/acme/worker"},
		"the name of another subject":  {own, "", bundle(`{"name": "quay.io/acme/worker", ` + ofDigest + `}, {"name": "quay.io/acme/web", ` + ofOther + `}`), "is for quay.io/acme/worker"},
		"one of two names":             {own, "", bundle(`{"name": "quay.io/acme/worker", ` + ofDigest + `}, {"name": "quay.io/acme/web", ` + ofDigest + `}`), ""},
		"no name, as cosign writes it": {own, "", bundle(`{` + ofDigest + `}`), "names no image, which signedAs requires: sign with -a docker-reference=IMAGE"},
		"a name as an annotation":      {own, "", bundle(`{` + ofDigest + `, "annotations": {"docker-reference": "quay.io/acme/web"}}`), ""},
		"a version as an annotation":   {least, "", bundle(`{` + ofDigest + `, "annotations": {"version": "1.4.0"}}`), ""},
		"an old version":               {least, "", bundle(`{` + ofDigest + `, "annotations": {"version": "1.3.0"}}`), "is older"},
		"a number as a version":        {least, "", bundle(`{` + ofDigest + `, "annotations": {"version": 2}}`), "has no version"},
		"a provenance": {
			own, "github.com/acme/web",
			a.bundleOf(t, identity, issuer, provenance, `{"buildDefinition": {"resolvedDependencies": [{"uri": "git+https://github.com/acme/web"}]}}`,
				`{"name": "quay.io/acme/worker", `+ofDigest+`}`),
			"the provenance by " + identity + " via " + issuer + " is for quay.io/acme/worker",
		},
		"signed after a time":        {since(now.Add(-time.Hour)), "", a.simple(t, identity, issuer, digest), ""},
		"signed before a time":       {since(now.Add(time.Hour)), "", a.simple(t, identity, issuer, digest), "before signedAfter " + now.Add(time.Hour).UTC().Format(time.RFC3339)},
		"a bundle signed after":      {since(now.Add(-time.Hour)), "", bundle(`{` + ofDigest + `}`), ""},
		"a bundle signed before":     {since(now.Add(time.Hour)), "", bundle(`{` + ofDigest + `}`), "before signedAfter"},
		"the earliest of two counts": {since(now.Add(3 * time.Minute)), "", bundle(`{` + ofDigest + `}`), "before signedAfter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			required := trust.Requirement{Issuer: issuer, Identity: identity, TrustedRoot: a.trustedRoot, Source: c.source, Limits: c.limits}
			got := verify(t, []trust.Requirement{required}, c.material)
			if !strings.Contains(got.Problem, c.problem) || (got.By == "") != (c.problem != "") || got.Wrong != (c.problem != "") {
				t.Errorf("%+v", got)
			}
		})
	}
}
