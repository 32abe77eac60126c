package pipelines

import (
	"strings"
	"testing"

	"promoter/internal/event"
	"promoter/internal/image"
)

// A package URL that is taken names one image, and its digest is one.
func FuzzPackageURL(f *testing.F) {
	for _, text := range []string{
		"pkg:oci/debian@sha256%3A244fd47e07d10?repository_url=docker.io/library/debian&arch=amd64&tag=latest",
		"pkg:oci/web@sha256%3A" + strings.Repeat("a", 64) + "?repository_url=https://ghcr.io/acme/web/",
		"pkg:docker/cassandra@latest", "pkg:docker/acme/web@1?repository_url=gcr.io:443", "PKG://Docker/acme%2Fweb@1#sub",
		"pkg:golang/example.com/web@v1", "pkg:oci/web", "pkg:oci/web?repository_url=%zz", "pkg:", "@", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hint, ok := packageEvent(text)
		if !ok {
			return
		}
		if hint.Kind != event.KindImage || hint.Image.Host == "" || hint.Image.Repository().IsZero() {
			t.Errorf("%q is %+v", text, hint)
		}
		if strings.Contains(hint.Image.Tag, ":") || hint.Image.Digest != "" && !image.ValidDigest(hint.Image.Digest) {
			t.Errorf("%q has tag %q and digest %q", text, hint.Image.Tag, hint.Image.Digest)
		}
	})
}
