package registry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"promoter/internal/fault"
	"promoter/internal/image"
)

func describe(t *testing.T, f *fake, path, digest string) (image.Version, error) {
	t.Helper()
	return newClient(t, Options{}).For("a/1").Describe(t.Context(), f.repository(t, path), digest)
}

func TestDescribe_readsConfigLabelsAndAnnotations(t *testing.T) {
	t.Parallel()
	all := func(suffix string) map[string]string {
		return map[string]string{keyRevision: "rev" + suffix, keySource: "https://git.example/" + suffix, keyVersion: "1" + suffix, keyCreated: "2026-02-01T00:00:00Z"}
	}
	for _, tc := range []struct {
		name  string
		built built
		want  image.Version
	}{
		{
			"config alone",
			built{created: day(3)},
			image.Version{Created: day(3)},
		},
		{
			"labels",
			built{created: day(3), labels: all("l")},
			image.Version{Created: day(3), Revision: "revl", Source: "https://git.example/l", Version: "1l"},
		},
		{
			"annotations before labels",
			built{created: day(3), labels: all("l"), annotations: all("a")},
			image.Version{Created: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Revision: "reva", Source: "https://git.example/a", Version: "1a"},
		},
		{
			"a label tells the date that the config does not",
			built{created: time.Unix(0, 0), labels: all("l")},
			image.Version{Created: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Revision: "revl", Source: "https://git.example/l", Version: "1l"},
		},
		{
			"what is no text is dropped",
			built{created: day(1), annotations: map[string]string{
				keyRevision: "line\nline", keySource: strings.Repeat("x", maxText+1), keyVersion: "\x1b[31m", keyCreated: "yesterday",
			}},
			image.Version{Created: day(1)},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			digest := f.push(t, "acme/web", tc.built, "1")
			got, err := describe(t, f, "acme/web", digest)
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Digest, tc.want.Platforms = digest, []string{"linux/amd64"}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDescribe_anIndexAndItsImages(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	digest := f.pushIndex(t, "acme/web", map[string]string{keyVersion: "of the index"}, []built{
		{platform: "linux/arm64/v8", created: day(1)},
		{platform: "linux/amd64", created: day(2), labels: map[string]string{keyRevision: "abc", keyVersion: "of the image"}},
		{platform: "unknown/unknown", created: day(3)}, // an attestation, as BuildKit writes it
	}, "1")
	got, err := describe(t, f, "acme/web", digest)
	if err != nil {
		t.Fatal(err)
	}
	want := image.Version{
		Digest: digest, Created: day(2), Revision: "abc", Version: "of the index",
		Platforms: []string{"linux/amd64", "linux/arm64"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// artifact makes an OCI artifact with a config of the media type.
func artifact(t *testing.T, media types.MediaType, config string, annotations map[string]string) v1.Image {
	t.Helper()
	img, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), media),
		static.NewLayer([]byte("content"), "application/vnd.cncf.helm.chart.content.v1.tar+gzip"))
	if err != nil {
		t.Fatal(err)
	}
	if annotations != nil {
		img = mutate.Annotations(img, annotations).(v1.Image)
	}
	return &withConfig{Image: img, config: []byte(config)}
}

// withConfig gives an image a config that is no image config.
type withConfig struct {
	v1.Image
	config []byte
}

func (w *withConfig) RawConfigFile() ([]byte, error) { return w.config, nil }

func (w *withConfig) ConfigName() (v1.Hash, error) {
	hash, _, err := v1.SHA256(strings.NewReader(string(w.config)))
	return hash, err
}

func (w *withConfig) Manifest() (*v1.Manifest, error) {
	manifest, err := w.Image.Manifest()
	if err != nil {
		return nil, err
	}
	manifest = manifest.DeepCopy()
	manifest.Config.Size = int64(len(w.config))
	manifest.Config.Digest, err = w.ConfigName()
	return manifest, err
}

func (w *withConfig) RawManifest() ([]byte, error) {
	manifest, err := w.Manifest()
	if err != nil {
		return nil, err
	}
	return json.Marshal(manifest)
}

func (w *withConfig) Digest() (v1.Hash, error) {
	raw, err := w.RawManifest()
	if err != nil {
		return v1.Hash{}, err
	}
	hash, _, err := v1.SHA256(strings.NewReader(string(raw)))
	return hash, err
}

func (w *withConfig) Size() (int64, error) {
	raw, err := w.RawManifest()
	return int64(len(raw)), err
}

func TestDescribe_chartsAndOtherArtifacts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		img  v1.Image
		want image.Version
	}{
		{
			"a chart", artifact(t, helmConfig, `{"name":"shop","version":"3.1.4+build","sources":["https://git.example/shop"]}`, map[string]string{keyCreated: "2026-01-02T00:00:00Z"}),
			image.Version{Version: "3.1.4+build", Source: "https://git.example/shop", Created: day(2)},
		},
		{
			"a chart whose source is no link", artifact(t, helmConfig, `{"version":"1","sources":["javascript:1"]}`, nil),
			image.Version{Version: "1"},
		},
		{
			"a chart with a broken config", artifact(t, helmConfig, `{`, nil),
			image.Version{},
		},
		{
			"an artifact", artifact(t, "application/vnd.acme.policy.v1", `{"version":"not read"}`, map[string]string{keyVersion: "2"}),
			image.Version{Version: "2"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			digest := pushTo(t, f.host, authn.Anonymous, "acme/shop", tc.img, "3.1.4")
			got, err := describe(t, f, "acme/shop", digest)
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Digest = digest
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMetadata_validatesCachedValues(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0", 64)
	for name, tc := range map[string]struct {
		fact metadata
		ok   bool
	}{
		"nothing":            {metadata{}, true},
		"an index":           {metadata{Children: []child{{digest, "linux/amd64"}}}, true},
		"a child without":    {metadata{Children: []child{{"sha256:1", "linux/amd64"}}}, false},
		"an odd platform":    {metadata{Children: []child{{digest, "linux/\x1b"}}}, false},
		"an odd revision":    {metadata{Revision: "a\nb"}, false},
		"too many children":  {metadata{Children: slices.Repeat([]child{{digest, "linux/amd64"}}, maxChildren+1)}, false},
		"a long platform":    {metadata{Children: []child{{digest, "linux/" + strings.Repeat("x", maxPlatform)}}}, false},
		"a text without end": {metadata{Source: strings.Repeat("x", maxText+1)}, false},
	} {
		if tc.fact.valid() != tc.ok {
			t.Errorf("%s: valid is %v", name, !tc.ok)
		}
	}
}

// A date that no JSON can hold would keep the whole cache from being written.
func TestMetadata_ignoresInvalidDates(t *testing.T) {
	t.Parallel()
	for _, created := range []string{"9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00", "10000-01-01T00:00:00Z", "yesterday"} {
		for name, found := range map[string]metadata{
			"annotation": fromAnnotations(map[string]string{keyCreated: created}),
			"config":     readConfig([]byte(`{"created":"` + created + `"}`)),
		} {
			if _, err := json.Marshal(found); err != nil || !found.Created.IsZero() {
				t.Errorf("%s %s: %v, %v", name, created, found.Created, err)
			}
		}
	}
}

// put puts any manifest under a tag, or under its digest.
func (f *fake) put(t *testing.T, path, tag, media, content string) string {
	t.Helper()
	hash, _, err := v1.SHA256(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if tag == "" {
		tag = hash.String()
	}
	at := "http://" + f.host + "/v2/" + path + "/manifests/" + tag
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

func TestDescribe_reportsOpaqueManifests(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	put := func(path, media, content string) string { return f.put(t, path, "", media, content) }
	for name, tc := range map[string]struct {
		digest string
		words  string
	}{
		"schema 1":             {put("acme/old", string(types.DockerManifestSchema1Signed), `{"schemaVersion":1}`), "schema 1"},
		"a manifest of 5 MiB":  {put("acme/large", string(types.OCIManifestSchema1), strings.Repeat(" ", 5<<20)), "larger than"},
		"a manifest that is 1": {put("acme/one", string(types.OCIManifestSchema1), `1`), "not valid"},
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
func TestDescribe_ignoresTheContentTypeHeader(t *testing.T) {
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

func TestMediaType_ofManifests(t *testing.T) {
	t.Parallel()
	for manifest, want := range map[string]types.MediaType{
		`{"schemaVersion":1}`:                types.DockerManifestSchema1,
		`{"schemaVersion":2,"manifests":[]}`: types.OCIImageIndex,
		`{"schemaVersion":2,"config":{}}`:    types.OCIManifestSchema1,
		`{"mediaType":"application/vnd.docker.distribution.manifest.list.v2+json","manifests":[]}`: types.DockerManifestList,
		`1`: types.OCIManifestSchema1,
	} {
		if got := mediaType([]byte(manifest)); got != want {
			t.Errorf("kind(%s) = %s, want %s", manifest, got, want)
		}
	}
}

func TestDescribe_refusesContentWithAnotherDigest(t *testing.T) {
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

func TestPlatform_variants(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		wanted, there string
		ok            bool
	}{
		{"linux/amd64", "linux/amd64", true},
		{"linux/arm64/v8", "linux/arm64", true},
		{"linux/arm64", "linux/arm64", true},
		{"linux/arm", "linux/arm/v7", true},
		{"linux/arm/v6", "linux/arm/v7", false},
		{"linux/arm", "linux/arm64", false},
		{"linux", "linux/amd64", true},
		{"windows/amd64", "linux/amd64", false},
	} {
		if got := runsOn(tc.wanted, tc.there); got != tc.ok {
			t.Errorf("runsOn(%q, %q) = %v", tc.wanted, tc.there, got)
		}
	}
}
