package registry

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"promoter/internal/fault"
	"promoter/internal/image"
)

// put puts any manifest under a tag, or under its digest.
func (f *fake) put(t *testing.T, path, tag, media, content string) string {
	t.Helper()
	hash, _, err := v1.SHA256(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + f.host + "/v2/" + path + "/manifests/" + first(tag, hash.String())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, at, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", media)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return hash.String()
}

// indexOfMany writes an index of n images.
func indexOfMany(n int) string {
	children := make([]string, n)
	for i := range children {
		children[i] = fmt.Sprintf(`{"digest":"sha256:%064d","platform":{"os":"linux","architecture":"a%d"}}`, i, i)
	}
	return `{"schemaVersion":2,"manifests":[` + strings.Join(children, ",") + `]}`
}

func TestDescribe_whatCannotBeRead(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	put := func(path, media, content string) string { return f.put(t, path, "", media, content) }
	for name, tc := range map[string]struct {
		digest string
		words  string
	}{
		"schema 1":             {put("acme/old", string(types.DockerManifestSchema1Signed), `{"schemaVersion":1}`), "schema 1"},
		"a manifest of 5 MiB":  {put("acme/large", string(types.OCIManifestSchema1), strings.Repeat(" ", 5<<20)), "larger than"},
		"a manifest that is 1": {put("acme/one", string(types.OCIManifestSchema1), `1`), "not understood"},
		"an index of 101":      {put("acme/index", string(types.OCIManifestSchema1), indexOfMany(maxChildren+1)), "more than 100 images"},
	} {
		path := map[string]string{"an index of 101": "acme/index", "schema 1": "acme/old", "a manifest of 5 MiB": "acme/large", "a manifest that is 1": "acme/one"}[name]
		_, err := describe(t, f, path, tc.digest)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), tc.words) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	if _, err := describe(t, f, "acme/old", "sha256:12"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("no digest: err = %v", err)
	}
	if _, err := describe(t, f, "acme/old", "sha256:"+strings.Repeat("0", 64)); fault.KindOf(err) != fault.NotFound {
		t.Errorf("not there: err = %v", err)
	}
}

// What a manifest is stands under its digest; the header of an answer does not.
func TestDescribe_theHeaderOfAnAnswerIsNotBelieved(t *testing.T) {
	t.Parallel()
	for _, media := range []string{
		string(types.OCIImageIndex), string(types.OCIImageIndex) + "; charset=utf-8", "application/json", string(types.OCIManifestSchema1), "",
	} {
		t.Run(media, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			index := indexOf(t, nil, []built{{platform: "linux/amd64", created: day(2)}, {platform: "linux/arm64", created: day(3)}})
			if err := remote.WriteIndex(mustTag(t, f.host, "acme/web", "1"), index); err != nil {
				t.Fatal(err)
			}
			raw, err := index.RawManifest()
			if err != nil {
				t.Fatal(err)
			}
			digest, err := index.Digest()
			if err != nil {
				t.Fatal(err)
			}
			f.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, digest.String()) {
					return false
				}
				w.Header().Set("Content-Type", media)
				_, _ = w.Write(raw)
				return true
			}
			got, err := describe(t, f, "acme/web", digest.String())
			if err != nil {
				t.Fatal(err)
			}
			want := image.Version{Digest: digest.String(), Created: day(2), Platforms: []string{"linux/amd64", "linux/arm64"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKind_ofManifests(t *testing.T) {
	t.Parallel()
	for manifest, want := range map[string]types.MediaType{
		`{"schemaVersion":1}`:                types.DockerManifestSchema1,
		`{"schemaVersion":2,"manifests":[]}`: types.OCIImageIndex,
		`{"schemaVersion":2,"config":{}}`:    types.OCIManifestSchema1,
		`{"mediaType":"application/vnd.docker.distribution.manifest.list.v2+json","manifests":[]}`: types.DockerManifestList,
		`1`: types.OCIManifestSchema1,
	} {
		if got := kind([]byte(manifest)); got != want {
			t.Errorf("kind(%s) = %s, want %s", manifest, got, want)
		}
	}
}

func TestDescribe_anotherContentThanItsDigest(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	digest := f.push(t, "acme/web", built{created: day(1)}, "1")
	other := f.push(t, "acme/web", built{created: day(2)}, "2")
	f.answer = func(_ http.ResponseWriter, r *http.Request) bool {
		r.URL.Path = strings.Replace(r.URL.Path, digest, other, 1)
		return false
	}
	if v, err := describe(t, f, "acme/web", digest); err == nil {
		t.Errorf("a lie was believed: %+v", v)
	}
}

// FuzzRead feeds manifests and configs of others.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"manifests":[{"platform":{"os":"linux","architecture":"amd64"},"digest":"sha256:0"}]}`))
	f.Add([]byte(`{"created":"2026-01-01T00:00:00Z","os":"linux","architecture":"arm64","config":{"Labels":{"org.opencontainers.image.revision":"x"}}}`))
	f.Add([]byte(`{"version":"1","sources":["https://x"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, found := range []metadata{readIndex(data), readConfig(data), readChart(data)} {
			for _, text := range append(found.platforms(), found.Revision, found.Source, found.Version) {
				if text != clean(text) {
					t.Errorf("%q came through", text)
				}
			}
		}
	})
}
