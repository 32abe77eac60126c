package shapes

import (
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/updater/node"
)

// Some files and objects only configure other tools that select or move versions. What they have of an image is a constraint, or a
// record, and nothing of it is deployed. Only markers in them count.

// foreignKinds are the API groups of such objects, by kind.
var foreignKinds = map[string]string{
	"ImageUpdater":          "argocd-image-updater.argoproj.io",
	"ImagePolicy":           "image.toolkit.fluxcd.io",
	"ImageRepository":       "image.toolkit.fluxcd.io",
	"ImageUpdateAutomation": "image.toolkit.fluxcd.io",
	"Warehouse":             kargoGroup,
	"Freight":               kargoGroup,
	"Stage":                 kargoGroup,
	"Promotion":             kargoGroup,
	"PromotionTask":         kargoGroup,
	"ClusterPromotionTask":  kargoGroup,
}

const kargoGroup = "kargo.akuity.io"

// ForeignGroups returns the API groups of such objects.
func ForeignGroups() []string { return slices.Compact(slices.Sorted(maps.Values(foreignKinds))) }

// plainKinds are those that are recognized without an API version, as in parts of manifests.
var plainKinds = []string{"ImageUpdater", "Warehouse"}

// configuresTools reports whether a mapping is such an object.
func configuresTools(m *yaml.Node) bool {
	kind := node.Get(m, "kind")
	if !node.IsText(kind) {
		return false
	}
	group, found := foreignKinds[kind.Value]
	version := node.Text(m, "apiVersion")
	return found && (strings.HasPrefix(version, group+"/") || version == "" && slices.Contains(plainKinds, kind.Value))
}

// foreignFiles are the names of such files.
var foreignFiles = []string{
	"renovate.json", "renovate.json5", ".renovaterc", ".renovaterc.json", ".renovaterc.json5", "dependabot.yml", "dependabot.yaml",
}

// IsForeignFile reports whether a file only configures such a tool.
func IsForeignFile(file string) bool { return slices.Contains(foreignFiles, path.Base(file)) }

// onlyMarkers returns the document without shapes: only markers are found.
func (d *document) onlyMarkers() *document {
	marked := *d
	marked.shapes = newShapeSet(nil)
	return &marked
}
