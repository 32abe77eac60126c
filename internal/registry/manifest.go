package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// Bounds of what is read about an image. The distribution specification wants
// registries to take manifests of 4 MiB.
const (
	maxManifest = 4 << 20
	maxConfig   = 4 << 20
)

// helmConfig is the media type of a Helm chart's config, which is its Chart.yaml
// as JSON. https://helm.sh/docs/topics/registries/
const helmConfig types.MediaType = "application/vnd.cncf.helm.config.v1+json"

// metadata returns what a digest says about itself, asked once ever.
func (t *access) metadata(ctx context.Context, digest string) (metadata, error) {
	if known, ok := t.cache.metadata(digest); ok {
		return known, nil
	}
	t.cache.observe(false)
	login, err := t.session.open(ctx)
	if err != nil {
		return metadata{}, err
	}
	got, err := login.puller.Get(ctx, t.session.repository.Digest(digest))
	if err != nil {
		return metadata{}, err
	}
	found, err := t.read(ctx, login, got.Manifest)
	if err != nil {
		return metadata{}, err
	}
	t.cache.addMetadata(digest, found)
	return found, nil
}

// read reads a manifest whose digest was checked.
func (t *access) read(ctx context.Context, login *login, manifest []byte) (metadata, error) {
	if len(manifest) > maxManifest {
		return metadata{Opaque: fmt.Sprintf("the manifest is larger than %d bytes", maxManifest)}, nil
	}
	switch media := kind(manifest); {
	case media == types.DockerManifestSchema1 || media == types.DockerManifestSchema1Signed:
		return metadata{Opaque: "the manifest has the format of 2014 (schema 1); push the image again"}, nil
	case media.IsIndex():
		return readIndex(manifest), nil
	}
	return t.readImage(ctx, login, manifest)
}

// kind says what a manifest is, by its own words or else by what it holds. The
// header of the answer is not asked: it does not stand under the digest, and
// registries and proxies add to it or replace it.
func kind(manifest []byte) types.MediaType {
	var head struct {
		SchemaVersion int             `json:"schemaVersion"`
		MediaType     types.MediaType `json:"mediaType"`
		Manifests     json.RawMessage `json:"manifests"`
	}
	err := json.Unmarshal(manifest, &head)
	switch {
	case err != nil:
		return types.OCIManifestSchema1
	case head.MediaType != "":
		return head.MediaType
	case head.SchemaVersion == 1:
		return types.DockerManifestSchema1
	case head.Manifests != nil:
		return types.OCIImageIndex
	}
	return types.OCIManifestSchema1
}

// readIndex reads an image index or manifest list.
func readIndex(manifest []byte) metadata {
	index, err := v1.ParseIndexManifest(bytes.NewReader(manifest))
	if err != nil {
		return metadata{Opaque: "the index is not understood"}
	}
	found := fromAnnotations(index.Annotations)
	for _, d := range index.Manifests {
		platform := platformText(d.Platform)
		if platform == "" || d.MediaType.IsIndex() {
			continue
		}
		if len(found.Children) == maxChildren {
			return metadata{Opaque: fmt.Sprintf("the index names more than %d images", maxChildren)}
		}
		found.Children = append(found.Children, child{Digest: d.Digest.String(), Platform: platform})
	}
	return found
}

// readImage reads the manifest of one image, chart or artifact, and its config
// where that is known to tell something.
func (t *access) readImage(ctx context.Context, login *login, manifest []byte) (metadata, error) {
	parsed, ok := parseManifest(manifest)
	if !ok {
		return metadata{Opaque: "the manifest is not understood"}, nil
	}
	found := fromAnnotations(parsed.Annotations)
	var reader func([]byte) metadata
	switch parsed.Config.MediaType {
	case types.OCIConfigJSON, types.DockerConfigJSON:
		reader = readConfig
	case helmConfig:
		reader = readChart
	default:
		return found, nil
	}
	if parsed.Config.Size > maxConfig {
		return found, nil
	}
	config, err := t.blob(ctx, login, parsed.Config)
	if err != nil {
		return metadata{}, err
	}
	return found.fillFrom(reader(config)), nil
}

func parseManifest(manifest []byte) (*v1.Manifest, bool) {
	parsed, err := v1.ParseManifest(bytes.NewReader(manifest))
	return parsed, err == nil
}

// blob reads a config; the library compares its digest.
func (t *access) blob(ctx context.Context, login *login, d v1.Descriptor) ([]byte, error) {
	layer, err := login.puller.Layer(ctx, t.session.repository.Digest(d.Digest.String()))
	if err != nil {
		return nil, err
	}
	from, err := layer.Compressed()
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	return outbound.ReadAll(from, maxConfig)
}

// readConfig reads an image's config: its created time comes before its labels.
func readConfig(data []byte) metadata {
	config, err := v1.ParseConfigFile(bytes.NewReader(data))
	if err != nil {
		return metadata{}
	}
	found := metadata{Created: validTime(config.Created.Time), Platform: platformText(config.Platform())}
	return found.fillFrom(fromAnnotations(config.Config.Labels))
}

// readChart reads a chart's config.
func readChart(data []byte) metadata {
	var chart struct {
		Version     string            `json:"version"`
		Sources     []string          `json:"sources"`
		Annotations map[string]string `json:"annotations"`
	}
	if err := json.Unmarshal(data, &chart); err != nil {
		return metadata{}
	}
	found := metadata{Version: clean(chart.Version)}
	if len(chart.Sources) > 0 && strings.HasPrefix(chart.Sources[0], "https://") {
		found.Source = clean(chart.Sources[0])
	}
	return found.fillFrom(fromAnnotations(chart.Annotations))
}

// describe is fact with the dates of the image that counts, where the digest is
// an index.
func (t *access) describe(ctx context.Context, digest string, wanted []string) (metadata, error) {
	found, err := t.metadata(ctx, digest)
	if err != nil {
		return metadata{}, err
	}
	chosen, ok := choose(found.Children, wanted)
	if !ok {
		return found, nil
	}
	one, err := t.metadata(ctx, chosen.Digest)
	if fault.KindOf(t.explain("image", err)) == fault.NotFound {
		return metadata{}, fault.New(fault.NotFound, "the image of %s in index %s of %s is not in the registry", chosen.Platform, digest, t.repository)
	}
	if err != nil {
		return metadata{}, err
	}
	return found.withImage(one), nil
}

// withImage puts the facts of the chosen image into those of its index. Its own date
// comes first, all else the index knows better.
func (f metadata) withImage(one metadata) metadata {
	all := f.fillFrom(one)
	all.Created = one.fillFrom(f).Created
	all.Platform = ""
	return all
}
