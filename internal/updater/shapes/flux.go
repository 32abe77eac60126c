package shapes

import (
	"iter"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// shapeHelmRepository is Flux's HelmRepository. It contains no version;
// releases in other files need its URL.
const shapeHelmRepository edit.Shape = "helm-repository"

// Group and kinds of Flux sources.
const (
	fluxSourceGroup    = "source.toolkit.fluxcd.io"
	kindHelmRepository = "HelmRepository"
	kindOCIRepository  = "OCIRepository"
	kindHelmChart      = "HelmChart"
)

// anyNamespace matches all namespaces in the key of a source.
const anyNamespace = "*"

// isObject reports whether the mapping is a Kubernetes object of the kind, in
// any version of the group. Patches and fragments may leave out the version.
func isObject(m *yaml.Node, group, kind string) bool {
	if node.Text(m, "kind") != kind {
		return false
	}
	version := node.Text(m, "apiVersion")
	return version == "" || strings.HasPrefix(version, group+"/")
}

// findHelmRepository declares the URL of a HelmRepository for releases in other
// files. Its namespace may be set elsewhere, for example by kustomize, and is
// then empty. A second declaration with anyNamespace serves references whose
// namespace is also unknown.
func findHelmRepository(_ *document, out *sink, m *yaml.Node) {
	if !isObject(m, fluxSourceGroup, kindHelmRepository) {
		return
	}
	name, namespace := node.Text(m, "metadata", "name"), node.Text(m, "metadata", "namespace")
	url := node.Text(m, "spec", "url")
	if name == "" || url == "" {
		return
	}
	for _, namespace := range []string{namespace, anyNamespace} {
		out.found.Declared = append(out.found.Declared, Declaration{kindHelmRepository, namespace, name, url})
	}
}

// sourceURL returns the URL of the source that an object refers to. If the
// reference has no namespace, the object's own namespace applies.
func (d *document) sourceURL(reference *yaml.Node, namespace string) (url string, found bool) {
	kind, name := node.Text(reference, "kind"), node.Text(reference, "name")
	if own := node.Text(reference, "namespace"); own != "" {
		namespace = own
	}
	if namespace == "" {
		return d.sources.url(d.file, sourceKey{kind, anyNamespace, name})
	}
	if url, found = d.sources.url(d.file, sourceKey{kind, namespace, name}); found {
		return url, true
	}
	return d.sources.url(d.file, sourceKey{kind, "", name})
}

// shapeHelmRelease is the chart version in Flux's HelmRelease and HelmChart.
const shapeHelmRelease edit.Shape = "helm-release"

// findHelmRelease inspects the chart of a release. The source, usually in
// another file, defines its repository. A release with chartRef has its version
// in the OCIRepository that it refers to.
func findHelmRelease(d *document, out *sink, m *yaml.Node) {
	var chart *yaml.Node
	switch {
	case isObject(m, "helm.toolkit.fluxcd.io", "HelmRelease"):
		chart = node.At(m, "spec", "chart", "spec")
	case isObject(m, fluxSourceGroup, kindHelmChart):
		chart = node.Get(m, "spec")
	default:
		return
	}
	if followed, found := fluxChart(d, out, m, chart); found {
		addChart(d, out, shapeHelmRelease, node.Get(chart, "version"), followed)
		refuseBareTags(d, out, node.At(m, "spec", "values"), false)
	}
}

// fluxChart returns the component for a chart and its source.
func fluxChart(d *document, out *sink, m, chart *yaml.Node) (site.Followed, bool) {
	name := node.Text(chart, "chart")
	if name == "" {
		return site.Followed{}, false
	}
	out.found.NeedsSources = true
	url, found := d.sourceURL(node.Get(chart, "sourceRef"), node.Text(m, "metadata", "namespace"))
	if !found {
		return site.Followed{}, false
	}
	repository, found := ociRepository(url, name)
	if !found {
		return site.Followed{}, false
	}
	return d.follow(repository)
}

// namesRepository reports whether a group of values has a key that identifies the
// repository of its tag.
func namesRepository(values *yaml.Node) bool {
	return slices.ContainsFunc([]string{"repository", "image", "name", "hub", "registry"}, func(key string) bool {
		return node.Get(values, key) != nil
	})
}

// refuseBareTags refuses tags in the values of a followed chart that have no
// repository next to them. The chart, which is not available here, defines the
// repository, so they may be the tags of a followed image.
func refuseBareTags(d *document, out *sink, values *yaml.Node, ofImage bool) {
	if values == nil {
		return
	}
	if values.Kind == yaml.MappingNode && ofImage && !namesRepository(values) {
		refuseBareTag(d, out, node.Get(values, "tag"))
	}
	for i := 0; i+1 < len(values.Content) && values.Kind == yaml.MappingNode; i += 2 {
		key := strings.ToLower(values.Content[i].Value)
		if key == "imagetag" || key == "image_tag" {
			refuseBareTag(d, out, values.Content[i+1])
		}
		refuseBareTags(d, out, values.Content[i+1], strings.HasSuffix(key, "image"))
	}
}

func refuseBareTag(d *document, out *sink, tag *yaml.Node) {
	if !node.IsText(tag) {
		return
	}
	out.refuse(d.scalar(tag), "", "no repository is set next to the tag %s; name its component with a write entry "+
		"or with the comment \"# promoter: COMPONENT.tag\"", lex.Shorten(tag.Value))
}

// shapeOCIRepository is the ref of Flux's OCIRepository.
const shapeOCIRepository edit.Shape = "oci-repository"

// findOCIRepository inspects spec.url and spec.ref. If ref has several fields,
// Flux uses the digest first, then semver, then the tag. All of them change, so that none
// contradicts the one that applies.
// https://fluxcd.io/flux/components/source/ocirepositories/#reference
func findOCIRepository(d *document, out *sink, m *yaml.Node) {
	if !isObject(m, fluxSourceGroup, kindOCIRepository) {
		return
	}
	name, _ := ociRepository(node.Text(m, "spec", "url"), "")
	followed, found := d.follow(name)
	if !found {
		return
	}
	ref := node.At(m, "spec", "ref")
	tag, digest := node.Get(ref, "tag"), node.Get(ref, "digest")
	if semver := node.Get(ref, "semver"); node.IsText(semver) {
		findSemver(d, out, ref, semver, followed)
		return
	}
	if !node.IsText(tag) && !node.IsText(digest) {
		return
	}
	s := site.Site{Shape: shapeOCIRepository, Followed: followed, Kind: image.ArtifactOther, Editable: &site.Editable{
		Mapping: ref, TagKey: "tag", DigestKey: "digest",
	}}
	addGroup(d, out, ref, s, tag, digest, "tag", "digest")
}

// findSemver inspects a ref with semver. A range selects a version by itself, whatever the tag
// says; a digest selects one whatever semver says.
func findSemver(d *document, out *sink, ref, semver *yaml.Node, followed site.Followed) {
	tag, digest := node.Get(ref, "tag"), node.Get(ref, "digest")
	out.claim(semver, tag, digest)
	if node.IsText(digest) {
		out.refuse(d.scalar(semver), followed.Component, "Flux ignores semver beside the digest; remove one of them")
		return
	}
	refusals := len(out.found.Refusals)
	addChart(d, out, shapeOCIRepository, semver, followed)
	if node.IsText(tag) && len(out.found.Refusals) == refusals {
		s := site.Site{Shape: shapeOCIRepository, Followed: followed, Kind: image.ArtifactOther}
		addGroup(d, out, ref, s, tag, nil, "tag", "semver")
	}
}

// sourceKey identifies a cluster object that objects in other files refer to,
// such as a HelmRepository.
type sourceKey struct{ kind, namespace, name string }

// Declaration is a source that a file declares, for references in other files.
type Declaration struct{ Kind, Namespace, Name, URL string }

// sourceURL is the URL of the sources with one name in a folder and its
// subfolders.
type sourceURL struct {
	url       string
	ambiguous bool // they have different URLs
}

// Sources is the set of sources declared in all files of a branch, by their folder; each
// entry includes the subfolders. A file that needs a source is scanned again when all are
// known.
type Sources map[sourceKey]map[string]sourceURL

// Declare records a declaration of the file.
func (s Sources) Declare(file string, declared Declaration) {
	key, url := sourceKey{declared.Kind, declared.Namespace, declared.Name}, declared.URL
	folders := s[key]
	if folders == nil {
		folders = map[string]sourceURL{}
		s[key] = folders
	}
	for folder := range foldersOf(file) {
		known, found := folders[folder]
		switch {
		case !found:
			folders[folder] = sourceURL{url: url}
		case known.url != url:
			folders[folder] = sourceURL{url: known.url, ambiguous: true}
		}
	}
}

// url returns the URL of a source for a file that refers to it. If several files
// declare different URLs, the nearest one applies; if equally near ones differ,
// the URL is unknown.
func (s Sources) url(file string, key sourceKey) (url string, found bool) {
	folders := s[key]
	for folder := range foldersOf(file) {
		if nearest, found := folders[folder]; found {
			return nearest.url, !nearest.ambiguous
		}
	}
	return "", false
}

// foldersOf yields the folders of a path, from its own to the root, which is
// "".
func foldersOf(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			at := strings.LastIndexByte(file, '/')
			if at < 0 {
				yield("")
				return
			}
			file = file[:at]
			if !yield(file) {
				return
			}
		}
	}
}
