package image

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0f", 32)
	for _, test := range []struct{ in, repository, name, tag, digest string }{
		{"nginx", "docker.io/library/nginx", "nginx", "", ""},
		{"nginx:1.25", "docker.io/library/nginx", "nginx", "1.25", ""},
		{"Quay.io/acme/web:V1@" + digest, "quay.io/acme/web", "Quay.io/acme/web", "V1", digest},
		{"quay.io:443/acme/web@" + digest, "quay.io:443/acme/web", "quay.io:443/acme/web", "", digest},
		{"web:5000", "docker.io/library/web", "web", "5000", ""},
		{"[::1]:5000/web", "[::1]:5000/web", "[::1]:5000/web", "", ""},
	} {
		r, err := Parse(test.in)
		if err != nil {
			t.Errorf("%s: %v", test.in, err)
			continue
		}
		if r.Repository.String() != test.repository || r.Name != test.name || r.Tag != test.tag || r.Digest != test.digest {
			t.Errorf("%s: got %+v", test.in, r)
		}
		if r.String() != test.in {
			t.Errorf("%s became %s", test.in, r)
		}
	}
}

func TestParse_refuses(t *testing.T) {
	t.Parallel()
	hex := strings.Repeat("0f", 32)
	for _, s := range []string{
		"", " ", "nginx:", "nginx@", "nginx:1:2/x", ":1", "@sha256:" + hex, "nginx:1@sha256:" + hex + "@sha256:" + hex,
		"nginx@sha256:" + hex[1:], "nginx@md5:" + hex[:32], "Nginx:1", "a b", "nginx: 1", "ngïnx", "${IMAGE}:1", "{{ .Values.image }}",
		"oci://quay.io/acme/web", "docker://nginx", "sha256:" + hex, hex, "nginx:" + strings.Repeat("a", 129),
		strings.Repeat("a/", 200) + "a", "quay.io/web:1/", "\xff\xfe",
	} {
		if r, err := Parse(s); err == nil {
			t.Errorf("%q was read as %+v", s, r)
		} else if r != (Reference{}) {
			t.Errorf("%q gives %v and %+v", s, err, r)
		}
	}
}

//nolint:paralleltest // allocations are counted for the whole process
func TestParse_allocatesNothing(t *testing.T) {
	for _, s := range []string{
		"nginx", "docker.io/library/nginx:1.25", "quay.io/acme/web:1.2.3", "ClusterIP", "a sentence of prose",
		"quay.io/acme/web@sha256:" + strings.Repeat("0f", 32), strings.Repeat("x", 10_000),
	} {
		if n := testing.AllocsPerRun(100, func() { _, _ = Parse(s) }); n != 0 {
			t.Errorf("%.40q: %v allocations", s, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"nginx", "quay.io/acme/web:1.2@sha256:" + strings.Repeat("0f", 32), "[::1]:5000/a__b/c---d.e:_x", "Foo/bar", "library/x", "LOCALHOST/x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse(s)
		if err != nil {
			return
		}
		if r.String() != s {
			t.Fatalf("%q became %q", s, r.String())
		}
		for _, name := range []string{r.Repository.String(), r.Repository.Familiar()} {
			again, err := ParseRepository(name)
			if err != nil || again != r.Repository {
				t.Fatalf("%q: %q reads as %q, %v", s, name, again, err)
			}
		}
		if r.Repository.IsZero() || r.Repository.Host() == "" || r.Repository.Name() == "" {
			t.Fatalf("%q has an empty part: %+v", s, r.Repository)
		}
	})
}
