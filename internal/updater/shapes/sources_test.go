package shapes

import "testing"

func TestSources_nearest(t *testing.T) {
	t.Parallel()
	s := Sources{}
	key := sourceKey{kind: "HelmRepository", namespace: "flux-system", name: "acme"}
	s.Declare("clusters/dev/a.yaml", Declaration{key.kind, key.namespace, key.name, "oci://one"})
	s.Declare("clusters/prod/a.yaml", Declaration{key.kind, key.namespace, key.name, "oci://two"})
	for path, want := range map[string]string{"clusters/dev/b.yaml": "oci://one", "clusters/prod/b.yaml": "oci://two"} {
		if got, found := s.url(path, key); got != want || !found {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	if got, found := s.url("apps/b.yaml", key); found {
		t.Errorf("%q although two sources are equally near", got)
	}
}
