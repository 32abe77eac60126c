package updater

import (
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// ociScheme is the prefix of charts and artifacts in registries, as used in
// Helm, Flux and Argo CD objects.
const ociScheme = "oci://"

// exactVersion matches a SemVer 2 version with all three numbers. Helm, Flux
// and Argo CD treat anything else as a range, including 1.2.
var exactVersion = regexp.MustCompile(`^v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$`)

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

// addChart adds the site of a chart's version. If no version is set, the
// deployment tool selects the newest chart and there is nothing to write.
func (f *finder) addChart(shape edit.Shape, version *yaml.Node, followed Followed) {
	if !isText(version) {
		return
	}
	f.claim(version)
	switch value := f.scalar(version).value(); {
	case isVariable(value):
		f.refuse(version, followed.Component, "the version is a variable (%s); change it where the variable is set", shorten(value))
	case !exactVersion.MatchString(value):
		f.refuse(version, followed.Component,
			"the range %s chooses a version by itself; write an exact version, which promotions can change", shorten(value))
	default:
		f.add(site{shape: shape, followed: followed, tag: &part{scalar: f.scalar(version), spells: spellsChart}})
	}
}

// addArtifact adds the site of a scalar that is a tag, a digest, or both, but
// not a range.
func (f *finder) addArtifact(shape edit.Shape, m, revision *yaml.Node, followed Followed, key string) {
	if !isText(revision) {
		return
	}
	value := f.scalar(revision).value()
	tag, digest, both := strings.Cut(value, "@")
	switch {
	case image.ValidDigest(value):
		f.addGroup(m, site{shape: shape, followed: followed}, nil, revision, key)
	case both && image.ValidTag(tag) && image.ValidDigest(digest), image.ValidTag(value) && !strings.HasSuffix(value, ".x"):
		f.addGroup(m, site{shape: shape, followed: followed}, revision, nil, key)
	default:
		f.addChart(shape, revision, followed)
	}
}

// isObject reports whether the mapping is a Kubernetes object of the kind, in
// any version of the group.
func isObject(m *yaml.Node, group, kind string) bool {
	return lookupText(m, "kind") == kind && strings.HasPrefix(lookupText(m, "apiVersion"), group+"/")
}
