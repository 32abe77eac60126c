package shapes

import (
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// addGroup adds the site of a mapping whose tag and digest have separate keys.
// Either may be nil. The given keys must not be duplicated in the mapping.
func addGroup(d *document, out *sink, m *yaml.Node, s site.Site, tag, digest *yaml.Node, keys ...string) {
	if setGroup(d, out, m, &s, tag, digest, keys...) {
		out.add(s, d.key())
	}
}

// setGroup sets the parts of the site of such a mapping. It returns false where the site is refused.
func setGroup(d *document, out *sink, m *yaml.Node, s *site.Site, tag, digest *yaml.Node, keys ...string) bool {
	out.claim(tag, digest)
	out.inspected(d, m, s.Followed.Component)
	for _, key := range keys {
		if twice := node.Duplicate(m, key); twice != nil {
			out.refuse(d.scalar(twice), s.Followed.Component, "the key %s occurs twice, and parsers differ in which one applies", key)
			return false
		}
	}
	if node.IsScalar(tag) {
		s.Tag = &site.Part{Scalar: d.scalar(tag), Format: site.FormatTag}
	}
	if node.IsScalar(digest) {
		s.Digest = site.DigestPart(d.scalar(digest), d.keysOf(m).byValue[digest])
	}
	for _, p := range s.Parts() {
		if problem := p.Problem(); problem != "" {
			out.refuse(p.Scalar, s.Followed.Component, "%s", problem)
			return false
		}
	}
	return true
}

// addChart adds the site of a chart's version. If no version is set, the
// deployment tool selects the newest chart and there is nothing to write.
func addChart(d *document, out *sink, shape edit.Shape, version *yaml.Node, followed site.Followed) {
	if !node.IsText(version) {
		return
	}
	out.claim(version)
	scalar := d.scalar(version)
	chart, fits := out.of(scalar, followed, image.ArtifactChart, "")
	if !fits {
		return
	}
	switch value := scalar.Value(); {
	case lex.IsVariable(value):
		out.refuse(scalar, chart.Component, variableVersion, lex.Shorten(value))
	case !exactVersion.MatchString(value):
		out.refuse(scalar, chart.Component,
			"the range %s selects a version by itself; set an exact version, which promotions can change", lex.Shorten(value))
	default:
		out.add(site.Site{
			Shape: shape, Followed: followed, Kind: image.ArtifactChart, Tag: &site.Part{Scalar: scalar, Format: site.FormatChart},
		}, d.key())
	}
}

// variableVersion is why a version is refused that is not in the file.
const variableVersion = "the version is a variable (%s); change it where the variable is set"

// exactVersion matches a SemVer 2 version with all three numbers. Helm, Flux
// and Argo CD treat anything else as a range, including 1.2.
var exactVersion = regexp.MustCompile(`^v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$`)

// addArtifact adds the site of a scalar that is a tag, a digest, or both, but
// not a range.
func addArtifact(d *document, out *sink, shape edit.Shape, m, revision *yaml.Node, followed site.Followed, key string) {
	if !node.IsText(revision) {
		return
	}
	if _, fits := out.of(d.scalar(revision), followed, image.ArtifactOther, ""); !fits {
		out.claim(revision)
		return
	}
	s := site.Site{Shape: shape, Followed: followed, Kind: image.ArtifactOther}
	value := d.scalar(revision).Value()
	tag, digest, both := strings.Cut(value, "@")
	switch {
	case image.ValidDigest(value):
		addGroup(d, out, m, s, nil, revision, key)
	case both && image.ValidTag(tag) && image.ValidDigest(digest), image.ValidTag(value) && !strings.HasSuffix(value, ".x"):
		addGroup(d, out, m, s, revision, nil, key)
	default:
		addChart(d, out, shape, revision, followed)
	}
}

// ociScheme is the prefix of charts and artifacts in registries, as used in
// Helm, Flux and Argo CD objects.
const ociScheme = "oci://"

// ociRepository returns the repository name for an oci:// URL and a path below
// it, which may be empty. Other URLs do not refer to a registry.
func ociRepository(url, below string) (string, bool) {
	name, found := strings.CutPrefix(url, ociScheme)
	if !found {
		return "", false
	}
	return chartName(name, below), true
}

func chartName(name, below string) string {
	name, below = strings.Trim(name, "/"), strings.Trim(below, "/")
	if below == "" {
		return name
	}
	return name + "/" + below
}
