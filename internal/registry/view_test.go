package registry

import (
	"net/http"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/image"
)

func TestResolve_whatARegistryAnswersWithLess(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"no HEAD": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
			return r.Method == http.MethodHead
		},
		"a HEAD without a digest": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodHead {
				w.Header().Set("Content-Type", "application/vnd.docker.distribution.manifest.v2+json")
			}
			return r.Method == http.MethodHead
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			digest := f.push(t, "acme/web", built{created: day(1)}, "1")
			f.answer = answer
			got, err := newClient(t, Options{}).For("a/1").Resolve(t.Context(), image.Reference{Repository: f.repository(t, "acme/web"), Tag: "1"})
			if err != nil || got.Digest != digest {
				t.Errorf("resolved %+v, %v", got, err)
			}
		})
	}
}

func TestResolve_digests(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	digest := f.push(t, "acme/web", built{created: day(1)}, "1")
	v, r := newClient(t, Options{}).For("a/1"), f.repository(t, "acme/web")
	for name, ref := range map[string]image.Reference{
		"a digest":         {Repository: r, Digest: digest},
		"a tag and digest": {Repository: r, Tag: "old", Digest: digest},
	} {
		if got, err := v.Resolve(t.Context(), ref); err != nil || got.Digest != digest || got.Tag != ref.Tag {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, tc := range map[string]struct {
		ref  image.Reference
		kind fault.Kind
	}{
		"a tag that is not there":    {image.Reference{Repository: r, Tag: "2"}, fault.NotFound},
		"a digest that is not there": {image.Reference{Repository: r, Digest: "sha256:" + strings.Repeat("0", 64)}, fault.NotFound},
		"neither":                    {image.Reference{Repository: r}, fault.Invalid},
		"no repository":              {image.Reference{Tag: "1"}, fault.Invalid},
	} {
		if got, err := v.Resolve(t.Context(), tc.ref); fault.KindOf(err) != tc.kind {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
