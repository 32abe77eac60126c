package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"promoter/internal/image"
)

// content serves manifests and configs by their digests, byte by byte as builders write
// them.
type content map[string][]byte

func (c content) add(text string) (digest string) {
	sum := sha256.Sum256([]byte(text))
	digest = "sha256:" + hex.EncodeToString(sum[:])
	c[digest] = []byte(text)
	return digest
}

func (c content) answer(w http.ResponseWriter, r *http.Request) bool {
	text, known := c[path.Base(r.URL.Path)]
	if !known {
		return false
	}
	w.Header().Set("Docker-Content-Digest", path.Base(r.URL.Path))
	w.Header().Set("Content-Type", string(mediaType(text)))
	_, _ = w.Write(text)
	return true
}

// manifest adds a manifest with two layers and a config.
func (c content) manifest(media, configMedia types.MediaType, config string) string {
	layer := strings.Repeat("0", 64)
	return c.add(fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":%q,"digest":%q,"size":%d},"layers":[`+
		`{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:%s","size":3622000},`+
		`{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:%s","size":378000}]}`,
		media, configMedia, c.add(config), len(config), layer, layer))
}

// What BuildKit, Docker, buildah, and older tools write.
const (
	buildkitConfig = `{"architecture":"%s","config":{"Env":["PATH=/usr/local/bin"],"Cmd":["web"],"Labels":{"org.opencontainers.image.revision":"4f1d2c3b4a5968778695a4b3c2d1e0f123456789","org.opencontainers.image.source":"https://github.com/acme/web","org.opencontainers.image.url":"https://acme.example/web"},"OnBuild":null},` +
		`"created":"2026-11-17T10:20:30.123456789Z","history":[{"created":"2026-10-01T00:00:00Z","created_by":"ADD rootfs","comment":"buildkit.dockerfile.v0"},{"created":"2026-11-17T10:20:30.123456789Z","created_by":"COPY web","empty_layer":false}],"os":"linux","rootfs":{"type":"layers","diff_ids":[]},"variant":""}`
	dockerConfig = `{"architecture":"amd64","config":{"Hostname":"","ExposedPorts":{"80/tcp":{}},"Labels":{"org.label-schema.vcs-ref":"4f1d2c3","org.label-schema.vcs-url":"https://github.com/acme/web","org.label-schema.build-date":"2026-11-16T00:00:00Z","org.label-schema.version":"1.4.2"}},"container":"d6","docker_version":"20.10.21","created":"2026-11-17T10:20:30Z","history":[],"os":"linux"}`
	// Some tools leave the times of history empty, and write other fields otherwise than specified.
	oddConfig = `{"architecture":"amd64","os":"linux","created":"2026-11-17T10:20:30Z","config":{"Labels":{"org.opencontainers.image.revision":"4f1d2c3"},"Volumes":[],"Healthcheck":{"Interval":"30s"}},"history":[{"created":"","created_by":"nix"}]}`
)

// The date, the source, and the size of an image are known whatever builder made it.
func TestDescription_ofRealImages(t *testing.T) {
	t.Parallel()
	built := time.Date(2026, 11, 17, 10, 20, 30, 0, time.UTC)
	exact := built.Add(123456789)
	const revision, source = "4f1d2c3b4a5968778695a4b3c2d1e0f123456789", "https://github.com/acme/web"
	attestation := func(c content, of string) string {
		return fmt.Sprintf(`{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":%q,"size":567,"annotations":{"vnd.docker.reference.digest":%q,"vnd.docker.reference.type":"attestation-manifest"},"platform":{"architecture":"unknown","os":"unknown"}}`,
			c.manifest(types.OCIManifestSchema1, types.OCIConfigJSON, `{"architecture":"unknown","os":"unknown","config":{},"rootfs":{"type":"layers","diff_ids":[]}}`), of)
	}
	for name, tc := range map[string]struct {
		make func(c content) string
		want image.Description
	}{
		"an OCI index of BuildKit with attestations": {
			func(c content) string {
				amd := c.manifest(types.OCIManifestSchema1, types.OCIConfigJSON, fmt.Sprintf(buildkitConfig, "amd64"))
				arm := c.manifest(types.OCIManifestSchema1, types.OCIConfigJSON, fmt.Sprintf(buildkitConfig, "arm64"))
				return c.add(fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s,{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":%q,"size":1,"platform":{"architecture":"arm64","os":"linux","variant":"v8"}},{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":%q,"size":1,"platform":{"architecture":"amd64","os":"linux"}}]}`,
					attestation(c, amd), arm, amd))
			},
			image.Description{Created: exact, Revision: revision, Source: source, URL: "https://acme.example/web", Platforms: []string{"linux/amd64", "linux/arm64"}, Platform: "linux/amd64", Size: 4_000_000},
		},
		"an index that names no platforms": { // as `oras manifest index create` and `buildah manifest` may write it
			func(c content) string {
				amd := c.manifest(types.OCIManifestSchema1, types.OCIConfigJSON, fmt.Sprintf(buildkitConfig, "amd64"))
				return c.add(fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s,{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":%q,"size":1}]}`,
					attestation(c, amd), amd))
			},
			image.Description{Created: exact, Revision: revision, Source: source, URL: "https://acme.example/web", Platforms: []string{"linux/amd64"}, Platform: "linux/amd64", Size: 4_000_000},
		},
		"a manifest list of Docker": {
			func(c content) string {
				amd := c.manifest(types.DockerManifestSchema2, types.DockerConfigJSON, dockerConfig)
				return c.add(fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.list.v2+json","manifests":[{"mediaType":"application/vnd.docker.distribution.manifest.v2+json","digest":%q,"size":1,"platform":{"architecture":"amd64","os":"linux"}}]}`, amd))
			},
			image.Description{Created: built, Revision: "4f1d2c3", Source: source, Version: "1.4.2", Platforms: []string{"linux/amd64"}, Platform: "linux/amd64", Size: 4_000_000},
		},
		"an image of Docker 1.10": {
			func(c content) string {
				return c.manifest(types.DockerManifestSchema2, "application/octet-stream", dockerConfig)
			},
			image.Description{Created: built, Revision: "4f1d2c3", Source: source, Version: "1.4.2", Platforms: []string{"linux/amd64"}, Platform: "linux/amd64", Size: 4_000_000},
		},
		"a config with fields of other types": {
			func(c content) string { return c.manifest(types.OCIManifestSchema1, types.OCIConfigJSON, oddConfig) },
			image.Description{Created: built, Revision: "4f1d2c3", Platforms: []string{"linux/amd64"}, Platform: "linux/amd64", Size: 4_000_000},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, c := newFake(t), content{}
			digest := tc.make(c)
			f.answer = c.answer
			view := newClient(t, Options{}).For("a/1")
			for range 2 { // the second is answered from the cache
				got, err := view.Description(t.Context(), f.repository(t, "acme/web"), digest, nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Error(diff)
				}
			}
			if n := f.count("/manifests/" + digest); n != 1 {
				t.Errorf("the manifest was requested %d times", n)
			}
		})
	}
}
