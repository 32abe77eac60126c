package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/outbound"
)

// metadata is what a digest says about itself. It never changes, because the digest is
// the hash of the manifest that says it.
type metadata struct {
	Created  time.Time `json:"created,omitzero"` // as the publisher says, also 1970
	Revision string    `json:"revision,omitempty"`
	Source   string    `json:"source,omitempty"`
	Version  string    `json:"version,omitempty"`
	URL      string    `json:"url,omitempty"`
	Platform string    `json:"platform,omitempty"` // of one image: os/arch[/variant]
	Size     int64     `json:"size,omitempty"`     // of the layers of one image, as they are transferred
	// Children are the images of an index.
	Children []child `json:"children,omitempty"`
	// Kind is what it is, as its media types say. Empty: they do not, or it was not read.
	Kind image.Artifact `json:"kind,omitempty"`
	// Opaque is why the manifest says nothing, for example its format.
	Opaque string `json:"opaque,omitempty"`
}

// child is one image of an index.
type child struct {
	Digest   string `json:"digest"`
	Platform string `json:"platform"` // empty: the index does not say
}

// Bounds of what a publisher may say, because much metadata is cached. The images of
// most languages are for fewer than twenty platforms. The distribution specification
// requires registries to accept manifests of 4 MiB.
const (
	maxText     = 512
	maxPlatform = 64
	maxChildren = 100
	maxManifest = 4 << 20
	maxConfig   = 4 << 20
	maxSize     = 1 << 50
)

// helmConfig is the media type of a Helm chart's config, which is its Chart.yaml as
// JSON. https://helm.sh/docs/topics/registries/
const helmConfig types.MediaType = "application/vnd.cncf.helm.config.v1+json"

// oldConfig is the media type of an image's config as Docker 1.10 pushed it, before it got
// its own. https://github.com/moby/moby/blob/v24.0.0/distribution/pull_v2.go
const oldConfig types.MediaType = "application/octet-stream"

// attestationAnnotation marks a manifest in an index that is not an image, such as a
// provenance attestation.
// https://docs.docker.com/build/metadata/attestations/attestation-storage/
const attestationAnnotation = "vnd.docker.reference.type"

// describe returns the metadata of a digest; of an index with the date of the image
// that counts, see datedChild.
func (a *access) describe(ctx context.Context, digest string, platforms []string) (metadata, error) {
	found, err := a.metadata(ctx, digest)
	if err != nil {
		return metadata{}, err
	}
	dated, ok := datedChild(found.Children, platforms)
	if !ok {
		return found, nil
	}
	one, err := a.metadata(ctx, dated.Digest)
	if fault.KindOf(a.explain("image", err)) == fault.NotFound {
		return metadata{}, fault.New(fault.NotFound,
			"the image of %s in index %s of %s is not in the registry", dated.Platform, digest, a.repository)
	}
	if err != nil {
		return metadata{}, err
	}
	return found.withImage(one), nil
}

// description is describe from the cache alone.
func (e *cacheEntry) description(digest string, platforms []string) (metadata, bool) {
	found, ok := e.metadata(digest)
	if !ok {
		return metadata{}, false
	}
	dated, ok := datedChild(found.Children, platforms)
	if !ok {
		return found, true
	}
	one, ok := e.metadata(dated.Digest)
	return found.withImage(one), ok
}

// metadata returns the metadata of one manifest, which is requested only once ever.
func (a *access) metadata(ctx context.Context, digest string) (metadata, error) {
	if known, ok := a.cache.metadata(digest); ok {
		return known, nil
	}
	a.cache.observe(false)
	connection, err := a.session.open(ctx)
	if err != nil {
		return metadata{}, err
	}
	got, err := connection.puller.Get(ctx, a.session.repository.Digest(digest))
	if err != nil {
		return metadata{}, err
	}
	found, err := a.readManifest(ctx, connection, got.Manifest)
	if err != nil {
		return metadata{}, err
	}
	a.cache.addMetadata(digest, found)
	return found, nil
}

// readManifest reads a manifest whose digest was verified.
func (a *access) readManifest(ctx context.Context, connection *connection, manifest []byte) (metadata, error) {
	if len(manifest) > maxManifest {
		return metadata{Opaque: fmt.Sprintf("the manifest is larger than %d bytes", maxManifest)}, nil
	}
	switch media := mediaType(manifest); {
	case media == types.DockerManifestSchema1 || media == types.DockerManifestSchema1Signed:
		return metadata{Opaque: "the manifest has the format of 2014 (schema 1); push the image again"}, nil
	case media.IsIndex():
		return readIndex(manifest), nil
	}
	parsed, err := v1.ParseManifest(bytes.NewReader(manifest))
	if err != nil {
		return metadata{Opaque: "the manifest is not valid"}, nil //nolint:nilerr // the metadata has the error
	}
	found := fromAnnotations(parsed.Annotations)
	found.Size = layersSize(parsed.Layers)
	found.Kind = kindOf(parsed.Config.MediaType)
	var reader func([]byte) metadata
	switch found.Kind {
	case image.ArtifactImage, "":
		reader = readConfig
	case image.ArtifactChart:
		reader = readChart
	}
	if reader == nil || parsed.Config.Size > maxConfig {
		return found, nil
	}
	config, err := a.blob(ctx, connection, parsed.Config, maxConfig)
	if err != nil {
		return metadata{}, err
	}
	return found.fillFrom(reader(config)), nil
}

// kindOf returns what a manifest with a config of a media type is. Empty: any kind of artifact
// has such a config.
func kindOf(config types.MediaType) image.Artifact {
	switch config {
	case types.OCIConfigJSON, types.DockerConfigJSON:
		return image.ArtifactImage
	case helmConfig:
		return image.ArtifactChart
	case oldConfig, "":
		return ""
	default:
		return image.ArtifactOther
	}
}

// kind returns only the kind of a digest, without its config. Of an index, all are images.
func (a *access) kind(ctx context.Context, digest string) (metadata, error) {
	if known, ok := a.cache.metadata(digest); ok {
		return known, nil
	}
	connection, err := a.session.open(ctx)
	if err != nil {
		return metadata{}, err
	}
	got, err := connection.puller.Get(ctx, a.session.repository.Digest(digest))
	if err != nil {
		return metadata{}, err
	}
	if mediaType(got.Manifest).IsIndex() {
		return metadata{Kind: image.ArtifactImage}, nil
	}
	parsed, err := v1.ParseManifest(bytes.NewReader(got.Manifest))
	if err != nil {
		return metadata{}, nil //nolint:nilerr // such a manifest has no kind
	}
	return metadata{Kind: kindOf(parsed.Config.MediaType)}, nil
}

// layersSize returns the sum of the sizes of layers; 0 if one of them cannot be right.
func layersSize(layers []v1.Descriptor) (total int64) {
	for _, layer := range layers {
		if layer.Size < 0 || layer.Size > maxSize || total > maxSize {
			return 0
		}
		total += layer.Size
	}
	return total
}

// mediaType returns what a manifest says it is, or else what it looks like. The header
// of the response is ignored: the digest does not cover it, and registries and proxies
// change it.
func mediaType(manifest []byte) types.MediaType {
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
		return metadata{Opaque: "the index is not valid"}
	}
	found := fromAnnotations(index.Annotations)
	found.Kind = image.ArtifactImage
	unnamed := "" // the first image without a platform, which the index need not name
	for _, d := range index.Manifests {
		platform := platformText(d.Platform)
		if d.MediaType.IsIndex() {
			continue
		}
		if platform == "" {
			if unnamed == "" && !isAttestation(d) {
				unnamed = d.Digest.String()
			}
			continue
		}
		if len(found.Children) == maxChildren {
			return metadata{Opaque: fmt.Sprintf("the index names more than %d images", maxChildren)}
		}
		found.Children = append(found.Children, child{Digest: d.Digest.String(), Platform: platform})
	}
	if len(found.Children) == 0 && unnamed != "" {
		found.Children = []child{{Digest: unnamed}}
	}
	return found
}

// isAttestation reports whether a manifest of an index describes another one there.
func isAttestation(d v1.Descriptor) bool {
	return d.Annotations[attestationAnnotation] != "" || d.ArtifactType != "" || d.Platform != nil && d.Platform.OS == "unknown"
}

// blob reads a config or a layer of at most limit bytes; the library verifies its digest.
func (a *access) blob(ctx context.Context, connection *connection, d v1.Descriptor, limit int64) ([]byte, error) {
	layer, err := connection.puller.Layer(ctx, a.session.repository.Digest(d.Digest.String()))
	if err != nil {
		return nil, err
	}
	from, err := layer.Compressed()
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	return outbound.ReadAll(from, limit)
}

// readConfig reads an image's config. Its created time has priority over its labels. A field
// that is not as specified, such as an empty time in the history, makes no other unknown.
func readConfig(data []byte) metadata {
	var config struct {
		Created      any    `json:"created"`
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
		Variant      string `json:"variant"`
		Config       struct {
			Labels map[string]string
		} `json:"config"`
	}
	var unexpected *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &config); err != nil && !errors.As(err, &unexpected) {
		return metadata{}
	}
	created, _ := config.Created.(string)
	found := metadata{
		Created:  parseTime(created),
		Platform: platformText(&v1.Platform{OS: config.OS, Architecture: config.Architecture, Variant: config.Variant}),
	}
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

// fromAnnotations reads annotations, which are also used as labels, or else the labels that
// these replaced.
// https://github.com/opencontainers/image-spec/blob/v1.1.0/annotations.md
// http://label-schema.org/rc1/
func fromAnnotations(from map[string]string) metadata {
	text := func(key, old string) string {
		if value := clean(from["org.opencontainers.image."+key]); value != "" {
			return value
		}
		return clean(from["org.label-schema."+old])
	}
	found := metadata{
		Created: parseTime(from["org.opencontainers.image.created"]), Revision: text("revision", "vcs-ref"),
		Source: text("source", "vcs-url"), Version: text("version", "version"), URL: text("url", "url"),
	}
	if found.Created.IsZero() {
		found.Created = parseTime(from["org.label-schema.build-date"])
	}
	return found
}

// parseTime parses a time; zero for what is none, or what RFC 3339 cannot represent in UTC.
func parseTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if t = t.UTC(); err != nil || t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// clean drops a text that is too long or not printable: the author of the image wrote
// it, and users see it.
func clean(s string) string {
	if len(s) > maxText || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return s
}

// valid checks metadata from the cache folder.
func (m metadata) valid() bool {
	texts := []string{m.Revision, m.Source, m.Version, m.URL, m.Platform, m.Opaque, string(m.Kind)}
	for _, c := range m.Children {
		texts = append(texts, c.Platform)
		if !image.ValidDigest(c.Digest) || len(c.Platform) > maxPlatform {
			return false
		}
	}
	return len(m.Children) <= maxChildren && m.Size >= 0 && !slices.ContainsFunc(texts, func(s string) bool { return s != clean(s) })
}

// size is about what the metadata takes in memory, in bytes.
func (m metadata) size() int {
	const itself, eachChild = 256, 128 // without their texts
	total := itself + len(m.Revision) + len(m.Source) + len(m.Version) + len(m.URL) + len(m.Platform) + len(m.Opaque)
	for _, c := range m.Children {
		total += eachChild + len(c.Platform)
	}
	return total
}

// fillFrom fills what m does not say from other. A created time that is a fixed stamp
// is kept only if there is no better one.
func (m metadata) fillFrom(other metadata) metadata {
	if !image.KnownCreated(m.Created) && (image.KnownCreated(other.Created) || m.Created.IsZero()) {
		m.Created = other.Created
	}
	m.Revision = cmp.Or(m.Revision, other.Revision)
	m.Source = cmp.Or(m.Source, other.Source)
	m.Version = cmp.Or(m.Version, other.Version)
	m.URL = cmp.Or(m.URL, other.URL)
	m.Platform = cmp.Or(m.Platform, other.Platform)
	return m
}

// withImage adds the metadata of one image to that of its index. The image's date has
// priority, and the index's values for everything else.
func (m metadata) withImage(one metadata) metadata {
	all := m.fillFrom(one)
	all.Created = one.fillFrom(m).Created
	all.Platform, all.Size = one.Platform, one.Size
	return all
}

func (m metadata) version(digest string) image.Version {
	return image.Version{
		Digest: digest, Version: m.Version, Created: m.Created,
		Revision: m.Revision, Source: m.Source, Platforms: m.platforms(),
	}
}

// description returns what users read about the digest.
func (m metadata) description() image.Description {
	return image.Description{
		Created: m.Created, Revision: m.Revision, Source: m.Source, Version: m.Version, URL: m.URL,
		Platforms: m.platforms(), Platform: m.Platform, Size: m.Size,
	}
}

// platforms lists what the digest runs on; nothing if it does not say. An index says it of
// all its images, and not only of the one that describe read.
func (m metadata) platforms() []string {
	var all []string
	for _, c := range m.Children {
		if c.Platform != "" {
			all = append(all, c.Platform)
		}
	}
	if m.Platform != "" && len(all) == 0 {
		all = append(all, m.Platform)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// defaultPlatform is the image of an index whose date counts if no platform is required.
const defaultPlatform = "linux/amd64"

// datedChild selects the image of an index whose date counts: the first required
// platform, else the default one, else the first image.
func datedChild(children []child, platforms []string) (child, bool) {
	for _, platform := range append(slices.Clone(platforms[:min(len(platforms), 1)]), defaultPlatform) {
		for _, c := range children {
			if c.Platform != "" && runsOn(platform, c.Platform) {
				return c, true
			}
		}
	}
	if len(children) == 0 {
		return child{}, false
	}
	return children[0], true
}

// platformText is os/arch, with the variant if it is not the default; "" for what is
// not a platform, like the attestations in an index.
func platformText(p *v1.Platform) string {
	if p == nil || p.OS == "" || p.Architecture == "" || p.OS == "unknown" || p.Architecture == "unknown" {
		return ""
	}
	text := p.OS + "/" + p.Architecture
	if v := variant(p.Architecture, p.Variant); v != "" {
		text += "/" + v
	}
	if len(text) > maxPlatform {
		return ""
	}
	return clean(text)
}

// variant drops the default variant of an architecture: arm64 is v8.
func variant(architecture, variant string) string {
	if architecture == "arm64" && (variant == "v8" || variant == "8") {
		return ""
	}
	return variant
}

// runsOn reports whether an image for the platform available satisfies a required
// os/arch[/variant]. A required platform without a variant accepts any.
func runsOn(required, available string) bool {
	required = strings.TrimSuffix(required, "/")
	if os, rest, ok := strings.Cut(required, "/"); ok {
		architecture, v, _ := strings.Cut(rest, "/")
		required = os + "/" + architecture
		if v = variant(architecture, v); v != "" {
			required += "/" + v
		}
	}
	return available == required || strings.HasPrefix(available, required+"/")
}
