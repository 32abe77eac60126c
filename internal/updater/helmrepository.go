package updater

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
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

// findHelmRepository declares the URL of a HelmRepository for releases in other
// files.
func findHelmRepository(f *finder, m *yaml.Node) {
	if isObject(m, fluxSourceGroup, kindHelmRepository) {
		f.declareSource(m, kindHelmRepository)
	}
}

// declareSource declares the URL of a source. Its namespace may be set
// elsewhere, for example by kustomize, and is then empty. A second declaration
// with anyNamespace serves references whose namespace is also unknown.
func (f *finder) declareSource(m *yaml.Node, kind string) {
	name, namespace := lookupText(m, "metadata", "name"), lookupText(m, "metadata", "namespace")
	url := lookupText(m, "spec", "url")
	if name == "" || url == "" {
		return
	}
	f.declare(sourceKey{kind, namespace, name}, url)
	f.declare(sourceKey{kind, anyNamespace, name}, url)
}

// sourceOf returns the URL of the source that an object refers to. If the
// reference has no namespace, the object's own namespace applies.
func (f *finder) sourceOf(reference *yaml.Node, namespace string) (url string, found bool) {
	kind, name := lookupText(reference, "kind"), lookupText(reference, "name")
	if own := lookupText(reference, "namespace"); own != "" {
		namespace = own
	}
	if namespace == "" {
		return f.source(sourceKey{kind, anyNamespace, name})
	}
	if url, found = f.source(sourceKey{kind, namespace, name}); found {
		return url, true
	}
	return f.source(sourceKey{kind, "", name})
}
