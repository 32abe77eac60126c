package registry

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/image"
)

func TestResolve_fallsBackToGet(t *testing.T) {
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

func TestBatch_Forget(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "released")
	f.push(t, "acme/other", built{created: day(1)}, "released")
	pass := newClient(t, Options{}).Batch()
	web := image.Reference{Repository: f.repository(t, "acme/web"), Tag: "released"}
	other := image.Reference{Repository: f.repository(t, "acme/other"), Tag: "released"}
	resolve := func(ref image.Reference) string {
		found, err := pass.For("a/1").Resolve(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		return found.Digest
	}
	before := resolve(web)
	resolve(other)
	moved := f.push(t, "acme/web", built{created: day(2)}, "released")
	f.reset()
	pass.Forget(func(r image.Repository) bool { return r == web.Repository })
	if after := resolve(web); after == before || after != moved {
		t.Errorf("after it was forgotten: %s, want %s", after, moved)
	}
	resolve(other)
	if heads := f.count("HEAD"); heads != 1 {
		t.Errorf("%d digests asked, want that of the forgotten one", heads)
	}
}

// A failure is cached within a reconciliation, until it is forgotten.
func TestFlights_forgetFailures(t *testing.T) {
	t.Parallel()
	var asked int
	var f flights[string]
	key := flightKey{scope{anonymousID, mustRepository(t, "quay.io/acme/web")}, "1"}
	ask := func() (string, error) {
		asked++
		return "", errors.New("down")
	}
	for range 2 {
		if _, err := f.do(t.Context(), key, time.Time{}, time.Time{}, ask); err == nil {
			t.Error("no failure")
		}
	}
	f.forget(func(image.Repository) bool { return false })
	if _, err := f.do(t.Context(), key, time.Time{}, time.Time{}, ask); err == nil || asked != 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
