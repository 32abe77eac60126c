package updater

import (
	"testing"
)

func TestSources_nearest(t *testing.T) {
	t.Parallel()
	f := &finder{sources: newSources(), path: "clusters/dev/a.yaml"}
	key := sourceKey{kind: "HelmRepository", namespace: "flux-system", name: "acme"}
	f.declare(key, "oci://one")
	f.path = "clusters/prod/a.yaml"
	f.declare(key, "oci://two")
	if _, found := f.source(key); found || !f.asks {
		t.Error("a source was known before the scan was complete")
	}
	f.sources.complete = true
	for path, want := range map[string]string{"clusters/dev/b.yaml": "oci://one", "clusters/prod/b.yaml": "oci://two", "apps/b.yaml": ""} {
		f.path = path
		if got, found := f.source(key); got != want && found {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
