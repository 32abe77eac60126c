package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/updater/node"
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
// any version of the group.
func isObject(m *yaml.Node, group, kind string) bool {
	return node.Text(m, "kind") == kind && strings.HasPrefix(node.Text(m, "apiVersion"), group+"/")
}

// findHelmRepository declares the URL of a HelmRepository for releases in other
// files. Its namespace may be set elsewhere, for example by kustomize, and is
// then empty. A second declaration with anyNamespace serves references whose
// namespace is also unknown.
func findHelmRepository(d *document, out *sink, m *yaml.Node) {
	if !isObject(m, fluxSourceGroup, kindHelmRepository) {
		return
	}
	name, namespace := node.Text(m, "metadata", "name"), node.Text(m, "metadata", "namespace")
	url := node.Text(m, "spec", "url")
	if name == "" || url == "" {
		return
	}
	for _, namespace := range []string{namespace, anyNamespace} {
		out.declared = append(out.declared, declaration{kindHelmRepository, namespace, name, url})
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
