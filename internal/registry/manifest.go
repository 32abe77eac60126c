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

// fact returns what a digest says about itself, asked once ever.
func (t *target) fact(ctx context.Context, digest string) (fact, error) {
	if known, ok := t.memory.fact(digest); ok {
		return known, nil
	}
	t.memory.told(false)
	login, err := t.session.open(ctx)
	if err != nil {
		return fact{}, err
	}
	got, err := login.puller.Get(ctx, t.session.repository.Digest(digest))
	if err != nil {
		return fact{}, err
	}
	found, err := t.read(ctx, login, got.Manifest)
	if err != nil {
		return fact{}, err
	}
	t.memory.learn(digest, found)
	return found, nil
}

// read reads a manifest whose digest was checked.
func (t *target) read(ctx context.Context, login *login, manifest []byte) (fact, error) {
	if len(manifest) > maxManifest {
		return fact{Opaque: fmt.Sprintf("the manifest is larger than %d bytes", maxManifest)}, nil
	}
	switch media := kind(manifest); {
	case media == types.DockerManifestSchema1 || media == types.DockerManifestSchema1Signed:
		return fact{Opaque: "the manifest has the format of 2014 (schema 1); push the image again"}, nil
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
func readIndex(manifest []byte) fact {
	index, err := v1.ParseIndexManifest(bytes.NewReader(manifest))
	if err != nil {
		return fact{Opaque: "the index is not understood"}
	}
	found := annotated(index.Annotations)
	for _, d := range index.Manifests {
		platform := platformText(d.Platform)
		if platform == "" || d.MediaType.IsIndex() {
			continue
		}
		if len(found.Children) == maxChildren {
			return fact{Opaque: fmt.Sprintf("the index names more than %d images", maxChildren)}
		}
		found.Children = append(found.Children, child{Digest: d.Digest.String(), Platform: platform})
	}
	return found
}

// readImage reads the manifest of one image, chart or artifact, and its config
// where that is known to tell something.
func (t *target) readImage(ctx context.Context, login *login, manifest []byte) (fact, error) {
	parsed, ok := parseManifest(manifest)
	if !ok {
		return fact{Opaque: "the manifest is not understood"}, nil
	}
	found := annotated(parsed.Annotations)
	var reader func([]byte) fact
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
		return fact{}, err
	}
	return found.or(reader(config)), nil
}

func parseManifest(manifest []byte) (*v1.Manifest, bool) {
	parsed, err := v1.ParseManifest(bytes.NewReader(manifest))
	return parsed, err == nil
}

// blob reads a config; the library compares its digest.
func (t *target) blob(ctx context.Context, login *login, d v1.Descriptor) ([]byte, error) {
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
func readConfig(data []byte) fact {
	config, err := v1.ParseConfigFile(bytes.NewReader(data))
	if err != nil {
		return fact{}
	}
	found := fact{Created: moment(config.Created.Time), Platform: platformText(config.Platform())}
	return found.or(annotated(config.Config.Labels))
}

// readChart reads a chart's config.
func readChart(data []byte) fact {
	var chart struct {
		Version     string            `json:"version"`
		Sources     []string          `json:"sources"`
		Annotations map[string]string `json:"annotations"`
	}
	if err := json.Unmarshal(data, &chart); err != nil {
		return fact{}
	}
	found := fact{Version: clean(chart.Version)}
	if len(chart.Sources) > 0 && strings.HasPrefix(chart.Sources[0], "https://") {
		found.Source = clean(chart.Sources[0])
	}
	return found.or(annotated(chart.Annotations))
}

// describe is fact with the dates of the image that counts, where the digest is
// an index.
func (t *target) describe(ctx context.Context, digest string, wanted []string) (fact, error) {
	found, err := t.fact(ctx, digest)
	if err != nil {
		return fact{}, err
	}
	chosen, ok := choose(found.Children, wanted)
	if !ok {
		return found, nil
	}
	one, err := t.fact(ctx, chosen.Digest)
	if fault.KindOf(t.explain("image", err)) == fault.NotFound {
		return fact{}, fault.New(fault.NotFound, "the image of %s in index %s of %s is not in the registry", chosen.Platform, digest, t.repository)
	}
	if err != nil {
		return fact{}, err
	}
	return found.of(one), nil
}

// of puts the facts of the chosen image into those of its index. Its own date
// comes first, all else the index knows better.
func (f fact) of(one fact) fact {
	all := f.or(one)
	all.Created = one.or(f).Created
	all.Platform = ""
	return all
}
